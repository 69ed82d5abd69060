//! Corpora: made once by `lab corpus`, kept, and checked by it when they are there already. One of
//! several sessions reads copies of its own: where a file lies on the disk and in memory is drawn
//! anew.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use lab_family::Corpus;
use lab_process::Run;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::{DriverError, held::Held};

/// Where corpora lie, and which of them this sweep has seen to.
#[derive(Debug)]
pub(crate) struct Corpora {
    lab: PathBuf,
    folder: PathBuf,
    /// Where the copies of this session lie, in one of several.
    copies: Option<PathBuf>,
    ready: BTreeMap<Corpus, Ready>,
}

/// A corpus, checked byte by byte, and its files as they must stay.
#[derive(Debug)]
struct Ready {
    folder: PathBuf,
    held: Vec<Held>,
}

impl Corpora {
    pub(crate) fn new(lab: &Path, folder: &Path, copies: Option<PathBuf>) -> Self {
        Self { lab: lab.to_owned(), folder: folder.to_owned(), copies, ready: BTreeMap::new() }
    }

    /// The folder of a corpus, made where it is not there yet.
    pub(crate) fn folder(
        &mut self,
        corpus: &Corpus,
        interrupt: &AtomicBool,
    ) -> Result<&Path, DriverError> {
        if !self.ready.contains_key(corpus) {
            let mut folder = self.folder.join(name(corpus));
            self.make(corpus, &folder, interrupt)?;
            if let Some(copies) = &self.copies {
                let to = copies.join(name(corpus));
                copy_folder(&folder, &to).map_err(|error| failed("copy", corpus, &error))?;
                folder = to;
            }
            let what = format!("the corpus {}", name(corpus));
            // The check reads all in again.
            let_go(&folder).map_err(|error| failed("let go of the pages of", corpus, &error))?;
            let held =
                Held::below(&what, &folder).map_err(|error| failed("look at", corpus, &error))?;
            // After the look: what is changed meanwhile is found by this or by the next one.
            self.check(&folder, interrupt)?;
            self.ready.insert(corpus.clone(), Ready { folder, held });
        }
        Ok(&self.ready[corpus].folder)
    }

    /// The files of a corpus, once it is there.
    pub(crate) fn held(&self, corpus: &Corpus) -> &[Held] {
        self.ready.get(corpus).map_or(&[], |ready| &ready.held)
    }

    /// Those of all.
    pub(crate) fn all_held(&self) -> impl Iterator<Item = &Held> {
        self.ready.values().flat_map(|ready| &ready.held)
    }

    /// That every byte is as the corpus's manifest says: one that is kept is looked at by its sizes
    /// alone when it is asked for.
    fn check(&self, folder: &Path, interrupt: &AtomicBool) -> Result<(), DriverError> {
        let arguments = [OsStr::new("corpus"), folder.as_os_str(), OsStr::new("--check")];
        run(
            Run::of(&self.lab, arguments),
            &format!("lab corpus {} --check", folder.display()),
            interrupt,
        )
    }

    fn make(
        &self,
        corpus: &Corpus,
        folder: &Path,
        interrupt: &AtomicBool,
    ) -> Result<(), DriverError> {
        let mut arguments: Vec<OsString> = vec!["corpus".into(), folder.into()];
        for (flag, value) in [
            ("--files", u64::from(corpus.files)),
            ("--bytes", corpus.bytes),
            ("--seed", corpus.seed),
        ] {
            arguments.extend([flag.into(), value.to_string().into()]);
        }
        for (flag, wanted) in [("--skew", corpus.skew), ("--hostile", corpus.hostile)] {
            if wanted {
                arguments.push(flag.into());
            }
        }
        run(Run::of(&self.lab, arguments), &format!("lab corpus {}", folder.display()), interrupt)
    }
}

fn failed(what: &str, corpus: &Corpus, error: &io::Error) -> DriverError {
    DriverError::Lab(format!("cannot {what} the corpus {}: {error}", name(corpus)))
}

/// Runs `lab corpus` to its end. Where the user wants to stop it is ended: a corpus that is not
/// whole is made anew.
fn run(run: Run, shown: &str, interrupt: &AtomicBool) -> Result<(), DriverError> {
    let finished = Run { shows_errors: true, ..run }.execute(interrupt);
    let finished = finished
        .map_err(|error| DriverError::Lab(format!("cannot start `lab corpus`: {error}")))?;
    match finished.ended.status() {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            Err(DriverError::Lab(format!("`{shown}` exited with {status}; its message is above")))
        }
        None => Err(DriverError::Lab(format!("`{shown}` was interrupted"))),
    }
}

/// Copies a folder to new files.
///
/// # Errors
/// Where something cannot be read or written; what was copied until then stays.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()?.is_dir() {
            true => copy_folder(&from, &to)?,
            false => drop(fs::copy(&from, &to)?),
        }
    }
    Ok(())
}

