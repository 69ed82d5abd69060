//! `lab run --sessions`: several sessions of experiments, and what holds over each.

use std::{
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use lab_record::{Nuisance, Results, SessionEvent, SessionOf};
use lab_site::records::{load, over};
use serde_json::json;

use super::{Exit, Failure, Paths, RunArgs, one, shard};
use crate::plan::{Question, prepare};

/// More is a typing mistake.
const SESSIONS_MAX: u32 = 64;
/// What holds over sessions, in their folder.
const PAGE: &str = "sessions.md";

/// The sessions of one command: "6" is 1 to 6, "7-12" are six more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers(RangeInclusive<u32>);

impl Numbers {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or(("1", text));
        let number = |text: &str| text.parse::<u32>().ok().filter(|it| *it > 0);
        let numbers = number(first).zip(number(last)).map(|(first, last)| first..=last);
        let sizes = 2..=SESSIONS_MAX as usize;
        numbers
            .filter(|numbers| sizes.contains(&numbers.clone().count()))
            .map(Self)
            .ok_or(format!("give how many, from 2 to {SESSIONS_MAX}, or which, such as 7-12"))
    }

    pub(crate) fn first(count: u32) -> Self {
        Self(1..=count)
    }

    fn each(&self, held: Option<Nuisance>) -> impl Iterator<Item = SessionOf> {
        let sharing = self.0.clone().count() as u32;
        self.0.clone().map(move |number| SessionOf { number, sharing, held })
    }
}

/// An experiment and the folder that its sessions go to.
struct Asked<'a> {
    experiment: &'a Path,
    folder: PathBuf,
}

/// Every session that is not finished yet, then what holds over all. Of several experiments each
/// has one session before any has the next, so that theirs are spread over the whole time; who
/// begins changes from one to the next.
pub(super) fn all(
    args: &RunArgs,
    paths: &Paths,
    numbers: &Numbers,
    out: &Path,
) -> Result<Exit, Failure> {
    let mut asked = asked(args, paths, out)?;
    let sessions: Vec<SessionOf> = numbers.each(args.hold.map(Nuisance::from)).collect();
    let count = sessions.len();
    let mut has_failed = false;
    let is_ours = |place| args.shard.is_none_or(|shard| shard.has(place));
    let ours = sessions.iter().enumerate().filter(|(place, _)| is_ours(*place));
    for (round, session) in ours {
        for one in &asked {
            eprintln!("session {} ({} of {count}) of {}", session.number, round + 1, one.shown());
            match once(args, paths, one, *session)? {
                Some(Exit::Interrupted) => return Ok(Exit::Interrupted),
                end => has_failed |= end == Some(Exit::Failed),
            }
        }
        asked.rotate_left(1);
    }
    // The other sessions are other machines'.
    if args.shard.is_some() {
        return Ok(Exit::failed_if(has_failed));
    }
    for one in &asked {
        let folders: Vec<PathBuf> = sessions.iter().map(|session| one.of(*session)).collect();
        tell(&folders, &one.folder, paths, args.json)?;
    }
    Ok(Exit::failed_if(has_failed))
}

/// Writes what holds over these sessions into their folder, and prints it.
pub(crate) fn tell(
    sessions: &[PathBuf],
    folder: &Path,
    paths: &Paths,
    json: bool,
) -> Result<(), Failure> {
    let over = over::put_together(sessions)?;
    over.notes.iter().for_each(|note| eprintln!("note: {note}"));
    let page = folder.join(PAGE);
    fs::write(&page, &over.text).map_err(|error| Failure::file(&page, error))?;
    match json {
        true => println!("{}", json!({ "results": paths.shown(folder), "page": PAGE })),
        false => print!("\n{}{}\n", over.text, paths.shown(&page)),
    }
    Ok(())
}

/// All of them can be planned, before the first of them runs.
fn asked<'a>(args: &'a RunArgs, paths: &Paths, out: &Path) -> Result<Vec<Asked<'a>>, Failure> {
    let mut asked: Vec<Asked> = Vec::new();
    for experiment in &args.experiment {
        let choices = args.choices.clone();
        let question = Question { experiment: experiment.clone(), choices };
        let name = prepare(&question, paths, vec![])?.experiment.written.name;
        let folder = if args.experiment.len() == 1 { out.to_owned() } else { out.join(&name) };
        if asked.iter().any(|one| one.folder == folder) {
            return Err(Failure::input(format!(
                "{}: key `name`: {name} is another's name too, and their sessions would share a \
                 folder",
                experiment.display()
            )));
        }
        fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        asked.push(Asked { experiment, folder });
    }
    Ok(asked)
}

/// A session from its start, or from where it was stopped; `None` where it is finished.
fn once(
    args: &RunArgs,
    paths: &Paths,
    asked: &Asked,
    session: SessionOf,
) -> Result<Option<Exit>, Failure> {
    let folder = asked.of(session);
    let begun = folder.join("run.json").exists().then(|| load::results(&folder)).transpose()?;
    if begun.as_ref().is_some_and(is_finished) {
        return Ok(None);
    }
    let attempt = match args.shard {
        Some(_) => Some(shard::attempt(&asked.folder, session.number)?),
        None => None,
    };
    let (resume, out) = match begun {
        Some(_) if attempt.is_none() => (Some(folder.clone()), None),
        _ => (None, Some(attempt.clone().unwrap_or_else(|| folder.clone()))),
    };
    let experiment = vec![asked.experiment.to_owned()];
    let mut args = RunArgs { experiment, resume, out, ..args.clone() };
    args.choices.shared = Some(session);
    let end = one(&args, paths)?;
    // One that was interrupted may be gone on with by hand; the engine begins another.
    if let Some(attempt) = attempt.filter(|_| end != Exit::Interrupted) {
        let superseded = shard::publish(&attempt, &folder)?;
        superseded.into_iter().for_each(|said| eprintln!("note: {said}"));
    }
    Ok(Some(end))
}

/// Whether all runs of a session were taken.
pub(crate) fn is_finished(results: &Results) -> bool {
    results.sessions.last().is_some_and(|session| session.event == SessionEvent::Finished)
}

impl Asked<'_> {
    fn of(&self, session: SessionOf) -> PathBuf {
        self.folder.join(session.number.to_string())
    }

    fn shown(&self) -> String {
        self.experiment.file_stem().unwrap_or_default().display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_given_by_their_count_or_their_numbers() {
        let all = |text| Numbers::parse(text).map(|it| it.each(None).collect::<Vec<_>>());
        let of = |number, sharing| SessionOf { number, sharing, held: None };
        assert_eq!(all("2"), Ok(vec![of(1, 2), of(2, 2)]));
        assert_eq!(all("7-9"), Ok(vec![of(7, 3), of(8, 3), of(9, 3)]));
        for wrong in ["", "1", "0-3", "3-3", "9-7", "1-65", "six", "-6"] {
            assert!(all(wrong).unwrap_err().contains("such as 7-12"), "{wrong}");
        }
    }
}
