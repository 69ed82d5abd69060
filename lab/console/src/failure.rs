//! What ends a command before its time.

use std::{fmt::Display, fs, path::Path};

use crate::Exit;

/// A sentence for the person and a code for the script.
#[derive(Clone, Debug)]
pub struct Failure {
    /// For the script.
    pub exit: Exit,
    /// For the person.
    pub sentence: String,
}

impl Failure {
    /// What was asked cannot be done so.
    pub fn input(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Input, sentence: sentence.into() }
    }

    /// The lab itself failed.
    pub fn lab(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Internal, sentence: sentence.into() }
    }

    /// Something that was run or checked failed.
    pub fn failed(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, sentence: sentence.into() }
    }

    /// The user ended it.
    pub fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, sentence: "interrupted".to_owned() }
    }

    /// Something is wrong with files; the sentence says with which.
    pub fn files(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::File, sentence: sentence.into() }
    }

    /// Something is wrong with a file.
    pub fn file(path: &Path, what: impl Display) -> Self {
        Self::files(format!("{}: {what}", path.display()))
    }

    /// A file cannot be read.
    pub fn reading(path: &Path, error: impl Display) -> Self {
        Self::files(format!("cannot read {}: {error}", path.display()))
    }

    /// A file cannot be written.
    pub fn writing(path: &Path, error: impl Display) -> Self {
        Self::files(format!("cannot write {}: {error}", path.display()))
    }
}

/// Writes a file.
///
/// # Errors
/// With the sentence of [`Failure::writing`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::writing(path, error))
}

impl From<lab_driver::DriverError> for Failure {
    fn from(error: lab_driver::DriverError) -> Self {
        use lab_driver::DriverError::{Changed, Input, Lab, Record, Resume, Server};
        let exit = match error {
            Input(_) => Exit::Input,
            Server(_) => Exit::Server,
            Resume(_) | Record(_) | Changed(_) => Exit::File,
            Lab(_) => Exit::Internal,
        };
        Self { exit, sentence: error.to_string() }
    }
}

impl From<lab_record::RecordError> for Failure {
    fn from(error: lab_record::RecordError) -> Self {
        Self::files(error.to_string())
    }
}

impl From<lab_plan::InputError> for Failure {
    fn from(error: lab_plan::InputError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::lab(format!("{error:#}"))
    }
}