/// Has the kernel keep no page of a folder's files. How pages came to be kept decides how many a
/// fault maps: of files that were written in small pieces 64 KiB, of those that were read ahead
/// several hundred (`tools/search/pages`, on ext4 with large folios).
fn let_go(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let_go(&entry.path())?;
            continue;
        }
        let file = File::open(entry.path())?;
        // Pages that are not on the disk yet are kept.
        file.sync_all()?;
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    }
    Ok(())
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
    use std::process::Command;

    use super::*;

    /// A program in this folder that does nothing for long. By another process: one that is still
    /// open for writing, by a test beside this one, cannot be started.
    fn hanging(folder: &Path) -> PathBuf {
        let script = "printf '#!/bin/sh\\nexec sleep 100\\n' >hanging && chmod +x hanging";
        let made = Command::new("sh").args(["-c", script]).current_dir(folder).status().unwrap();
        assert!(made.success());
        folder.join("hanging")
    }

    #[test]
    fn a_corpus_that_takes_long_does_not_hold_who_wants_to_stop() {
        let home = tempfile::tempdir().unwrap();
        let lab = hanging(home.path());
        let mut corpora = Corpora::new(&lab, home.path(), None);
        let corpus = Corpus { files: 1, bytes: 1, seed: 1, skew: false, hostile: false };
        let stopped = corpora.folder(&corpus, &AtomicBool::new(true)).unwrap_err().to_string();
        assert!(stopped.ends_with("was interrupted"), "{stopped}");
        assert!(corpora.ready.is_empty());
    }

    /// A `lab` that makes a corpus of one file, and says of every one that it fits.
    fn easy(folder: &Path, check: &str) -> PathBuf {
        let script = format!(
            "#!/bin/sh\n[ \"$3\" != --check ] || {check}\n\
             mkdir -p \"$2\" && [ -e \"$2/a.jsonl\" ] || echo 1 >\"$2/a.jsonl\"\n"
        );
        let lab = folder.join("lab");
        let write = "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"";
        // By another process, as in `hanging`.
        let status = Command::new("sh").args(["-c", write, "sh", &script]).arg(&lab).status();
        assert!(status.unwrap().success());
        lab
    }

    const CORPUS: Corpus = Corpus { files: 1, bytes: 2, seed: 1, skew: false, hostile: false };

    #[test]
    fn a_corpus_that_is_changed_between_two_runs_is_named() {
        let cases: [(&str, &str, &str); 5] = [
            ("a byte of a corpus", "echo 2 > a.jsonl", "a.jsonl in the corpus 1-files"),
            ("a file more in a corpus", "echo 1 > b.jsonl", "the corpus 1-files-2-bytes"),
            ("a file less in a corpus", "rm a.jsonl", "is gone"),
            ("a link in a corpus", "mv a.jsonl x && ln -s x a.jsonl", "a.jsonl in the corpus"),
            (
                "a corpus put back with its times",
                "cp -p a.jsonl x; echo 2 > a.jsonl; cat x > a.jsonl; touch -r x a.jsonl; rm x",
                "was changed",
            ),
        ];
        for (name, attack, said) in cases {
            let _attack = proof_kit::Attack::on("programs", name);
            let home = tempfile::tempdir().unwrap();
            let mut corpora = Corpora::new(&easy(home.path(), "exit 0"), home.path(), None);
            let never = AtomicBool::new(false);
            let folder = corpora.folder(&CORPUS, &never).unwrap().to_owned();
            assert!(corpora.held(&CORPUS).iter().all(|held| held.change().is_none()));
            let shell = Command::new("sh").args(["-c", attack]).current_dir(&folder).status();
            assert!(shell.unwrap().success());
            let found: Vec<String> = corpora.all_held().filter_map(Held::change).collect();
            assert!(found.iter().any(|one| one.contains(said)), "{name}: {found:?}");
        }
    }

    #[test]
    fn a_session_reads_files_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let copies = home.path().join("copies");
        let easy = easy(home.path(), "exit 0");
        let mut corpora = Corpora::new(&easy, home.path(), Some(copies.clone()));
        let never = AtomicBool::new(false);
        let folder = corpora.folder(&CORPUS, &never).unwrap().to_owned();
        assert!(folder.starts_with(&copies));
        assert_eq!(fs::read_to_string(folder.join("a.jsonl")).unwrap(), "1\n");
        fs::write(home.path().join(name(&CORPUS)).join("a.jsonl"), "2\n").unwrap();
        assert!(corpora.held(&CORPUS).iter().all(|held| held.change().is_none()));
        fs::write(folder.join("a.jsonl"), "2\n").unwrap();
        assert!(corpora.held(&CORPUS).iter().any(|held| held.change().is_some()));
    }

    #[test]
    fn a_corpus_that_was_kept_and_is_not_what_its_manifest_says_is_refused() {
        let _attack = proof_kit::Attack::on("programs", "a kept corpus with other bytes");
        let home = tempfile::tempdir().unwrap();
        let mut corpora = Corpora::new(&easy(home.path(), "exit 1"), home.path(), None);
        let refused = corpora.folder(&CORPUS, &AtomicBool::new(false)).unwrap_err().to_string();
        assert!(refused.contains("--check` exited with exit status: 1"), "{refused}");
    }
}
