//! Why a run has no numbers.

/// Why a run has no numbers.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The policy cannot do this test; the sentence says what it lacks.
    #[error("{0}")]
    Unsupported(String),
    /// The runtime, the pool or the policy could not be set up.
    #[error("cannot set up the variant: {0}")]
    Setup(String),
    /// Items are missing or came out of order.
    #[error("repetition {repetition} of the stream came to {found}, every item once to {expected}")]
    WrongAnswer {
        /// From 0, warm-up included.
        repetition: u32,
        /// What came out.
        found: i64,
        /// What had to.
        expected: i64,
    },
    /// The policy does not keep up with the load.
    #[error("more than {bound} jobs were in flight: this policy does not keep up with the load")]
    Overloaded {
        /// The most that may be in flight.
        bound: u32,
    },
    /// The variant panicked; the text is that of the panic.
    #[error("the variant panicked: {0}")]
    Panicked(String),
}

impl RunError {
    /// The policy cannot do this test.
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::Unsupported(sentence.into())
    }

    /// Something could not be set up.
    pub fn setup(error: impl ToString) -> Self {
        Self::Setup(error.to_string())
    }
}
