//! `lab run --shard 2/4`: the sessions of one machine among several.
//!
//! An engine may run a shard twice, when it believes a machine dead that is only cut off. So each
//! attempt has a folder of its own, and the first complete one takes the session's place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Failure;

/// Another one at each reading, on every machine.
const UUID: &str = "/proc/sys/kernel/random/uuid";

/// Of attempts, beside the sessions.
pub(crate) const ATTEMPTS: &str = "attempts";

/// Every `of`th session, from the `index`th on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        numbers
            .filter(|(index, of)| (1..=*of).contains(index))
            .map(|(index, of)| Self { index, of })
            .ok_or("give which of how many, such as 2/4".to_owned())
    }

    /// Whether the session at this place, from 0, is one of its own.
    pub(super) fn has(self, place: usize) -> bool {
        place % self.of == self.index - 1
    }
}

/// The folder of a new attempt at a session.
pub(super) fn attempt(folder: &Path, number: u32) -> Result<PathBuf, Failure> {
    let attempts = folder.join(ATTEMPTS);
    fs::create_dir_all(&attempts).map_err(|error| Failure::file(&attempts, error))?;
    let mark =
        fs::read_to_string(UUID).map_err(|error| Failure::reading(Path::new(UUID), error))?;
    Ok(attempts.join(format!("{number}-{}", mark.trim())))
}

/// Puts a complete attempt in the session's place; where another one is there already it stays
/// where it is, and that is said. A rename onto a folder that holds something fails, whoever else
/// renames at the same time.
pub(super) fn publish(attempt: &Path, session: &Path) -> Result<Option<String>, Failure> {
    match fs::rename(attempt, session) {
        Ok(()) => Ok(None),
        Err(_) if session.join("run.json").exists() => Ok(Some(format!(
            "{} was complete before: {} is superseded and stays",
            session.display(),
            attempt.display()
        ))),
        Err(error) => Err(Failure::files(format!(
            "{} is complete and cannot be moved to {}: {error}; move it by hand",
            attempt.display(),
            session.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_each_session_once() {
        let shards: Vec<Shard> =
            (1..=4).map(|index| Shard::parse(&format!("{index}/4")).unwrap()).collect();
        for place in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(place)).count(), 1, "{place}");
        }
        for wrong in ["", "2", "0/4", "5/4", "1/0", "a/b", "-1/4"] {
            assert!(Shard::parse(wrong).unwrap_err().contains("such as 2/4"), "{wrong}");
        }
    }

    #[test]
    fn of_attempts_that_end_at_once_one_is_published_and_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("1");
        let attempts: Vec<PathBuf> = (0..8)
            .map(|number| {
                let attempt = attempt(folder.path(), 1).unwrap();
                fs::create_dir(&attempt).unwrap();
                fs::write(attempt.join("run.json"), number.to_string()).unwrap();
                attempt
            })
            .collect();
        let won = std::thread::scope(|scope| {
            let ends: Vec<_> = (attempts.iter())
                .map(|attempt| scope.spawn(|| publish(attempt, &session).unwrap()))
                .collect();
            ends.into_iter().map(|end| end.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(won.iter().filter(|said| said.is_none()).count(), 1, "{won:?}");
        let left = attempts.iter().filter(|attempt| attempt.join("run.json").exists());
        assert_eq!(left.count(), 7);
        assert!(session.join("run.json").exists());
    }
}
