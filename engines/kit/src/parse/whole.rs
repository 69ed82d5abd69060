//! The fields out of a parsed value.

use serde_json::Value;

use super::{Message, Text};

/// `None` where the value is no object.
pub(super) fn message<R>(
    value: &Value,
    scratch: &mut String,
    then: impl FnOnce(&mut Message<'_>) -> R,
) -> Option<R> {
    let line = value.as_object()?;
    let string = |key: &str| line.get(key).and_then(Value::as_str);
    let message = line.get("message").and_then(Value::as_object);
    let content = message.and_then(|message| message.get("content"));
    let text = content.and_then(|content| text(content, scratch));
    let text = text.or_else(|| string("content")).or_else(|| string("summary"));
    Some(then(&mut Message {
        kind: string("type"),
        role: message.and_then(|message| message.get("role")).and_then(Value::as_str),
        session: string("sessionId"),
        cwd: string("cwd"),
        timestamp: string("timestamp"),
        text: Text::Whole(text.unwrap_or_default()),
    }))
}

fn text<'a>(content: &'a Value, scratch: &'a mut String) -> Option<&'a str> {
    let blocks = match content {
        Value::String(text) => return Some(text),
        Value::Array(blocks) => blocks,
        _ => return None,
    };
    let mut texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    let first = texts.next()?;
    let Some(second) = texts.next() else { return Some(first) };
    scratch.push_str(first);
    for text in [second].into_iter().chain(texts) {
        scratch.push('\n');
        scratch.push_str(text);
    }
    Some(scratch)
}
