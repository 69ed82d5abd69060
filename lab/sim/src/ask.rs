//! What clients ask for, in the bodies of Ollama's requests and of OpenAI's.

use serde::Deserialize;
use serde_json::Value;

use crate::wire::Speech;

/// A call as its body asks for it. Unknown keys are ignored, as the servers ignore them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) model: String,
    pub(crate) prompt_bytes: usize,
    pub(crate) stream: bool,
    pub(crate) seed: Option<i64>,
    /// The longest reply, as it is written there.
    pub(crate) tokens: Option<i64>,
    /// A last chunk of a stream has the counts.
    pub(crate) include_usage: bool,
    /// The first tool that the model may call.
    pub(crate) tool: Option<String>,
    /// A key of ours: so many tokens travel together.
    pub(crate) tokens_per_chunk: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Body {
    model: String,
    /// A string, or a list of them.
    #[serde(default)]
    prompt: Value,
    #[serde(default)]
    messages: Vec<Message>,
    stream: Option<bool>,
    #[serde(default)]
    options: Options,
    max_tokens: Option<i64>,
    max_completion_tokens: Option<i64>,
    seed: Option<i64>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    tools: Option<Vec<Tool>>,
    tokens_per_chunk: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Message {
    /// A string, or a list of parts with text.
    #[serde(default)]
    content: Value,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    seed: Option<i64>,
    num_predict: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize)]
struct Tool {
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
}

impl Wanted {
    /// Reads a body.
    pub(crate) fn read(speech: Speech, body: &[u8]) -> Result<Self, String> {
        let body: Body = serde_json::from_slice(body)
            .map_err(|error| format!("cannot read the body: {error}"))?;
        let messages = body.messages.iter().map(|message| text_bytes(&message.content));
        let prompt_bytes = text_bytes(&body.prompt) + messages.sum::<usize>();
        let is_openai = speech.is_openai();
        let of_openai = body.max_completion_tokens.or(body.max_tokens);
        Ok(Self {
            model: body.model,
            prompt_bytes,
            // Ollama streams unless it is told not to, OpenAI the other way round.
            stream: body.stream.unwrap_or(!is_openai),
            seed: if is_openai { body.seed } else { body.options.seed },
            tokens: if is_openai { of_openai } else { body.options.num_predict },
            include_usage: body.stream_options.is_some_and(|options| options.include_usage),
            tool: body.tools.into_iter().flatten().next().map(|tool| tool.function.name),
            tokens_per_chunk: body.tokens_per_chunk,
        })
    }
}

/// The bytes of all texts in a string, a list of them or a list of parts.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(text_bytes).sum(),
        Value::Object(part) => part.get("text").map_or(0, text_bytes),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_apis_are_read_with_their_own_defaults() {
        let ollama = br#"{"model":"m","prompt":"four","options":{"seed":7,"num_predict":-1}}"#;
        let wanted = Wanted::read(Speech::Generate, ollama).unwrap();
        assert_eq!((wanted.prompt_bytes, wanted.stream), (4, true));
        assert_eq!((wanted.seed, wanted.tokens), (Some(7), Some(-1)));
        let openai = br#"{"model":"m","seed":3,"max_tokens":9,"stream_options":
            {"include_usage":true},"messages":[{"role":"system","content":"ab"},
            {"role":"user","content":[{"type":"text","text":"cde"}]}],
            "tools":[{"type":"function","function":{"name":"look"}}]}"#;
        let wanted = Wanted::read(Speech::ChatCompletion, openai).unwrap();
        assert_eq!((wanted.prompt_bytes, wanted.stream, wanted.seed), (5, false, Some(3)));
        assert_eq!((wanted.tokens, wanted.tool.as_deref()), (Some(9), Some("look")));
        assert!(wanted.include_usage);
        assert!(Wanted::read(Speech::Chat, b"{").unwrap_err().contains("the body"));
    }
}
