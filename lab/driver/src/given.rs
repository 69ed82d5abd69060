//! Real Ollama servers at addresses that the user gave.

use std::{
    collections::HashMap,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use lab_family::ModelLoad;
use serde::Serialize;
use serde_json::{Value, json};
use ureq::{
    Agent as Http, Body,
    http::{Response, StatusCode},
};

use crate::{DriverError, words::harmless};

const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
/// Loading a large model from a slow disk takes a while.
const LOAD_TIMEOUT: Duration = Duration::from_secs(300);
/// Between two looks at the interrupt flag while a model is loaded.
const LOOK: Duration = Duration::from_millis(100);

/// The servers and what each has loaded.
#[derive(Debug)]
pub(crate) struct GivenServers {
    pub(crate) addresses: Vec<String>,
    model: String,
    loaded: HashMap<String, Value>,
    /// Version and model of each server as it was first asked around a run.
    known: HashMap<String, (String, Option<String>)>,
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
        Self { addresses, model, loaded: HashMap::new(), known: HashMap::new() }
    }

    /// Version and model of each server, or why they are not known.
    pub(crate) fn identities(&self) -> Vec<Value> {
        let identity = |address: &String| match check(address, &self.model) {
            Ok(identity) => json!(identity),
            Err(error) => json!({"address": address, "reason": error.to_string()}),
        };
        self.addresses.iter().map(identity).collect()
    }

    /// That these servers are those that they were: runs of two models say nothing of either. One
    /// that does not answer now is a matter of the runs that ask it.
    ///
    /// # Errors
    /// Names the server and what has changed.
    pub(crate) fn same(&mut self, addresses: &[String]) -> Result<(), DriverError> {
        for address in addresses {
            let Ok(Identity { version, model_digest, .. }) = check(address, &self.model) else {
                continue;
            };
            let now = (version, model_digest);
            let known = self.known.entry(address.clone()).or_insert_with(|| now.clone());
            if *known == now {
                continue;
            }
            let model = &self.model;
            let digest = |digest: &Option<String>| digest.clone().unwrap_or("none".to_owned());
            return Err(DriverError::Changed(match known.0 == now.0 {
                true => format!(
                    "the model {model} of {address} was replaced amid the sweep: its digest was \
                     {} and is {}; the run beside it is not recorded",
                    digest(&known.1),
                    digest(&now.1)
                ),
                false => format!(
                    "the server {address} was replaced amid the sweep: it was version {} and is \
                     {}; the run beside it is not recorded",
                    known.0, now.0
                ),
            }));
        }
        Ok(())
    }

    /// Sends an untimed request to every server whose runner options differ from those it has
    /// loaded, because the first request with new options reloads the model.
    pub(crate) fn prepare(
        &mut self,
        loads: &[ModelLoad],
        interrupt: &AtomicBool,
    ) -> Result<(), String> {
        for wanted in loads {
            if self.loaded.get(&wanted.server) == Some(&wanted.options) {
                continue;
            }
            load_unless(wanted, interrupt)?;
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
            "the server {address} {what}: {error}; start it (tools/peer ollama up) or correct \
             --servers"
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
            if names.is_empty() { "none".to_owned() } else { harmless(&names.join(", ")) }
        )));
    };
    Ok(Identity {
        address: address.to_owned(),
        version: harmless(version["version"].as_str().unwrap_or("unknown")),
        model_digest: found["digest"].as_str().map(harmless),
    })
}

fn get(url: &str) -> Result<Value, String> {
    let text = text(client(CHECK_TIMEOUT).get(url).call())?;
    serde_json::from_str(&text).map_err(|error| format!("its answer is not JSON ({error})"))
}

/// Loads a model. Where the user wants to stop nobody waits for it: its thread ends with the lab.
fn load_unless(wanted: &ModelLoad, interrupt: &AtomicBool) -> Result<(), String> {
    let (sender, loaded) = mpsc::channel();
    let in_background = wanted.clone();
    thread::spawn(move || sender.send(load(&in_background)));
    let failed = |why: String| format!("{} did not load {}: {why}", wanted.server, wanted.model);
    loop {
        match loaded.recv_timeout(LOOK) {
            Ok(loaded) => return loaded.map_err(failed),
            Err(RecvTimeoutError::Timeout) if !interrupt.load(Ordering::Relaxed) => {}
            Err(_) => return Err(failed("nobody waited for it".to_owned())),
        }
    }
}

fn load(wanted: &ModelLoad) -> Result<(), String> {
    let mut options = wanted.options.clone();
    options["num_predict"] = json!(1);
    let body = json!({
        "model": wanted.model, "prompt": "Hi", "stream": true, "keep_alive": "30m",
        "options": options,
    });
    let request = client(LOAD_TIMEOUT).post(format!("{}/api/generate", wanted.server));
    let answer = request.header("content-type", "application/json").send(body.to_string());
    text(answer).map(drop)
}

/// Whom the lab asks is whom its variants ask, what the user named and nobody else: no proxy of the
/// environment, no redirect.
fn client(limit: Duration) -> Http {
    let config = Http::config_builder().timeout_global(Some(limit)).proxy(None).max_redirects(0);
    config.build().into()
}

