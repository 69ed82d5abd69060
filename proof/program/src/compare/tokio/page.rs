//! The pages: what was said and what is seen on the first one, every program on the other.

use std::collections::BTreeMap;

use anyhow::Result;
use lab_compare::{CandidateState, Estimate};
use lab_stats::outcome::Outcome;

use super::{
    Record, WORKLOADS,
    claims::{Answer, Judged},
    recording::{Recording, estimate},
};

const TITLE: &str = "Do versions and settings of Tokio schedule otherwise?";
/// The probability that one of a workload's verdicts is wrong.
const ALPHA: f64 = 0.01;

/// `report.md`.
pub(super) fn first(record: &Record, judged: &[Judged]) -> Result<String> {
    let rounds: usize = record.recordings.iter().map(Recording::rounds).sum();
    Ok(format!(
        "# {TITLE}\n\n{} {}\n\n{} {rounds} rounds of `lab compare`, by `tools/proof tokio`.\n\n\
         ## What was said\n\n\
         Reproduced: the whole interval shows more than half of what was said, or, after ±, stays \
         within it. Served less is turned into more time. Too few processors refute nothing. One \
         answer is wrong with 1 %. The work is ours and stands for theirs: [sources and \
         intervals](claims.tsv).\n\n{}\n## Wall time against the first version (%)\n\n{}\n\
         In brackets: not told from 0. [CPU time, settings, and what the programs \
         do](details/workloads.md).\n",
        counts(record, judged),
        versions_answer(record)?,
        record.machine,
        claims(judged),
        versions(record)?,
    ))
}

/// "Of 15 published statements, on 2 processors: 5 reproduced, …".
fn counts(record: &Record, judged: &[Judged]) -> String {
    let count = |is: &dyn Fn(Answer) -> bool| judged.iter().filter(|one| is(one.answer)).count();
    let more = count(&|answer| matches!(answer, Answer::Needs(_)));
    let [shown, not, open] = [Answer::Reproduced, Answer::Refuted, Answer::CannotTell]
        .map(|asked| count(&|answer| answer == asked));
    format!(
        "Of {} published statements, on {} processors: {shown} reproduced, {not} refuted, {open} \
         that cannot be told, {more} that need more processors.",
        judged.len(),
        record.processors
    )
}

/// "1.54.1 against 1.44.2: faster on chain; …".
fn versions_answer(record: &Record) -> Result<String> {
    let mut found = BTreeMap::<Outcome, Vec<&str>>::new();
    let [mut oldest, mut newest] = [""; 2];
    for (workload, recording) in of_versions(record) {
        let versions = versions_of(recording);
        [oldest, newest] = [versions[0], versions[versions.len() - 1]];
        let states = recording.against(oldest, &versions[1..], ALPHA)?;
        let outcome = states[states.len() - 1].verdict.outcome;
        found.entry(outcome).or_default().push(workload);
    }
    let found: Vec<String> =
        found.iter().map(|(outcome, on)| format!("{outcome} on {}", on.join(", "))).collect();
    Ok(format!("{newest} against {oldest}: {}.", found.join("; ")))
}

fn claims(judged: &[Judged]) -> String {
    let mut text =
        "| statement | work | said | here | answer |\n|---|---|---:|---:|---|\n".to_owned();
    for Judged { claim, estimate, answer } in judged {
        let here = estimate.as_ref().map_or("-".to_owned(), |known| percent(known.shift));
        let [statement, work] = [claim.statement, claim.workload];
        text += &format!("| {statement} | {work} | {} | {here} | {answer} |\n", claim.said);
    }
    text
}

fn versions(record: &Record) -> Result<String> {
    let mut text = String::new();
    for (workload, recording) in of_versions(record) {
        let versions = versions_of(recording);
        if text.is_empty() {
            text = format!("| work | {} |\n", versions[1..].join(" | "));
            text += &format!("|---|{}\n", "---:|".repeat(versions.len() - 1));
        }
        let states = recording.against(versions[0], &versions[1..], ALPHA)?;
        let cells: Vec<String> = states.iter().map(in_brackets).collect();
        text += &format!("| {workload} | {} |\n", cells.join(" | "));
    }
    Ok(text)
}

