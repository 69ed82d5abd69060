//! Kinds of sessions: each is hard for a search in another way.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// What the sessions of a corpus look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Chats with a coding assistant; most lines have less than 2 KB
    #[default]
    Sessions,
    /// The same with lines of 5-50 KB
    LongLines,
    /// The same in files of 2-50 KB, whose number --files gives
    SmallFiles,
    /// Half of the words Cyrillic; characters beyond ASCII as \uXXXX, as Python's json.dumps
    /// writes them; кенгуру beside every quokka
    Escapes,
    /// narwhal in 3 of 10 messages, one to eight times each
    Dense,
    /// Records of a service, 200-300 bytes each; some with colours (\u001b) and stack traces
    Logs,
}

/// Bytes of the smallest and of the largest of the small files, up to the last line's end.
pub(crate) const SMALL_FILE_BYTES: (u64, u64) = (2_000, 50_000);

/// Sentences of a message, each equally often: many short ones, a few long ones.
const SENTENCES: [u64; 16] = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 40];

impl Kind {
    /// Sentences of the next message.
    pub(crate) fn sentences(self, random: &mut Random) -> u64 {
        match self {
            Self::LongLines => 70 + random.below(550),
            _ => SENTENCES[random.below(SENTENCES.len() as u64) as usize],
        }
    }

    /// The most sentences beside the call of a tool.
    pub(crate) fn sentences_beside_tool(self) -> u64 {
        match self {
            Self::LongLines => u64::MAX,
            _ => 4,
        }
    }

    /// How often a planted word stands in a message that has it.
    pub(crate) fn repetitions(self, random: &mut Random) -> u64 {
        match self {
            Self::Dense => 1 + random.below(8),
            _ => 1,
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
