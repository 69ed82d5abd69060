//! A reply of a server, read for its tokens while it passes: lines of Ollama, events of OpenAI.

use serde_json::Value;

use crate::trace::{SCHEMA, TracedReply, TracedStep};

/// More than any head or line has; what is longer is given up.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Where the bytes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the head of the response.
    Head,
    /// Before the size of a chunk.
    Size,
    /// Within a chunk of which so much is left, its line end too.
    Chunk(usize),
    /// In a body without chunks.
    Plain,
    /// After what cannot be read.
    Lost,
}

/// A reply so far.
#[derive(Debug)]
pub(crate) struct Heard {
    place: Place,
    is_chunked: bool,
    is_good: bool,
    /// A line of the head or of a size that has no end yet.
    begun: Vec<u8>,
    /// The same of the body.
    line: Vec<u8>,
    before_ns: u64,
    with_text: bool,
    steps: Vec<TracedStep>,
    /// What the server counted.
    tokens: Option<usize>,
}

impl Heard {
    /// The request was sent then.
    pub(crate) fn new(sent_ns: u64, with_text: bool) -> Self {
        Self {
            place: Place::Head,
            is_chunked: false,
            is_good: false,
            begun: Vec::new(),
            line: Vec::new(),
            before_ns: sent_ns,
            with_text,
            steps: Vec::new(),
            tokens: None,
        }
    }

    /// Takes bytes that came then.
    pub(crate) fn take(&mut self, mut bytes: &[u8], now_ns: u64) {
        while !bytes.is_empty() {
            bytes = match self.place {
                Place::Head | Place::Size => self.take_line(bytes),
                Place::Plain => {
                    self.body(bytes, now_ns);
                    &[]
                }
                Place::Chunk(left) => {
                    let (now, later) = bytes.split_at(left.min(bytes.len()));
                    // The last two bytes of it are its line end.
                    let text = now.len().min(left.saturating_sub(2));
                    self.body(&now[..text], now_ns);
                    let left = left - now.len();
                    self.place = if left == 0 { Place::Size } else { Place::Chunk(left) };
                    later
                }
                Place::Lost => &[],
            };
        }
    }

    /// The reply, if it had tokens and came well.
    pub(crate) fn reply(&self) -> Option<TracedReply> {
        if !self.is_good || self.steps.is_empty() {
            return None;
        }
        let mut steps = self.steps.clone();
        // Which piece had how many tokens is not said: each has its share.
        let counted = self.tokens.filter(|tokens| *tokens > steps.len());
        let (each, more) =
            counted.map_or((1, 0), |tokens| (tokens / steps.len(), tokens % steps.len()));
        for (place, step) in steps.iter_mut().enumerate() {
            step.tokens = each + usize::from(place < more);
        }
        Some(TracedReply { schema: SCHEMA.to_owned(), seed: None, steps })
    }

    fn take_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.begun.extend_from_slice(bytes);
            if self.begun.len() > LINE_BYTES_MAX {
                self.place = Place::Lost;
            }
            return &[];
        };
        self.begun.extend_from_slice(&bytes[..end]);
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.begun)).trim().to_owned();
        match self.place {
            Place::Head => self.head(&line),
            _ => self.size(&line),
        }
        &bytes[end + 1..]
    }

    fn head(&mut self, line: &str) {
        let lower = line.to_ascii_lowercase();
        if lower.starts_with("http/") {
            self.is_good = lower.split(' ').nth(1) == Some("200");
        } else if lower.starts_with("transfer-encoding:") && lower.contains("chunked") {
            self.is_chunked = true;
        } else if lower.is_empty() {
            self.place = if self.is_chunked { Place::Size } else { Place::Plain };
        }
    }

    fn size(&mut self, line: &str) {
        let size = line.split(';').next().unwrap_or_default();
        self.place = match usize::from_str_radix(size, 16) {
            Ok(size) if size > 0 => Place::Chunk(size.saturating_add(2)),
            // The end, or what nobody can read.
            _ => Place::Lost,
        };
    }

    fn body(&mut self, bytes: &[u8], now_ns: u64) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.object(&line, now_ns);
            } else if self.line.len() > LINE_BYTES_MAX {
                self.place = Place::Lost;
            }
        }
    }

    fn object(&mut self, line: &[u8], now_ns: u64) {
        let line = line.strip_prefix(b"data:").unwrap_or(line);
        let Ok(value) = serde_json::from_slice::<Value>(line) else { return };
        let choice = &value["choices"][0];
        let usage = &value["usage"]["completion_tokens"];
        if let Some(count) = value["eval_count"].as_u64().or(usage.as_u64()) {
            self.tokens = usize::try_from(count).ok();
        }
        let text = |values: &[&Value]| {
            values
                .iter()
                .filter_map(|value| value.as_str())
                .find(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let (message, delta) = (&value["message"], &choice["delta"]);
        let answer =
            text(&[&value["response"], &message["content"], &delta["content"], &choice["text"]]);
        let thought = text(&[
            &value["thinking"],
            &message["thinking"],
            &delta["reasoning_content"],
            &delta["reasoning"],
        ]);
        let is_thought = answer.is_none();
        let Some(text) = answer.or(thought) else { return };
        self.steps.push(TracedStep {
            gap_ns: now_ns.saturating_sub(self.before_ns),
            tokens: 1,
            text_bytes: text.len(),
            text: self.with_text.then_some(text),
            thought: is_thought,
        });
        self.before_ns = self.before_ns.max(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reply in chunks, of which one ends between two lines and one is blank.
    fn lines() -> Vec<u8> {
        let pieces = [
            "{\"thinking\":\"hm\",\"a\":1}\n",
            "\n{\"response\":\"\u{e9}\"}",
            "\n",
            "{\"eval_count\":5}\n",
        ];
        let chunks = pieces.map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len())).concat();
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        format!("{head}{chunks}0\r\n\r\n").into_bytes()
    }

    fn heard(chunks: &[(&[u8], u64)]) -> Option<TracedReply> {
        let mut heard = Heard::new(100, true);
        chunks.iter().for_each(|(bytes, now)| heard.take(bytes, *now));
        heard.reply()
    }

    #[test]
    fn a_reply_is_read_wherever_it_is_cut() {
        let whole = lines();
        for cut in 0..whole.len() {
            let reply = heard(&[(&whole[..cut], 150), (&whole[cut..], 250)]).unwrap();
            let steps: Vec<_> = reply
                .steps
                .iter()
                .map(|step| (step.text.as_deref().unwrap(), step.thought, step.tokens))
                .collect();
            assert_eq!(steps, [("hm", true, 3), ("\u{e9}", false, 2)], "cut at {cut}");
            let gaps: u64 = reply.steps.iter().map(|step| step.gap_ns).sum();
            assert!(gaps == 50 || gaps == 150, "cut at {cut}: {gaps}");
        }
    }

    #[test]
    fn events_are_read_and_refusals_are_not() {
        let event = "data: {\"choices\":[{\"delta\":{\"content\":\"ab\"}}]}\n\n";
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
        let text = format!("{head}{event}: hello\n{event}data: [DONE]\n\n");
        let reply = heard(&[(text.as_bytes(), 300)]).unwrap();
        let gaps: Vec<u64> = reply.steps.iter().map(|step| step.gap_ns).collect();
        assert_eq!(gaps, [200, 0]);
        let refused = text.replace("200 OK", "503 Busy");
        assert_eq!(heard(&[(refused.as_bytes(), 300)]), None);
        assert_eq!(heard(&[(head.as_bytes(), 300)]), None);
    }
}
