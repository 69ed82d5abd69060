//! Replies of a trace, as `lab sim record` writes them, that the paced server gives in place of
//! drawn ones.

use lab_family::ServedCall;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh64::xxh64;

const SCHEMA: &str = "lab-sim-trace-1";
/// As the paced server has them.
const TEXT_BYTES_MAX: usize = 8 << 10;
const GAP_NS_MAX: u64 = 86_400_000_000_000;

/// One reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    schema: String,
    /// The request that gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    steps: Vec<Step>,
}

/// Tokens that came together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    gap_ns: u64,
    tokens: usize,
    text_bytes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

/// Reads the text of a trace.
///
/// # Errors
/// Names the line that cannot be replayed.
pub(crate) fn parse(text: &str) -> Result<Vec<Reply>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(place, line): (usize, &str)| {
        let reply: Option<Reply> = serde_json::from_str(line).ok();
        let reply = reply.filter(|reply| reply.schema == SCHEMA && !reply.steps.is_empty());
        reply
            .filter(|reply| reply.steps.iter().all(Step::is_possible))
            .ok_or_else(|| format!("line {} is torn or no reply that could be replayed", place + 1))
    };
    let replies: Vec<Reply> = lines.map(read).collect::<Result<_, _>>()?;
    if replies.is_empty() { Err("it holds no reply".to_owned()) } else { Ok(replies) }
}

impl Step {
    fn is_possible(&self) -> bool {
        let length = self.text.as_ref().map_or(self.text_bytes, String::len);
        let is_sound = self.tokens > 0 && self.gap_ns <= GAP_NS_MAX;
        is_sound && length == self.text_bytes && (1..=TEXT_BYTES_MAX).contains(&length)
    }
}

impl Reply {
    pub(crate) fn tokens(&self) -> i64 {
        self.steps.iter().map(|step| step.tokens as i64).sum()
    }

    /// The same, for the request of this seed alone.
    pub(crate) fn to(&self, seed: i64) -> Self {
        Self { seed: Some(seed), ..self.clone() }
    }

    /// When each token is due after the request.
    fn due_ns(&self) -> impl Iterator<Item = i64> {
        let at = self.steps.iter().scan(0, |at, step| {
            *at += step.gap_ns.cast_signed();
            Some(std::iter::repeat_n(*at, step.tokens))
        });
        at.flatten()
    }

    /// As the server says it: of a text that was not kept only the length is known.
    fn text_hash(&self) -> i64 {
        let said = self.steps.iter().filter(|step| !step.thought);
        let text = said.map(|step| step.text.clone().unwrap_or("x".repeat(step.text_bytes)));
        xxh64(text.collect::<String>().as_bytes(), 0).cast_signed()
    }
}

/// Holds what the server says that it did against the trace: each token's time, to the nanosecond
/// before its own pacing error, and of whole replies their tokens and text.
///
/// # Errors
/// A sentence that names the call's seed and both values.
pub(crate) fn was_replayed(replies: &[Reply], served: &[ServedCall]) -> Result<(), String> {
    for reply in replies {
        let own = served.iter().filter(|call| Some(call.seed) == reply.seed);
        for call in own {
            let place = format!("the call of seed {}", call.seed);
            let sent = call.sent_ns.iter().zip(&call.pacing_error_ns);
            let due = sent.map(|(sent, error)| sent - error - call.received_ns);
            if let Some((is, was)) = due.zip(reply.due_ns()).find(|(is, was)| is != was) {
                return Err(format!("{place}: a token was due after {is} ns, in its trace {was}"));
            }
            let whole = (reply.tokens(), reply.text_hash());
            if call.complete && (call.tokens, call.text_hash) != whole {
                return Err(format!("{place}: the server sent {} other tokens", call.tokens));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"schema":"lab-sim-trace-1","steps":[
        {"gap_ns":5,"tokens":1,"text_bytes":2,"text":"ab"},
        {"gap_ns":7,"tokens":2,"text_bytes":3}]}"#;

    fn line() -> String {
        LINE.replace('\n', "")
    }

    #[test]
    fn what_cannot_be_replayed_is_refused_with_its_line() {
        let two = format!("{}\n\n{}\n", line(), line());
        assert_eq!(parse(&two).unwrap().len(), 2);
        let torn = &two[..two.len() - 20];
        for (text, said) in [
            ("", "it holds no reply"),
            (torn, "line 3 is torn"),
            (&line().replace("trace-1", "trace-2"), "line 1 is torn"),
            (&line().replace("\"tokens\":2", "\"tokens\":0"), "line 1 is torn"),
            (&line().replace("\"text_bytes\":2", "\"text_bytes\":9"), "line 1 is torn"),
            (&line().replace(":7,", ":86400000000001,"), "line 1 is torn"),
        ] {
            let found = parse(text).unwrap_err();
            assert!(found.contains(said), "{text}: {found}");
        }
    }

    /// Sent 3 ns late each.
    fn served() -> ServedCall {
        let call = serde_json::json!({
            "seed": 9, "port_index": 0, "received_ns": 100, "first_due_ns": 105,
            "first_sent_ns": 108, "last_sent_ns": 115, "done_sent_ns": 116, "tokens": 3,
            "text_hash": xxh64(b"abxxx", 0).cast_signed(), "sent_ns": [108, 115, 115],
            "pacing_error_ns": [3, 3, 3], "complete": true,
        });
        serde_json::from_value(call).unwrap()
    }

    #[test]
    fn a_server_that_leaves_the_trace_is_found_out() {
        let replies = [parse(&line()).unwrap()[0].to(9)];
        let good = served();
        assert_eq!(was_replayed(&replies, std::slice::from_ref(&good)), Ok(()));
        let dropped = ServedCall { complete: false, sent_ns: vec![108], tokens: 1, ..good.clone() };
        assert_eq!(was_replayed(&replies, &[dropped]), Ok(()));
        for (call, said) in [
            (ServedCall { pacing_error_ns: vec![3, 2, 2], ..good.clone() }, "after 13 ns"),
            (ServedCall { text_hash: 1, ..good.clone() }, "3 other tokens"),
            (ServedCall { tokens: 2, ..good }, "2 other tokens"),
        ] {
            let found = was_replayed(&replies, &[call]).unwrap_err();
            assert!(found.contains(said), "{found}");
        }
    }
}
