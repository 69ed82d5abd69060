//! What a whole reply must say of itself, as `lab run` asks of it: a server that answers with
//! nothing, or with another model, is not healthy.

use std::time::Duration;

use serde::Deserialize;

/// Tokens that one line may carry, and tokens of a reply beyond that (see the laws of the family
/// `runtimes`): a server holds text back until its bytes are whole characters.
const TOKENS_A_LINE: u64 = 4;
const TOKENS_HELD_BACK: u64 = 16;
/// Two clocks differ by less.
const CLOCKS_APART: f64 = 1.01;
const CLOCKS_APART_NS: f64 = 1e7;

/// The keys of a line of Ollama's stream that matter here.
#[derive(Deserialize)]
pub(crate) struct Line {
    #[serde(default)]
    pub(crate) response: String,
    #[serde(default)]
    pub(crate) done: bool,
    pub(crate) error: Option<String>,
    #[serde(default)]
    model: String,
    eval_count: Option<i64>,
    eval_duration: Option<i64>,
    prompt_eval_count: Option<i64>,
    prompt_eval_duration: Option<i64>,
    load_duration: Option<i64>,
    total_duration: Option<i64>,
}

impl Line {
    /// No line may name another model than the one that was asked for, and the last must name it.
    pub(crate) fn check_model(&self, asked: &str) -> Result<(), String> {
        match self.model.as_str() {
            "" if self.done => Err(format!("the reply does not name its model; asked was {asked}")),
            "" => Ok(()),
            said if untagged(said) == untagged(asked) => Ok(()),
            said => Err(format!("the server ran the model {said}; asked was {asked}")),
        }
    }

    /// Whether the last line's account of the reply can be true: `lines` had text, at most
    /// `asked_tokens` were asked for, and the request took so long.
    pub(crate) fn check_account(
        &self,
        lines: u64,
        asked_tokens: u64,
        took: Duration,
    ) -> Result<(), String> {
        if lines == 0 {
            return Err("the reply is empty".to_owned());
        }
        if lines > asked_tokens {
            return Err(format!("the reply has {lines} tokens; asked were {asked_tokens}"));
        }
        if let Some(count) = self.eval_count {
            let most = (lines * TOKENS_A_LINE + TOKENS_HELD_BACK).min(asked_tokens);
            if !u64::try_from(count).is_ok_and(|count| (lines..=most).contains(&count)) {
                return Err(format!(
                    "eval_count is {count}, but {lines} lines had text and {asked_tokens} tokens \
                     were asked for"
                ));
            }
        }
        if let Some(count) = self.prompt_eval_count.filter(|count| *count < 0) {
            return Err(format!("prompt_eval_count is {count}: impossible"));
        }
        let most_ns = took.as_nanos() as f64 * CLOCKS_APART + CLOCKS_APART_NS;
        for (name, said) in [
            ("eval_duration", self.eval_duration),
            ("prompt_eval_duration", self.prompt_eval_duration),
            ("load_duration", self.load_duration),
            ("total_duration", self.total_duration),
        ] {
            if let Some(ns) = said.filter(|ns| *ns < 0 || *ns as f64 > most_ns) {
                let took = took.as_nanos();
                return Err(format!("{name} is {ns} ns of a request of {took} ns: impossible"));
            }
        }
        Ok(())
    }
}

/// Ollama's tag `latest` may be left out.
fn untagged(model: &str) -> &str {
    model.strip_suffix(":latest").unwrap_or(model)
}
