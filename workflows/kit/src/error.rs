//! Why a run has no numbers.

/// Why a run has no numbers.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The variant cannot do this workload, or lacks a program; the sentence says what.
    #[error("{0}")]
    Unsupported(String),
    /// The back end could not be set up.
    #[error("cannot set up the back end: {0}")]
    Setup(String),
    /// The back end stopped while tasks were under way; the sentence says what can be done.
    #[error("{0}")]
    Failed(String),
    /// The variant panicked; the text is that of the panic.
    #[error("the variant panicked: {0}")]
    Panicked(String),
}

impl RunError {
    /// The variant cannot do this workload.
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::Unsupported(sentence.into())
    }

    /// The back end could not be set up.
    pub fn setup(error: impl ToString) -> Self {
        Self::Setup(error.to_string())
    }

    /// The back end stopped.
    pub fn failed(error: impl ToString) -> Self {
        Self::Failed(error.to_string())
    }
}
