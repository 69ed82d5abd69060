//! What the questions of a plan should come to be known to, by the last records of this machine:
//! the end of what `lab plan` prints.

use std::{
    cmp::Reverse,
    fs,
    path::{Path, PathBuf},
};

use lab_family::Unit;
use lab_record::{Folder, Machine, RunFile};
use lab_report::Column::{Any, Words};
use lab_report::{Entry, Forecast, Planned, Table, forecast};
use lab_site::records::{load, over};

use crate::{paths::Paths, plan::Prepared};

/// Results lie in results/ or in a folder of it; reports in reports/.
const PLACES: [(&str, usize); 2] = [("results", 3), ("reports", 1)];
/// The profile of --quick.
const QUICK: &str = "quick";
/// Of so many records the newest may be damaged.
const TRIED: usize = 3;

/// The text for people; nothing where nothing is asked.
pub(crate) fn outlook(prepared: &Prepared, paths: &Paths) -> Option<String> {
    let written = &prepared.experiment.written;
    if written.analysis.comparisons.is_empty() && written.analysis.contrasts.is_empty() {
        return None;
    }
    let planned = Planned {
        analysis: &written.analysis,
        expectations: &written.expect,
        blocks: written.blocks,
    };
    let profile = prepared.description.profile.as_deref();
    let records = records(&written.name, profile, &lab_driver::probe::machine(), paths);
    let forecasts = records.iter().take(TRIED).find_map(|folder| {
        let frame = load::frame(folder).ok()?;
        Some((folder, forecast(frame, &planned, lab_families::ALL).ok()?))
    });
    Some(match forecasts {
        Some((folder, forecasts)) => {
            let over = over_sessions(folder).unwrap_or_default();
            format!("{}{over}", told(&paths.shown(folder), &forecasts))
        }
        None => {
            let shorter =
                if written.profile.contains_key(QUICK) { ", or with --quick" } else { "" };
            format!(
                "What will be detectable: no record of this machine. Run it once{shorter}; then \
                 this command says it."
            )
        }
    })
}

fn told(record: &str, forecasts: &[Forecast]) -> String {
    let size = |one: &Forecast, size| Entry::text(one.size(size));
    let detectable = |one: &Forecast| match one.detectable {
        None => Entry::text("too few pairs in the record"),
        Some((least, most)) if one.size(least) == one.size(most) => size(one, most),
        Some((least, most)) => Entry::text(format!("{} to {}", one.size(least), one.size(most))),
    };
    let seconds = |value: Option<f64>| Entry::value(value.map(f64::round), Unit::Count);
    let table = Table::over(
        forecasts,
        &[
            Words("question", "", &|one| {
                let by = if one.left_to_blocks { " (by the blocks)" } else { "" };
                format!("{}{by}", one.question)
            }),
            Any("margin", "", &|one| one.margin.map_or(Entry::Missing, |margin| size(one, margin))),
            Any("detectable, best to worst known", "", &|one| detectable(one)),
            Any("seconds", "", &|one| seconds(Some(one.seconds))),
            Any("seconds until known to the margin", "", &|one| seconds(one.needed_s)),
        ],
    );
    let apart = match forecasts.iter().any(|one| one.apart) {
        true => " Where that has no rounds of a question, pairs of its blocks stand for them.",
        false => "",
    };
    format!(
        "What should be detectable with a power of 80 %, if this machine is as noisy as in \
         {record}, the last record of it. Comparisons over the same cells share their \
         seconds.{apart}\n\n{}",
        table.markdown()
    )
}

/// What is known over the sessions that the record is one of, if it is.
fn over_sessions(folder: &Path) -> Option<String> {
    let of = RunFile::read(folder).ok().filter(|file| file.session.is_some())?.experiment;
    let beside = with_run_file(folder.parent()?, 1).into_iter();
    let is_one = |folder: &PathBuf| {
        RunFile::read(folder).is_ok_and(|file| file.session.is_some() && file.experiment == of)
    };
    let sessions: Vec<PathBuf> = beside.filter(is_one).collect();
    let lines = over::where_to_spend(&sessions).ok().filter(|lines| !lines.is_empty())?;
    Some(format!("\nOver its {} sessions:\n\n{lines}", sessions.len()))
}

/// The folders of this machine's records of an experiment: finished sweeps first, then those of the
/// same profile, then the newest.
fn records(
    experiment: &str,
    profile: Option<&str>,
    machine: &Machine,
    paths: &Paths,
) -> Vec<PathBuf> {
    let roots = [&paths.workspace, &paths.root];
    let mut folders: Vec<PathBuf> = roots
        .iter()
        .flat_map(|root| PLACES.map(|(place, depth)| with_run_file(&root.join(place), depth)))
        .flatten()
        .collect();
    folders.sort();
    folders.dedup();
    let known = |folder: PathBuf| {
        let file = RunFile::read(&folder).ok()?;
        let is_same = file.experiment == experiment && is_same(&file.machine, machine);
        let sessions = Folder::at(&folder).text("sessions.jsonl").unwrap_or_default();
        let finished = sessions.contains("\"finished\"");
        let rank = (finished, file.profile.as_deref() == profile, file.started_unix_s);
        is_same.then_some((Reverse(rank), folder))
    };
    let mut known: Vec<_> = folders.into_iter().filter_map(known).collect();
    known.sort();
    known.into_iter().map(|(_, folder)| folder).collect()
}

/// A kernel may have been updated, and a virtual machine be given a little less memory.
fn is_same(then: &Machine, now: &Machine) -> bool {
    let kind = |machine: &Machine| (machine.cpu_model.clone(), machine.cpus, machine.arch.clone());
    kind(then) == kind(now)
}

/// The folders below that hold a sweep.
fn with_run_file(folder: &Path, depth: usize) -> Vec<PathBuf> {
    if folder.join("run.json").is_file() {
        return vec![folder.to_owned()];
    }
    if depth == 0 {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    below.flat_map(|path| with_run_file(&path, depth - 1)).collect()
}
