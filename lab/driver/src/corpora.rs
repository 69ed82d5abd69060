//! Corpora: made once by `lab corpus`, kept, and checked by it when they are there already.

use std::{
    collections::BTreeMap,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use lab_family::Corpus;

use crate::{DriverError, child::stop_group, guard};

/// Between two looks at one that is made. No run goes on meanwhile.
const LOOK: Duration = Duration::from_millis(5);

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
    pub(crate) fn folder(
        &mut self,
        corpus: &Corpus,
        interrupt: &AtomicBool,
    ) -> Result<&Path, DriverError> {
        if !self.ready.contains_key(corpus) {
            let folder = self.folder.join(name(corpus));
            self.make(corpus, &folder, interrupt)?;
            self.ready.insert(corpus.clone(), folder);
        }
        Ok(&self.ready[corpus])
    }

    fn make(
        &self,
        corpus: &Corpus,
        folder: &Path,
        interrupt: &AtomicBool,
    ) -> Result<(), DriverError> {
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
        // A group of its own, as the paced server.
        let mut child = guard::mark(&mut command)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| DriverError::Lab(format!("cannot start `lab corpus`: {error}")))?;
        let place = folder.display();
        match wait(&mut child, interrupt) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(DriverError::Lab(format!(
                "`lab corpus {place}` exited with {status}; its message is above"
            ))),
            None => Err(DriverError::Lab(format!("`lab corpus {place}` was interrupted"))),
        }
    }
}

/// How it ended by itself. `None` where the user wants to stop, which ends it: a corpus that is not
/// whole is made anew.
fn wait(child: &mut Child, interrupt: &AtomicBool) -> Option<ExitStatus> {
    while !interrupt.load(Ordering::Relaxed) {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(LOOK);
    }
    stop_group(child);
    None
}

/// All that decides its bytes.
fn name(corpus: &Corpus) -> String {
    let Corpus { files, bytes, seed, skew, hostile } = corpus;
    let (skew, hostile) =
        (if *skew { "-skew" } else { "" }, if *hostile { "-hostile" } else { "" });
    format!("{files}-files-{bytes}-bytes-seed-{seed}{skew}{hostile}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_that_takes_long_does_not_hold_who_wants_to_stop() {
        let home = tempfile::tempdir().unwrap();
        let lab = crate::child::hanging(home.path());
        let mut corpora = Corpora::new(&lab, home.path());
        let corpus = Corpus { files: 1, bytes: 1, seed: 1, skew: false, hostile: false };
        let stopped = corpora.folder(&corpus, &AtomicBool::new(true)).unwrap_err().to_string();
        assert!(stopped.ends_with("was interrupted"), "{stopped}");
        assert!(corpora.ready.is_empty());
    }
}
