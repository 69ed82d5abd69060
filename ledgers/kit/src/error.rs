//! Why a run has no numbers.

use crate::Answer;

/// Why a run has no numbers.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The variant cannot do this workload; the sentence says what it lacks.
    #[error("{0}")]
    Unsupported(String),
    /// The variant's runtime could not be set up.
    #[error("cannot set up the variant: {0}")]
    Setup(String),
    /// Money came from nowhere or went there.
    #[error(
        "repetition {repetition} breaks the conservation law: total {}, deposited {}, \
         withdrawn {}, charged back {}",
        .answer.total, .answer.deposited, .answer.withdrawn, .answer.charged_back
    )]
    NotConserved {
        /// From 0, warm-up included.
        repetition: u32,
        /// What it left.
        answer: Box<Answer>,
    },
    /// The answer is not the sequential oracle's.
    #[error("repetition {repetition} left {found:?}, the sequential oracle {expected:?}")]
    WrongAnswer {
        /// From 0, warm-up included.
        repetition: u32,
        /// What it left.
        found: Box<Answer>,
        /// What it had to leave.
        expected: Box<Answer>,
    },
    /// The variant panicked; the text is that of the panic.
    #[error("the variant panicked: {0}")]
    Panicked(String),
}

impl RunError {
    /// The variant cannot do this workload.
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::Unsupported(sentence.into())
    }

    /// The variant's runtime could not be set up.
    pub fn setup(error: impl ToString) -> Self {
        Self::Setup(error.to_string())
    }
}
