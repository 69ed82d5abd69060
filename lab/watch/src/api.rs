//! What a server speaks, and whether it is there.

use std::time::Duration;

use serde_json::Value;

use crate::ask::client;

/// Nothing waits longer for a list of models.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `/api/generate`, a line of JSON for each token.
    Ollama,
    /// `/v1/chat/completions`, an event for each token or few.
    Openai,
}

impl Api {
    /// Where requests go.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ollama => "/api/generate",
            Self::Openai => "/v1/chat/completions",
        }
    }

    /// What the last line of a reply is called.
    pub(crate) fn end_name(self) -> &'static str {
        match self {
            Self::Ollama => "done line",
            Self::Openai => "`[DONE]`",
        }
    }

    /// The same with its article.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Self::Ollama => "a done line",
            Self::Openai => "`[DONE]`",
        }
    }

    /// As OpenTelemetry names the provider, and the operation.
    pub(crate) fn conventional(self) -> (&'static str, &'static str) {
        match self {
            Self::Ollama => ("ollama", "text_completion"),
            Self::Openai => ("openai", "chat"),
        }
    }
}

/// Checks that every OpenAI-compatible server lists the model at `/v1/models`.
///
/// # Errors
/// One sentence with the address, the problem and what to do.
pub fn check_openai(addresses: &[String], model: &str) -> Result<(), String> {
    addresses.iter().try_for_each(|address| {
        let models = models(address, Api::Openai).map_err(|error| {
            format!(
                "the server {address} does not list its models at /v1/models: {error}; start it \
                 or correct --servers"
            )
        })?;
        if models.iter().any(|name| name == model) {
            return Ok(());
        }
        let only = listed(&models);
        Err(format!("the server {address} has no model `{model}`, only: {only}; correct --model"))
    })
}

/// The model of a server that has one alone, for who did not name any.
///
/// # Errors
/// One sentence with the address, its models and what to do.
pub fn only_model(address: &str, api: Api) -> Result<String, String> {
    let models = models(address, api).map_err(|error| {
        format!(
            "the server {address} does not list its models: {error}; start it or correct --servers"
        )
    })?;
    match models.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(format!(
            "the server {address} has not one model but: {}; name one with --model",
            listed(&models)
        )),
    }
}

fn listed(models: &[String]) -> String {
    if models.is_empty() { "none".to_owned() } else { harmless(&models.join(", ")) }
}

fn models(address: &str, api: Api) -> Result<Vec<String>, String> {
    let (path, list, name) = match api {
        Api::Ollama => ("/api/tags", "models", "name"),
        Api::Openai => ("/v1/models", "data", "id"),
    };
    let answer = answered(&format!("{address}{path}"))?;
    let entries = answer[list].as_array().into_iter().flatten();
    Ok(entries.filter_map(|entry| Some(entry[name].as_str()?.to_owned())).collect())
}

fn answered(url: &str) -> Result<Value, String> {
    let mut answer = client(LIST_PATIENCE).get(url).call().map_err(|error| error.to_string())?;
    if answer.status() != 200 {
        return Err(format!("it answers with {}", answer.status()));
    }
    let text = answer.body_mut().read_to_string().map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("its answer is not JSON ({error})"))
}

/// A server's own words, for a terminal.
fn harmless(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(200).collect()
}
