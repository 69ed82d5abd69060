//! Corpora: made once by `lab corpus`, kept, and checked by it when they are there already.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use lab_family::Corpus;

use crate::{DriverError, guard};

/// Where corpora lie, and which of them this sweep has seen to.
#[derive(Debug)]
pub(crate) struct Corpora {
    lab: PathBuf,
    folder: PathBuf,
    ready: BTreeMap<Corpus, PathBuf>,
}

impl Corpora {
    pub(crate) fn new(lab: &Path, folder: &Path) -> Self {
        Self { lab: lab.to_owned(), folder: folder.to_owned(), ready: BTreeMap::new() }
    }

    /// The folder of a corpus, made where it is not there yet.
    pub(crate) fn folder(&mut self, corpus: &Corpus) -> Result<&Path, DriverError> {
        if !self.ready.contains_key(corpus) {
            let folder = self.folder.join(name(corpus));
            self.make(corpus, &folder)?;
            self.ready.insert(corpus.clone(), folder);
        }
        Ok(&self.ready[corpus])
    }

    fn make(&self, corpus: &Corpus, folder: &Path) -> Result<(), DriverError> {
        let mut command = Command::new(&self.lab);
        command.arg("corpus").arg(folder);
        for (flag, value) in [
            ("--files", u64::from(corpus.files)),
            ("--bytes", corpus.bytes),
            ("--seed", corpus.seed),
        ] {
            command.arg(flag).arg(value.to_string());
        }
        for (flag, wanted) in [("--skew", corpus.skew), ("--hostile", corpus.hostile)] {
            if wanted {
                command.arg(flag);
            }
        }
        let status = guard::mark(&mut command)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|error| DriverError::Lab(format!("cannot start `lab corpus`: {error}")))?;
        if status.success() {
            return Ok(());
        }
        let place = folder.display();
        Err(DriverError::Lab(format!(
            "`lab corpus {place}` exited with {status}; its message is above"
        )))
    }
}

/// All that decides its bytes.
fn name(corpus: &Corpus) -> String {
    let Corpus { files, bytes, seed, skew, hostile } = corpus;
    let (skew, hostile) =
        (if *skew { "-skew" } else { "" }, if *hostile { "-hostile" } else { "" });
    format!("{files}-files-{bytes}-bytes-seed-{seed}{skew}{hostile}")
}
