//! The stream of `/v1/chat/completions`, as OpenAI and the servers that speak like it have it:
//! server-sent events, one JSON object each, and `[DONE]` at the end.

use serde::Deserialize;
use serde_json::Value;

use crate::reply::{Account, Piece, broken, sentence};

/// The keys of a chunk that matter here.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    model: String,
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
}

/// Servers differ in how they name a thought.
#[derive(Deserialize, Default)]
struct Delta {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    completion_tokens: Option<i64>,
    prompt_tokens: Option<i64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<i64>,
}

/// Reads a line of the stream. `model` is the last name that was said, which the end repeats.
pub(crate) fn line(text: &str, model: &str) -> Result<Piece, String> {
    let Some(data) = text.strip_prefix("data:").map(str::trim_start) else {
        return other(text);
    };
    if data == "[DONE]" {
        let account = Account { name: "completion_tokens", ..Account::default() };
        return Ok(Piece { end: true, model: model.to_owned(), account, ..Piece::default() });
    }
    let chunk: Chunk = serde_json::from_str(data).map_err(|_| broken(data))?;
    let deltas = || chunk.choices.iter().filter_map(|choice| choice.delta.as_ref());
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let usage = chunk.usage.as_ref();
    let cached = usage.and_then(|usage| usage.prompt_tokens_details.as_ref()?.cached_tokens);
    Ok(Piece {
        answer: deltas().any(|delta| has(&delta.content)),
        thought: deltas().any(|delta| has(&delta.reasoning_content) || has(&delta.reasoning)),
        end: false,
        error: chunk.error.as_ref().map(sentence),
        account: Account {
            tokens: usage.and_then(|usage| usage.completion_tokens),
            prompt_tokens: usage.and_then(|usage| usage.prompt_tokens),
            cached_tokens: cached,
            name: "completion_tokens",
            ..Account::default()
        },
        model: chunk.model,
    })
}

/// Comments keep a connection alive, and the other fields of an event say nothing here. What is
/// no event at all is an error that came in place of one, or broken.
fn other(text: &str) -> Result<Piece, String> {
    let fields = [":", "event:", "id:", "retry:"];
    if fields.iter().any(|field| text.starts_with(field)) {
        return Ok(Piece::default());
    }
    let error = serde_json::from_str::<Value>(text).ok().and_then(|said| {
        let error = said.get("error")?;
        Some(sentence(error))
    });
    match error {
        Some(error) => Ok(Piece { error: Some(error), ..Piece::default() }),
        None => Err(broken(text)),
    }
}
