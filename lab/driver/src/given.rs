//! Real Ollama servers at addresses that the user gave.

use std::{collections::HashMap, time::Duration};

use lab_family::ModelLoad;
use serde::Serialize;
use serde_json::{Value, json};
use ureq::Agent as Http;

use crate::DriverError;

const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
/// Loading a large model from a slow disk takes a while.
const LOAD_TIMEOUT: Duration = Duration::from_secs(300);

/// The servers and what each has loaded.
#[derive(Debug)]
pub(crate) struct GivenServers {
    pub(crate) addresses: Vec<String>,
    model: String,
    loaded: HashMap<String, Value>,
}

/// What a server says of itself, for the records.
#[derive(Debug, Serialize)]
struct Identity {
    address: String,
    version: String,
    /// Of the manifest behind the model's name; two imports of one file may differ in it.
    model_digest: Option<String>,
}

impl GivenServers {
    pub(crate) fn new(addresses: Vec<String>, model: String) -> Self {
        Self { addresses, model, loaded: HashMap::new() }
    }

    /// Version and model of each server, or why they are not known.
    pub(crate) fn identities(&self) -> Vec<Value> {
        let identity = |address: &String| match check(address, &self.model) {
            Ok(identity) => json!(identity),
            Err(error) => json!({"address": address, "reason": error.to_string()}),
        };
        self.addresses.iter().map(identity).collect()
    }

    /// Sends an untimed request to every server whose runner options differ from those it has
    /// loaded, because the first request with new options reloads the model.
    pub(crate) fn prepare(&mut self, loads: &[ModelLoad]) -> Result<(), String> {
        for wanted in loads {
            if self.loaded.get(&wanted.server) == Some(&wanted.options) {
                continue;
            }
            load(&wanted.server, &wanted.model, &wanted.options)?;
            self.loaded.insert(wanted.server.clone(), wanted.options.clone());
        }
        Ok(())
    }
}

/// Checks that every server answers and has the model; returns their versions.
///
/// # Errors
/// One sentence with the address, the problem and what to do.
pub fn check_servers(addresses: &[String], model: &str) -> Result<Vec<String>, DriverError> {
    addresses.iter().map(|address| Ok(check(address, model)?.version)).collect()
}

fn check(address: &str, model: &str) -> Result<Identity, DriverError> {
    let trouble = |what: &str, error: &dyn std::fmt::Display| {
        DriverError::Server(format!(
            "the server {address} {what}: {error}; start it (tools/ollama/up) or correct --servers"
        ))
    };
    let version = get(&format!("{address}/api/version"))
        .map_err(|error| trouble("does not answer as an Ollama server", &error))?;
    let tags = get(&format!("{address}/api/tags"))
        .map_err(|error| trouble("does not list its models", &error))?;
    let models = || {
        let entries = tags["models"].as_array().into_iter().flatten();
        entries.filter_map(|entry| Some((entry["name"].as_str()?, entry)))
    };
    let is_it = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let Some((_, found)) = models().find(|(name, _)| is_it(name)) else {
        let names: Vec<&str> = models().map(|(name, _)| name).collect();
        return Err(DriverError::Server(format!(
            "the server {address} has no model `{model}`, only: {}; correct --model or load it \
             there",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        )));
    };
    Ok(Identity {
        address: address.to_owned(),
        version: version["version"].as_str().unwrap_or("unknown").to_owned(),
        model_digest: found["digest"].as_str().map(str::to_owned),
    })
}

fn get(url: &str) -> Result<Value, String> {
    let http: Http = Http::config_builder().timeout_global(Some(CHECK_TIMEOUT)).build().into();
    let mut response = http.get(url).call().map_err(|error| error.to_string())?;
    let text = response.body_mut().read_to_string().map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("its answer is not JSON ({error})"))
}

fn load(address: &str, model: &str, options: &Value) -> Result<(), String> {
    let mut options = options.clone();
    options["num_predict"] = json!(1);
    let body = json!({
        "model": model, "prompt": "Hi", "stream": true, "keep_alive": "30m", "options": options,
    });
    let http: Http = Http::config_builder().timeout_global(Some(LOAD_TIMEOUT)).build().into();
    let answer = http
        .post(format!("{address}/api/generate"))
        .header("content-type", "application/json")
        .send(body.to_string());
    let mut response =
        answer.map_err(|error| format!("{address} did not load {model}: {error}"))?;
    response
        .body_mut()
        .read_to_string()
        .map(drop)
        .map_err(|error| format!("{address} did not load {model}: {error}"))
}