fn in_brackets(state: &CandidateState) -> String {
    let Some(known) = estimate(state, "wall time") else { return "-".to_owned() };
    let shown = format!("{:+.0}", 100.0 * known.shift.exp_m1());
    match known.interval {
        Some([low, high]) if low > 0.0 || high < 0.0 => shown,
        _ => format!("({shown})"),
    }
}

/// Workloads that every version did, not only the newest one's settings.
fn of_versions(record: &Record) -> impl Iterator<Item = (&'static str, &Recording)> {
    let all = WORKLOADS.iter().map(|one| one.name).zip(&record.recordings);
    all.filter(|(_, recording)| !versions_of(recording).is_empty())
}

/// The oldest first. Programs with a setting have its name behind a comma.
fn versions_of(recording: &Recording) -> Vec<&str> {
    recording.names().filter(|name| !name.contains(',')).collect()
}

/// The programs of each version with settings: the first of a version has none.
fn settings_of(recording: &Recording) -> Vec<Vec<&str>> {
    let version = |name: &str| name.split_once(',').map(|(version, _)| version.to_owned());
    let with: Vec<&str> = recording.names().filter(|name| version(name).is_some()).collect();
    with.chunk_by(|one, next| version(one) == version(next)).map(<[&str]>::to_vec).collect()
}

/// `details/workloads.md`.
pub(super) fn workloads(record: &Record) -> Result<String> {
    let mut text = format!(
        "# {TITLE}\n\n[Report](../report.md)\n\n\
         Medians of a run; differences are of a typical run, with intervals that are together \
         right with 99 %. Versions are compared with the first, settings with the same version \
         built with `tokio_unstable` alone. Two workers, but on the current-thread runtime. \
         `unstable` says nothing of a setting.\n"
    );
    for (workload, recording) in WORKLOADS.iter().zip(&record.recordings) {
        let rounds = recording.rounds();
        text += &format!("\n## {}\n\n{} {rounds} rounds.\n\n", workload.name, workload.does);
        text += "| program | wall (ms) | against | CPU (ms) | against | switches | wall time is |\n\
                 |---|---:|---|---:|---|---:|---|\n";
        let versions = Some(versions_of(recording)).filter(|versions| !versions.is_empty());
        for programs in versions.into_iter().chain(settings_of(recording)) {
            text += &rows(recording, &programs)?;
        }
    }
    Ok(text)
}

/// A row for each of some programs, the first of which is the reference.
fn rows(recording: &Recording, programs: &[&str]) -> Result<String> {
    let states = recording.against(programs[0], &programs[1..], ALPHA)?;
    let states = std::iter::once(None).chain(states.iter().map(Some));
    let mut text = String::new();
    for (program, state) in programs.iter().zip(states) {
        let against = |metric| match state {
            Some(state) => with_interval(estimate(state, metric)),
            None => String::new(),
        };
        let verdict = state.map_or("reference".to_owned(), |state| state.verdict.to_string());
        text += &format!(
            "| {program} | {:.1} | {} | {:.1} | {} | {:.0} | {verdict} |\n",
            recording.median(program, "wall time")? / 1e3,
            against("wall time"),
            recording.median(program, "CPU time")? / 1e3,
            against("CPU time"),
            recording.median(program, "context switches")?,
        );
    }
    Ok(text)
}

/// "+1.2 % (+0.2 … +1.8)".
pub(super) fn with_interval(estimate: Option<&Estimate>) -> String {
    let end = |shift: f64| format!("{:+.1}", 100.0 * shift.exp_m1());
    match estimate {
        Some(Estimate { shift, interval: Some([low, high]), .. }) => {
            format!("{} ({} … {})", percent(*shift), end(*low), end(*high))
        }
        Some(Estimate { shift, interval: None, .. }) => percent(*shift),
        None => "-".to_owned(),
    }
}

fn percent(shift: f64) -> String {
    format!("{:+.1} %", 100.0 * shift.exp_m1())
}
