//! `lab report DIR --over DIR...`: what holds over several sessions of one experiment.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use lab_console::Failure;
use lab_record::{Machine, Nuisance, RunFile, VariantEntry};
use lab_report::{Frame, Study, day, family_of, next, over, spend};

use super::load;

/// What holds over sessions.
pub struct Over {
    /// What is not as it should be, a sentence each.
    pub notes: Vec<String>,
    /// What was put together, a table for each declared question, and how to read them: Markdown.
    pub text: String,
}

/// Puts records of one experiment and the same programs together, each a session.
///
/// # Errors
/// One cannot be read, is there twice, or is of another experiment or of other programs; or they
/// share nothing that was declared.
pub fn put_together(dirs: &[PathBuf]) -> Result<Over, Failure> {
    let (frames, notes) = fitting(dirs)?;
    let studies = studies(&frames)?;
    let tables = over(&studies).ok_or_else(|| {
        Failure::input(format!(
            "{} and the others have no declared comparison or contrast with two blocks in each: \
             nothing can be put together",
            dirs[0].display()
        ))
    })?;
    let text = format!("{}\n\n{tables}{READING}", head(&frames));
    Ok(Over { notes, text })
}

/// How well the questions are known over these sessions, and where more time is spent best.
///
/// # Errors
/// As of [`put_together`].
pub fn where_to_spend(dirs: &[PathBuf]) -> Result<String, Failure> {
    Ok(spend(&studies(&fitting(dirs)?.0)?))
}

/// What the later sessions of an experiment found of what the earlier ones said.
///
/// # Errors
/// As of [`put_together`].
pub fn held_against(earlier: &[PathBuf], later: &[PathBuf]) -> Result<Over, Failure> {
    let (mut frames, notes) = fitting(&[earlier, later].concat())?;
    let later_frames = frames.split_off(earlier.len());
    let table = next(&studies(&frames)?, &studies(&later_frames)?).ok_or_else(|| {
        Failure::input(format!(
            "{} and the others have no declared comparison or contrast with two blocks in two \
             sessions on both sides: nothing can be held against the later",
            earlier[0].display()
        ))
    })?;
    let text = format!("Earlier: {}\n\nLater: {}\n\n{table}", head(&frames), head(&later_frames));
    Ok(Over { notes, text })
}

/// Records that can be sessions of one experiment, and what is to be said of them.
fn fitting(dirs: &[PathBuf]) -> Result<(Vec<Frame>, Vec<String>), Failure> {
    let frames = dirs.iter().map(|dir| load::frame(dir)).collect::<Result<Vec<_>, _>>()?;
    let placed: Vec<(&Path, &Frame)> = dirs.iter().map(PathBuf::as_path).zip(&frames).collect();
    for (place, one) in placed.iter().enumerate() {
        placed[..place].iter().try_for_each(|before| fit(*before, *one))?;
    }
    let notes = notes(&placed);
    Ok((frames, notes))
}

fn studies(frames: &[Frame]) -> Result<Vec<Study<'_>>, Failure> {
    let family = family_of(&frames[0], lab_families::ALL)
        .map_err(|error| Failure::input(error.to_string()))?;
    Ok(frames.iter().map(|frame| Study::of(frame, family)).collect())
}

const READING: &str = "τ is the standard deviation between sessions, I² its part of the variance \
     of their estimates. The next session is expected to find what stands there. A verdict needs \
     six sessions. Source: METHODOLOGY, *Sessions*.\n";

/// Whether both can be sessions of one experiment.
fn fit(one: (&Path, &Frame), other: (&Path, &Frame)) -> Result<(), Failure> {
    let (a, b) = (&one.1.run_file, &other.1.run_file);
    let refuse = |what: String| {
        let (one, other) = (one.0.display(), other.0.display());
        Err(Failure::input(format!("{one} and {other} {what}")))
    };
    let is_same = one.1.head.is_some() && one.1.head == other.1.head;
    if is_same || one.0.canonicalize().ok() == other.0.canonicalize().ok() {
        return refuse("are one record: give each session once".to_owned());
    }
    if a.experiment_sha256 != b.experiment_sha256 || a.profile != b.profile {
        return refuse(
            "are of different experiment files or profiles: sessions repeat one".to_owned(),
        );
    }
    let differs = |entry: &&VariantEntry| {
        let same = b.variants.iter().find(|one| one.variant == entry.variant);
        same.is_none_or(|one| one.binary_sha256 != entry.binary_sha256)
    };
    match a.variants.iter().find(differs) {
        Some(entry) => {
            let name = &entry.variant;
            refuse(format!("ran different programs of `{name}`: sessions repeat one build"))
        }
        None => Ok(()),
    }
}