/// The whole body of a right answer.
fn text(answer: Result<Response<Body>, ureq::Error>) -> Result<String, String> {
    let mut response = answer.map_err(|error| error.to_string())?;
    match response.status() {
        StatusCode::OK => response.body_mut().read_to_string().map_err(|error| error.to_string()),
        status if status.is_redirection() => {
            Err(format!("it answers with {status}, and no redirect is followed"))
        }
        status => Err(format!("it answers with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read, Write},
        net::{Ipv4Addr, TcpListener, TcpStream},
    };

    use super::*;

    fn listen() -> (TcpListener, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        (listener, address)
    }

    /// Reads a request to its end and sends its client to `target`.
    fn redirect(stream: TcpStream, target: &str) {
        let mut request = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            request.read_line(&mut line).unwrap();
            let line = line.trim_end().to_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        request.read_exact(&mut body).unwrap();
        let answer = format!(
            "HTTP/1.1 302 Found\r\nlocation: {target}/\r\ncontent-length: 0\r\n\
             connection: close\r\n\r\n"
        );
        request.get_mut().write_all(answer.as_bytes()).unwrap();
    }

    /// Answers one request after the other, each with the next of these bodies.
    fn answering(bodies: Vec<String>) -> (String, thread::JoinHandle<()>) {
        let (listener, address) = listen();
        let server = thread::spawn(move || {
            for body in bodies {
                let mut request = BufReader::new(listener.accept().unwrap().0);
                let mut line = String::new();
                while request.read_line(&mut line).unwrap() > 2 {
                    line.clear();
                }
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                request.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        (address, server)
    }

    /// What a server answers that is asked who it is.
    fn identity(version: &str, digest: &str) -> [String; 2] {
        let models = json!([{ "name": "m:latest", "digest": digest }]);
        [json!({ "version": version }).to_string(), json!({ "models": models }).to_string()]
    }

    #[test]
    fn a_model_or_a_server_that_is_replaced_amid_a_sweep_ends_it() {
        for (name, second, said) in [
            ("another model by its name", identity("1", "b"), "its digest was a and is b; the run"),
            ("another server at its address", identity("2", "a"), "it was version 1 and is 2; the"),
            ("both", identity("2", "b"), "it was version 1 and is 2"),
            ("escape sequences in a digest", identity("1", "\u{1b}[2J"), "and is \\u{1b}[2J; the"),
        ] {
            let _attack = proof_kit::Attack::on("servers", name);
            let first = identity("1", "a");
            let bodies = [&first[..], &first[..], &second[..]].concat();
            let (address, server) = answering(bodies);
            let addresses = [address.clone()];
            let mut servers = GivenServers::new(addresses.to_vec(), "m".to_owned());
            servers.same(&addresses).unwrap();
            servers.same(&addresses).unwrap();
            let changed = servers.same(&addresses).unwrap_err();
            assert!(matches!(changed, DriverError::Changed(_)), "{name}");
            let changed = changed.to_string();
            assert!(changed.contains(&address) && changed.contains(said), "{name}: {changed}");
            server.join().unwrap();
            // A server that is gone is a matter of the runs that ask it.
            servers.same(&addresses).unwrap();
        }
    }

    #[test]
    fn names_of_a_servers_models_do_nothing_to_a_terminal() {
        let _attack = proof_kit::Attack::on("servers", "escape sequences in a model's name");
        let models = json!({ "models": [{ "name": "\u{1b}]0;x\u{7}" }] }).to_string();
        let (address, server) = answering(vec![json!({ "version": "1" }).to_string(), models]);
        let said = check_servers(&[address], "m").unwrap_err().to_string();
        assert!(said.contains("only: \\u{1b}]0;x\\u{7}; correct --model"), "{said}");
        server.join().unwrap();
    }

    #[test]
    fn nobody_is_asked_whom_the_user_did_not_name() {
        let _attack = proof_kit::Attack::on("servers", "a redirect to another server");
        let ((redirects, address), (other, target)) = (listen(), listen());
        let server = thread::spawn(move || {
            for _ in 0..2 {
                redirect(redirects.accept().unwrap().0, &target);
            }
        });
        let expected = "it answers with 302 Found, and no redirect is followed";
        let said = check_servers(std::slice::from_ref(&address), "m").unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
        let wanted = ModelLoad { server: address, model: "m".to_owned(), options: json!({}) };
        let said = load(&wanted).unwrap_err();
        assert_eq!(said, expected);
        server.join().unwrap();
        other.set_nonblocking(true).unwrap();
        assert!(other.accept().is_err(), "the other one was asked");
    }

    #[test]
    fn a_model_that_takes_long_does_not_hold_who_wants_to_stop() {
        let _attack = proof_kit::Attack::on("servers", "silence while a model is loaded");
        let (silent, server) = listen();
        let wanted = ModelLoad { server, model: "m".to_owned(), options: json!({}) };
        let mut servers = GivenServers::new(vec![], "m".to_owned());
        let stopped = servers.prepare(&[wanted], &AtomicBool::new(true)).unwrap_err();
        assert!(stopped.ends_with("did not load m: nobody waited for it"), "{stopped}");
        assert!(servers.loaded.is_empty());
        drop(silent);
    }
}
