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
        let models = models(address).map_err(|error| {
            format!(
                "the server {address} does not list its models at /v1/models: {error}; start it \
                 or correct --servers"
            )
        })?;
        let names: Vec<&str> = models["data"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|m| m["id"].as_str())
            .collect();
        if names.contains(&model) {
            return Ok(());
        }
        let only = if names.is_empty() { "none".to_owned() } else { harmless(&names.join(", ")) };
        Err(format!("the server {address} has no model `{model}`, only: {only}; correct --model"))
    })
}

fn models(address: &str) -> Result<Value, String> {
    let mut answer = client(LIST_PATIENCE)
        .get(format!("{address}/v1/models"))
        .call()
        .map_err(|error| error.to_string())?;
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
