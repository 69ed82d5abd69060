//! Why a run has no numbers.

use std::io;

/// Why a run has no numbers.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine cannot do this workload; the sentence says what it lacks.
    #[error("{0}")]
    Unsupported(String),
    /// The engine's runtime could not be set up.
    #[error("cannot set up the engine: {0}")]
    Setup(String),
    /// The corpus is not there.
    #[error("cannot walk the corpus {corpus}: {source}")]
    Walk {
        /// The workload's folder.
        corpus: String,
        /// Why.
        source: io::Error,
    },
    /// The page cache does not let go of the corpus.
    #[error("cannot drop the corpus {corpus} from the page cache: {source}")]
    Evict {
        /// The workload's folder.
        corpus: String,
        /// Why.
        source: io::Error,
    },
    /// The engine panicked; the text is that of the panic.
    #[error("the engine panicked: {0}")]
    Panicked(String),
}

impl RunError {
    /// The engine cannot do this workload.
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::Unsupported(sentence.into())
    }

    /// The engine's runtime could not be set up.
    pub fn setup(error: impl ToString) -> Self {
        Self::Setup(error.to_string())
    }
}
