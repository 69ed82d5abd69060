//! Token times of a real server, a reply a line of JSON, as `lab sim record` writes them and
//! `lab sim --trace` replays them.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::wire::Piece;

/// The schema of a line.
pub(crate) const SCHEMA: &str = "lab-sim-trace-1";
/// A chunk of the paced server holds its text in 64 KiB, escaped.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// A day: a longer pause would never be waited for.
const GAP_NS_MAX: u64 = 86_400_000_000_000;
/// Longer files are read by nobody at once.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// One reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracedReply {
    /// `lab-sim-trace-1`.
    pub schema: String,
    /// The seed of the requests that it answers; without one it answers in its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// What came of it, in the order of time.
    pub steps: Vec<TracedStep>,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracedStep {
    /// Nanoseconds since the step before it; of the first, since the request.
    pub gap_ns: u64,
    /// Tokens in it; where the server counted the reply's tokens alone, its share of them.
    pub tokens: usize,
    /// Bytes of its text.
    pub text_bytes: usize,
    /// The text, where it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether it is thought before the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thought: bool,
}

impl TracedReply {
    /// Refuses what no server could replay.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        ensure!(self.schema == SCHEMA, "its schema is {:?}, not {SCHEMA:?}", self.schema);
        ensure!(!self.steps.is_empty(), "it has no steps");
        for (place, step) in self.steps.iter().enumerate() {
            let length = step.text.as_ref().map_or(step.text_bytes, String::len);
            let name = format!("step {place}");
            ensure!(step.gap_ns <= GAP_NS_MAX, "{name}: gap_ns is longer than a day");
            ensure!(step.tokens > 0, "{name}: tokens is 0");
            ensure!(length == step.text_bytes, "{name}: text_bytes is not the length of text");
            ensure!(
                (1..=TEXT_BYTES_MAX).contains(&length),
                "{name}: text_bytes must be 1 to {TEXT_BYTES_MAX}"
            );
        }
        Ok(())
    }

    /// What is sent, and the time of each piece, of a reply of at most so many tokens.
    pub(crate) fn pieces(&self, most_tokens: usize) -> (Vec<Piece>, Vec<u64>) {
        let mut tokens = 0;
        let within = self.steps.iter().take_while(|step| {
            tokens += step.tokens;
            tokens <= most_tokens
        });
        within.map(|step| (step.piece(), step.gap_ns)).unzip()
    }
}

impl TracedStep {
    fn piece(&self) -> Piece {
        // Of a text that was not kept only the length is known.
        let text = self.text.clone().unwrap_or_else(|| "x".repeat(self.text_bytes));
        Piece { text, tokens: self.tokens, is_thought: self.thought }
    }
}

/// Reads a file of traces.
///
/// # Errors
/// Names the file, the line and what is wrong with it.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<TracedReply>> {
    let shown = path.display();
    let how = "record one with `lab sim record`";
    let size =
        fs::metadata(path).with_context(|| format!("--trace {shown}: cannot read it"))?.len();
    ensure!(size <= FILE_BYTES_MAX, "--trace {shown}: it is longer than a gigabyte; split it");
    let text = fs::read_to_string(path)
        .with_context(|| format!("--trace {shown}: cannot read it; {how}"))?;
    let mut replies = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("--trace {shown}: line {}", number + 1);
        let reply: TracedReply = serde_json::from_str(line)
            .with_context(|| format!("{place} is no reply of a trace; {how}"))?;
        reply.check().with_context(|| format!("{place} cannot be replayed; {how}"))?;
        replies.push(reply);
    }
    if replies.is_empty() {
        bail!("--trace {shown}: it holds no reply; {how}");
    }
    Ok(replies)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn said(text: &str) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        match read(file.path()) {
            Ok(replies) => format!("{} replies", replies.len()),
            Err(error) => {
                let error = format!("{error:#}");
                assert!(error.contains(&file.path().display().to_string()), "{error}");
                error
            }
        }
    }

    #[test]
    fn a_file_that_cannot_be_replayed_is_refused_with_its_line() {
        let step = r#"{"gap_ns":5,"tokens":1,"text_bytes":2,"text":"ab"}"#;
        let line = format!("{{\"schema\":\"{SCHEMA}\",\"steps\":[{step}]}}\n");
        assert_eq!(said(&format!("{line}\n{line}")), "2 replies");
        for (text, expected) in [
            (String::new(), "it holds no reply; record one"),
            ("gap\n".to_owned(), "line 1 is no reply of a trace"),
            (format!("{line}{}", line.replace("\"gap_ns\"", "\"gap\"")), "line 2 is no reply"),
            (line.replace("trace-1", "trace-9"), "its schema is \"lab-sim-trace-9\""),
            (line.replace(step, ""), "it has no steps"),
            (line.replace("\"tokens\":1", "\"tokens\":0"), "step 0: tokens is 0"),
            (line.replace("\"text_bytes\":2", "\"text_bytes\":3"), "not the length of text"),
            (line.replace(":5,", ":86400000000001,"), "longer than a day"),
        ] {
            assert!(said(&text).contains(expected), "{expected}: {}", said(&text));
        }
        let missing = read(Path::new("no/such/file")).unwrap_err().to_string();
        assert!(missing.contains("--trace no/such/file: cannot read it"), "{missing}");
    }

    #[test]
    fn a_reply_ends_where_the_request_wants_no_more() {
        let step = |gap_ns, tokens| TracedStep {
            gap_ns,
            tokens,
            text_bytes: 3,
            text: None,
            thought: false,
        };
        let reply = TracedReply {
            schema: SCHEMA.to_owned(),
            seed: None,
            steps: vec![step(7, 1), step(8, 2), step(9, 1)],
        };
        let (pieces, work_ns) = reply.pieces(3);
        assert_eq!((pieces.len(), work_ns, pieces[0].text.as_str()), (2, vec![7, 8], "xxx"));
        assert_eq!(reply.pieces(usize::MAX).1, [7, 8, 9]);
    }
}