/// "6 sessions of `search`, 2026-11-28 … 2026-11-29, on one machine."
fn head(frames: &[Frame]) -> String {
    let starts = || frames.iter().map(|frame| frame.run_file.started_unix_s);
    let days = [starts().min(), starts().max()].map(|start| day(start.unwrap_or_default()));
    let days = if days[0] == days[1] { days[0].clone() } else { days.join(" … ") };
    let where_run = match machines(frames) {
        1 => "on one machine".to_owned(),
        many => format!("on {many} machines, whose differences are in τ too"),
    };
    let copies = |frame: &Frame| frame.run_file.session.is_some_and(|it| it.draws(Nuisance::Files));
    let are_copied = frames.iter().all(copies);
    let (corpora, stayed) = if are_copied { (" and corpora", "") } else { ("", ", and corpora") };
    format!(
        "{} sessions of `{}`, {days}, {where_run}. Each began with new copies of programs{corpora} \
         and new servers; host and kernel{stayed} stayed.",
        frames.len(),
        frames[0].run_file.experiment,
    )
}

fn machines(frames: &[Frame]) -> usize {
    let mut known: Vec<&Machine> = Vec::new();
    for frame in frames {
        let machine = &frame.run_file.machine;
        if !known.iter().any(|one| one.is_same(machine)) {
            known.push(machine);
        }
    }
    known.len()
}

/// Sessions with one seed ran everything in one order; sessions of one machine that overlap ran
/// beside each other; and one that a restart cut is two sittings that count as one.
fn notes(placed: &[(&Path, &Frame)]) -> Vec<String> {
    let mut notes: Vec<String> = placed.iter().filter_map(|(dir, frame)| cut(dir, frame)).collect();
    for (place, (dir, frame)) in placed.iter().enumerate() {
        let seed = |file: &RunFile| file.seed;
        let earlier = || placed[..place].iter();
        let is_alike = |(_, one): &&(&Path, &Frame)| seed(&one.run_file) == seed(&frame.run_file);
        if let Some((before, _)) = earlier().find(is_alike) {
            notes.push(format!(
                "{} drew the same orders as {}: `lab run --session N` draws anew",
                dir.display(),
                before.display()
            ));
        }
        if let Some((before, _)) = earlier().find(|(_, one)| are_beside(one, frame)) {
            notes.push(format!(
                "{} and {} were at the same time on one machine, or its clock was set between \
                 them: sessions follow one another",
                before.display(),
                dir.display()
            ));
        }
    }
    notes
}

/// What is said of a session that is not one sitting.
fn cut(dir: &Path, frame: &Frame) -> Option<String> {
    let boots = frame.sessions.iter().filter_map(|session| session.environment.get("boot"));
    let boots: BTreeSet<&str> = boots.filter_map(|boot| boot.as_str()).collect();
    let [start, end] = span(frame);
    let what = match (boots.len(), end < start) {
        (2.., _) => "the machine was started again amid it; what it holds is two sittings",
        (_, true) => "the clock was set back amid it",
        _ => return None,
    };
    Some(format!("{}: {what}", dir.display()))
}

fn span(frame: &Frame) -> [u64; 2] {
    let ends = [frame.sessions.first(), frame.sessions.last()];
    ends.map(|end| end.map_or(frame.run_file.started_unix_s, |session| session.unix_s))
}

fn are_beside(one: &Frame, other: &Frame) -> bool {
    let ([start, end], [from, to]) = (span(one), span(other));
    one.run_file.machine.is_same(&other.run_file.machine) && start < to && from < end
}
