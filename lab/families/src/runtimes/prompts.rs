//! What agents ask: a few words, or as many as their context takes.

use lab_family::{Address, InputError};
use lab_protocol::runtimes::Options;
use schemars::JsonSchema;
use serde::Deserialize;

/// The factor that says how long prompts are; without it they are short.
pub(crate) const PROMPT: &str = "prompt";
/// Its levels.
pub(crate) const PROMPTS: [&str; 2] = ["short", "full"];

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// It gathers data.
    Collector,
    /// It draws conclusions.
    Insight,
}

/// An agent's two questions; to the second one the variant appends what it parsed from the reply
/// before. Short, because a real small model reads about 80 tokens a second.
type Questions = [&'static str; 2];

/// Without roles all agents ask the same.
const ANY: Questions = [
    "Name the three numbers in a benchmark report that matter most, and say why.",
    "Write a short report for an engineer from this analysis.",
];
const COLLECTOR: Questions = [
    "List the numbers of a benchmark report that should be collected, each with its unit.",
    "Write the data that was collected as a short list for a colleague who draws conclusions.",
];
const INSIGHT: Questions = [
    "Say what can be concluded from the numbers of a benchmark report, and what cannot.",
    "Write a short report for an engineer from these conclusions.",
];

/// Tokens of a context beside filling and reply: what a server puts around a prompt, the question,
/// and what the variant appends to it.
const KEPT_FREE: i64 = 160;

/// Common words, which tokenizers keep whole: one token each, give or take a few.
const WORDS: &str = "the time of a run is the time that the last of its parts took and the next \
                     line says the same of another run on the other side of the house";

/// Whether the prompts of a cell fill their contexts.
///
/// # Errors
/// Another level than those of [`PROMPTS`].
pub(crate) fn are_full(file: &str, at: &Address<'_>) -> Result<bool, InputError> {
    match at.cell.get(PROMPT).map(String::as_str) {
        None | Some("short") => Ok(false),
        Some("full") => Ok(true),
        Some(level) => {
            let message = format!("`{level}` is neither `short` nor `full`");
            Err(InputError::value(file, "cells.prompt", message))
        }
    }
}

/// What an agent asks in its call, after its filling.
pub(crate) fn prompt(role: Option<Role>, call: usize, options: &Options, is_full: bool) -> String {
    let questions = match role {
        None => ANY,
        Some(Role::Collector) => COLLECTOR,
        Some(Role::Insight) => INSIGHT,
    };
    let question = questions[call];
    if is_full { format!("{}\n{question}", filling(options)) } else { question.to_owned() }
}

/// About as many tokens as are left beside the reply; none where the server chooses the context.
fn filling(options: &Options) -> String {
    let left = options.num_ctx.unwrap_or(0) - options.num_predict - KEPT_FREE;
    let words = WORDS.split(' ').cycle().take(usize::try_from(left).unwrap_or(0));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(num_ctx: Option<i64>) -> Options {
        Options {
            num_gpu: None,
            num_ctx,
            num_thread: None,
            temperature: None,
            seed: 1,
            num_predict: 64,
        }
    }

    fn words(num_ctx: Option<i64>) -> usize {
        prompt(None, 0, &options(num_ctx), true).split_whitespace().count()
    }

    #[test]
    fn a_full_prompt_and_its_reply_fill_the_context_and_no_more() {
        let question = ANY[0].split_whitespace().count();
        for context in [512, 1024, 2048] {
            assert_eq!(words(Some(context)) + 64 + 160, context as usize + question);
        }
        // Nothing to fill, or nobody knows how much.
        assert_eq!((words(Some(128)), words(None)), (question, question));
    }

    #[test]
    fn roles_ask_their_own_questions() {
        let asked = |role| prompt(role, 1, &options(None), false);
        let [any, collector, insight] =
            [None, Some(Role::Collector), Some(Role::Insight)].map(asked);
        assert!(any != collector && collector != insight && any != insight);
    }
}
