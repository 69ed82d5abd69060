//! Ollama's stream: one JSON object a line.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::CallError;

/// The longest line that is waited for. The last line carries the ids of the whole context, so it
/// is long; a stream without line ends must still not fill the memory.
const MAX_LINE: usize = 4 << 20;

/// One line, as far as an agent reads it. Servers add keys between versions, so unknown ones are
/// skipped.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(borrow, default)]
    pub response: Cow<'a, str>,
    /// What a model thinks before it answers: tokens that are no text of the answer.
    #[serde(borrow, default)]
    pub thinking: Cow<'a, str>,
    #[serde(default)]
    pub done: bool,
    /// Empty where the server does not say.
    #[serde(borrow, default)]
    pub model: Cow<'a, str>,
    /// The sentence of an error, which is a string, or an object with a message.
    #[serde(default, deserialize_with = "sentence")]
    pub error: Option<String>,
    pub sent_ns: Option<i64>,
    pub eval_count: Option<i64>,
    pub eval_duration: Option<i64>,
    pub prompt_eval_count: Option<i64>,
    pub prompt_eval_duration: Option<i64>,
    pub load_duration: Option<i64>,
    pub total_duration: Option<i64>,
}

fn sentence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let error = Option::<Value>::deserialize(deserializer)?;
    Ok(error.map(|error| said(&error)))
}

/// The sentence of an error, as Ollama writes it or as gateways in front of it do.
pub(crate) fn said(error: &Value) -> String {
    let said = error.as_str().or_else(|| error["message"].as_str());
    said.map_or_else(|| error.to_string(), str::to_owned)
}

impl<'a> Line<'a> {
    /// Whether it carries a token, of the answer or of a thought.
    pub(crate) fn has_token(&self) -> bool {
        !self.response.is_empty() || !self.thinking.is_empty()
    }

    fn parse(bytes: &'a [u8]) -> Result<Self, CallError> {
        serde_json::from_slice(bytes).map_err(|error| CallError::BrokenJson {
            excerpt: excerpt(bytes),
            cause: error.to_string(),
        })
    }
}

/// Cuts a stream into lines, however its bytes are cut into chunks.
#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    /// The beginning of a line whose end has not arrived.
    carry: Vec<u8>,
}

impl LineSplitter {
    /// Hands every line that `bytes` completes to `on_line`; blank lines are skipped.
    ///
    /// # Errors
    /// A line that is no JSON object or longer than 4 MiB, or the first error of `on_line`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut on_line: impl FnMut(Line<'_>) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.carry.is_empty() {
                // The common case, a whole line in one chunk, is parsed where it lies.
                whole(line, &mut on_line)?;
            } else {
                self.carry.extend_from_slice(line);
                let result = whole(&self.carry, &mut on_line);
                self.carry.clear();
                result?;
            }
        }
        self.carry.extend_from_slice(bytes);
        if self.carry.len() > MAX_LINE {
            let cause = format!("no end of line within {MAX_LINE} bytes");
            return Err(CallError::BrokenJson { excerpt: excerpt(&self.carry), cause });
        }
        Ok(())
    }

    /// Takes what is left as the last line: a server need not end it.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn finish(
        &mut self,
        mut on_line: impl FnMut(Line<'_>) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        whole(&std::mem::take(&mut self.carry), &mut on_line)
    }
}

fn whole(
    line: &[u8],
    on_line: &mut impl FnMut(Line<'_>) -> Result<(), CallError>,
) -> Result<(), CallError> {
    if line.trim_ascii().is_empty() { Ok(()) } else { on_line(Line::parse(line)?) }
}

/// The first 60 characters.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "{\"response\":\"a\",\"done\":false,\"new\":1}\n\n{\"response\":\"\\u00e9 \
                          \\n\",\"sent_ns\":5}\r\n{\"response\":\"\",\"done\":true,\
                          \"eval_count\":2}";

    fn texts(chunks: &[&[u8]]) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        let mut splitter = LineSplitter::default();
        let mut keep = |line: Line<'_>| {
            found.push((line.response.into_owned(), line.done));
            Ok(())
        };
        for chunk in chunks {
            splitter.push(chunk, &mut keep).unwrap();
        }
        splitter.finish(&mut keep).unwrap();
        found
    }

    #[test]
    fn a_stream_cut_at_every_byte_gives_the_same_lines() {
        let expected = [("a".to_owned(), false), ("é \n".to_owned(), false), (String::new(), true)];
        let bytes = STREAM.as_bytes();
        for cut in 0..=bytes.len() {
            assert_eq!(texts(&[&bytes[..cut], &bytes[cut..]]), expected, "cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(texts(&single), expected);
    }

    #[test]
    fn a_broken_line_is_quoted() {
        let error = LineSplitter::default().push(b"{\"response\":\n", |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("broken JSON in line `{\"response\":`: "), "{error}");
    }

    #[test]
    fn an_error_is_a_sentence_or_an_object_with_one() {
        let error = |text: &str| Line::parse(text.as_bytes()).unwrap().error;
        assert_eq!(error(r#"{"error":"no memory"}"#).unwrap(), "no memory");
        assert_eq!(error(r#"{"error":{"message":"gone","code":500}}"#).unwrap(), "gone");
        assert_eq!(error(r#"{"error":{"code":500}}"#).unwrap(), r#"{"code":500}"#);
        assert_eq!((error(r#"{"error":null}"#), error("{}")), (None, None));
    }

    #[test]
    fn plain_text_is_borrowed() {
        let line = Line::parse(br#"{"response":" word","done":false}"#).unwrap();
        assert!(matches!(line.response, Cow::Borrowed(" word")));
    }
}
