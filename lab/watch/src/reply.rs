//! What a whole reply must say of itself, as `lab run` asks of it: a server that answers with
//! nothing, or with another model, is not healthy.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// Tokens that one line may carry, and tokens of a reply beyond that (see the laws of the family
/// `runtimes`): a server holds text back until its bytes are whole characters.
const TOKENS_A_LINE: u64 = 4;
const TOKENS_HELD_BACK: u64 = 16;
/// Two clocks differ by less. Gateways and stand-ins write durations that are only about right;
/// one that is too long by less than a second says nothing of a server's health.
const CLOCKS_APART: f64 = 1.01;
const CLOCKS_APART_NS: f64 = 1e9;
/// So much of what a server says stands in a reason.
const EXCERPT_CHARS: usize = 200;

/// What one line of a stream says, whatever the server speaks.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// It has text of the answer.
    pub(crate) answer: bool,
    /// It has text of a thought, which models have before an answer.
    pub(crate) thought: bool,
    /// It ends the reply.
    pub(crate) end: bool,
    /// The server's own sentence on what went wrong.
    pub(crate) error: Option<String>,
    /// Empty where it is not named.
    pub(crate) model: String,
    pub(crate) account: Account,
}

/// What a server counts. What it does not say is not known.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Account {
    pub(crate) tokens: Option<i64>,
    pub(crate) prompt_tokens: Option<i64>,
    /// Those of the prompt that were not evaluated anew.
    pub(crate) cached_tokens: Option<i64>,
    /// Names and nanoseconds.
    pub(crate) durations: Vec<(&'static str, i64)>,
    /// How the server names its count of tokens.
    pub(crate) name: &'static str,
    /// Whether a line has a few tokens at most.
    pub(crate) few_a_line: bool,
}

/// The keys of a line of Ollama's stream that matter here.
#[derive(Deserialize)]
struct OllamaLine {
    #[serde(default)]
    response: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    done: bool,
    error: Option<Value>,
    #[serde(default)]
    model: String,
    eval_count: Option<i64>,
    eval_duration: Option<i64>,
    prompt_eval_count: Option<i64>,
    prompt_eval_cached_count: Option<i64>,
    prompt_eval_duration: Option<i64>,
    load_duration: Option<i64>,
    total_duration: Option<i64>,
}

/// Reads a line of Ollama's stream.
pub(crate) fn ollama(text: &str) -> Result<Piece, String> {
    let line: OllamaLine = serde_json::from_str(text).map_err(|_| broken(text))?;
    let durations = [
        ("eval_duration", line.eval_duration),
        ("prompt_eval_duration", line.prompt_eval_duration),
        ("load_duration", line.load_duration),
        ("total_duration", line.total_duration),
    ];
    Ok(Piece {
        answer: !line.response.is_empty(),
        thought: !line.thinking.is_empty(),
        end: line.done,
        error: line.error.as_ref().map(sentence),
        model: line.model,
        account: Account {
            tokens: line.eval_count,
            prompt_tokens: line.prompt_eval_count,
            cached_tokens: line.prompt_eval_cached_count,
            durations: durations.iter().filter_map(|(name, ns)| Some((*name, (*ns)?))).collect(),
            name: "eval_count",
            few_a_line: true,
        },
    })
}

/// The sentence in an error, which is a string, or an object with a message.
pub(crate) fn sentence(error: &Value) -> String {
    let said = error.as_str().or_else(|| error["message"].as_str());
    excerpt(said.unwrap_or(&error.to_string()))
}

/// The sentence in the body of a refusal; the body's beginning where there is none.
pub(crate) fn refusal(body: &str) -> String {
    let said = serde_json::from_str::<Value>(body).ok();
    let error = said.as_ref().and_then(|said| said.get("error").or(said.get("detail")));
    error.map_or_else(|| excerpt(body), sentence)
}

pub(crate) fn broken(text: &str) -> String {
    format!("broken JSON in line `{}`", excerpt(text))
}

pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

impl Account {
    /// Keeps what a later line says of itself.
    pub(crate) fn learn(&mut self, later: Self) {
        let Self { tokens, prompt_tokens, cached_tokens, durations, name, few_a_line } = later;
        self.tokens = tokens.or(self.tokens);
        self.prompt_tokens = prompt_tokens.or(self.prompt_tokens);
        self.cached_tokens = cached_tokens.or(self.cached_tokens);
        self.durations.extend(durations);
        (self.name, self.few_a_line) = (name, few_a_line);
    }

    /// Whether the account of the whole reply can be true: `lines` had text, at most
    /// `asked_tokens` were asked for, and the request took so long.
    pub(crate) fn check(
        &self,
        lines: u64,
        asked_tokens: u64,
        took: Duration,
    ) -> Result<(), String> {
        self.check_tokens(lines, asked_tokens)?;
        if let Some(count) = self.prompt_tokens.filter(|count| *count < 0) {
            return Err(format!("prompt_eval_count is {count}: impossible"));
        }
        let prompt_tokens = self.prompt_tokens.unwrap_or(i64::MAX);
        if let Some(count) = self.cached_tokens.filter(|n| !(0..=prompt_tokens).contains(n)) {
            return Err(format!("{count} tokens of the prompt were cached: impossible"));
        }
        let most_ns = took.as_nanos() as f64 * CLOCKS_APART + CLOCKS_APART_NS;
        for (name, ns) in &self.durations {
            if *ns < 0 || *ns as f64 > most_ns {
                let took = took.as_nanos();
                return Err(format!("{name} is {ns} ns of a request of {took} ns: impossible"));
            }
        }
        Ok(())
    }

    fn check_tokens(&self, lines: u64, asked_tokens: u64) -> Result<(), String> {
        // A server that sends several tokens a line may also cut one in two.
        let least = if self.few_a_line { lines } else { 1 };
        if least > asked_tokens {
            return Err(format!("the reply has {lines} tokens; asked were {asked_tokens}"));
        }
        let Some(count) = self.tokens else { return Ok(()) };
        let most = match self.few_a_line {
            true => (lines * TOKENS_A_LINE + TOKENS_HELD_BACK).min(asked_tokens),
            false => asked_tokens,
        };
        if u64::try_from(count).is_ok_and(|count| (least..=most).contains(&count)) {
            return Ok(());
        }
        Err(format!(
            "{} is {count}, but {lines} lines had text and {asked_tokens} tokens were asked for",
            self.name
        ))
    }
}

/// No line may name another model than the one that was asked for, and the last must name it.
/// A dated name, as gateways have it, is the asked one's.
pub(crate) fn check_model(piece: &Piece, asked: &str) -> Result<(), String> {
    match piece.model.as_str() {
        "" if piece.end => Err(format!("the reply does not name its model; asked was {asked}")),
        "" => Ok(()),
        said if untagged(said) == untagged(asked) => Ok(()),
        said => Err(format!("the server ran the model {said}; asked was {asked}")),
    }
}

/// Ollama's tag `latest` may be left out.
fn untagged(model: &str) -> &str {
    model.strip_suffix(":latest").unwrap_or(model)
}
