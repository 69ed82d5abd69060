//! Why a run has no numbers; panics too.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a run has no numbers; the text is the outcome's `reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// The variant cannot do this workload, or the machine lacks a program; the sentence says what.
    Unsupported(String),
    /// The variant failed at it; the sentence says how, and what can be done.
    Failed(String),
}

impl RunError {
    /// The variant cannot do this workload.
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::Unsupported(sentence.into())
    }

    /// The variant failed.
    pub fn failed(error: impl ToString) -> Self {
        Self::Failed(error.to_string())
    }

    /// The variant, its runtime or something that it starts could not be set up.
    pub fn setup(error: impl fmt::Display) -> Self {
        Self::Failed(format!("cannot set up the variant: {error}"))
    }

    /// The variant panicked; the text is that of the panic, if it has one.
    pub fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::Failed(format!("the variant panicked: {}", text.unwrap_or_default()))
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unsupported(sentence) | Self::Failed(sentence)) = self;
        f.write_str(sentence)
    }
}

impl std::error::Error for RunError {}

/// What `work` gives, and its panic as an error.
///
/// # Errors
/// Those of `work`, and [`RunError::panicked`].
pub fn caught<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    let result = catch_unwind(AssertUnwindSafe(work));
    result.unwrap_or_else(|panic| Err(RunError::panicked(&*panic)))
}
