//! Why many workers are slower: the four causes that the published report names, as four tests.
//!
//! The *penalty* is the time at the largest number of workers over the time at the best number up
//! to the CPUs. Each cause predicts how the penalty changes when one thing is taken away; the
//! prediction is tested by a difference of differences, paired by block.

use super::penalty::{Penalty, between, penalties, penalty};
use super::sweep::{Cell as Levels, Sweep, counts, number, with, without};
use crate::effect::{Effect, scaled};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

/// One of the four tests.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    pub(super) name: &'static str,
    pub(super) predicts: &'static str,
    pub(super) measured: String,
    pub(super) verdict: Finding,
    /// The difference that decided, where there was one.
    pub(super) decided_by: Option<Effect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    Supported,
    NotSupported,
    CannotTell,
    NotMeasured,
    Withheld,
}

impl Finding {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::NotSupported => "not supported",
            Self::CannotTell => "cannot tell",
            Self::NotMeasured => "not measured",
            Self::Withheld => "withheld",
        }
    }
}

/// A difference smaller than this ratio counts as none: the margin of the first comparison.
pub(super) fn margin(sweep: &Sweep) -> f64 {
    let analysis = &sweep.study.frame.run_file.analysis;
    let declared = analysis.comparisons.iter().find(|one| one.scale == lab_record::Scale::Ratio);
    declared.map_or(0.05, |comparison| comparison.margin).ln_1p()
}

/// The four tests. As with declared comparisons, what the runs that passed the noise gate do not
/// share is "cannot tell", and a failed A/A test withholds.
pub(super) fn test(sweep: &Sweep, clean: Option<&Sweep>) -> Vec<Cause> {
    let mut causes = all(sweep);
    for (cause, second) in causes.iter_mut().zip(clean.map(all).unwrap_or_default()) {
        let n = second.decided_by.as_ref().map_or(0, Effect::n);
        let word = second.verdict.word();
        cause.measured.push_str(&format!(" Runs that passed the noise gate: {word} (n = {n})."));
        let decided = matches!(cause.verdict, Finding::Supported | Finding::NotSupported);
        if decided && second.verdict != cause.verdict {
            cause.verdict = Finding::CannotTell;
        }
    }
    if let Some(alarm) = sweep.alarm() {
        for cause in &mut causes {
            cause.measured.push_str(&format!(" Withheld: {alarm}."));
            cause.verdict = Finding::Withheld;
        }
    }
    causes
}

fn all(sweep: &Sweep) -> Vec<Cause> {
    vec![too_little_work(sweep), overhead(sweep), shards(sweep), cache(sweep)]
}

const TOO_LITTLE_WORK: &str = "Too little work per transaction";
const OVERHEAD: &str = "Thread overhead";
const SHARDS: &str = "Contention on shards";
const CACHE: &str = "Cache traffic";

fn missing(name: &'static str, predicts: &'static str, what: &str) -> Cause {
    let measured = format!("Missing: {what}.");
    Cause { name, predicts, measured, verdict: Finding::NotMeasured, decided_by: None }
}

/// Whether a penalty is there at all; what cannot be seen needs no cause.
fn explain(penalty: &Effect, margin: f64, decide: impl Fn() -> Finding) -> Finding {
    if penalty.surely_below(margin) {
        Finding::NotSupported
    } else if penalty.surely_above(0.0) {
        decide()
    } else {
        Finding::CannotTell
    }
}

/// Above 0 supports, below 0 refutes, anything else decides nothing.
fn by_sign(effect: &Effect) -> Finding {
    match (effect.surely_above(0.0), effect.surely_below(0.0)) {
        (true, _) => Finding::Supported,
        (_, true) => Finding::NotSupported,
        _ => Finding::CannotTell,
    }
}

/// Penalties of a variant by everything but the work, smallest work first.
fn by_work(sweep: &Sweep, variant: &str) -> Vec<(Levels, Vec<(u64, Penalty)>)> {
    let mut groups: Vec<(Levels, Vec<(u64, Penalty)>)> = Vec::new();
    for (rest, _) in sweep.curves(variant) {
        let Some(work) = number(&rest, "work_ns") else { continue };
        let Some(penalty) = penalty(sweep, variant, &rest) else { continue };
        let group = without(&rest, "work_ns");
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, works)) => works.push((work, penalty)),
            None => groups.push((group, vec![(work, penalty)])),
        }
    }
    groups.retain(|(_, works)| works.len() > 1);
    groups.iter_mut().for_each(|(_, works)| works.sort_by_key(|(work, _)| *work));
    groups
}

fn too_little_work(sweep: &Sweep) -> Cause {
    let predicts = "The penalty is there without busy work and shrinks when transactions do more.";
    let groups = by_work(sweep, sweep.reference());
    let streams = sweep.base.get("streams");
    let published = groups.iter().find(|(rest, _)| rest.get("streams") == streams);
    let Some((rest, works)) = published.or(groups.first()) else {
        return missing(
            TOO_LITTLE_WORK,
            predicts,
            "a cell with two levels of work and many workers",
        );
    };
    let ((less, small), (more, large)) = (&works[0], &works[works.len() - 1]);
    let (Some(at_less), Some(at_more), Some(change)) = (
        Effect::of(small.log.values().copied().collect()),
        Effect::of(large.log.values().copied().collect()),
        Effect::difference(&small.log, &large.log),
    ) else {
        return missing(TOO_LITTLE_WORK, predicts, "blocks that have all four runs");
    };
    let verdict = explain(&at_less, margin(sweep), || by_sign(&change));
    let measured = format!(
        "`{}`, {}: {} workers against {} at work {less} ns: {}; {} against {} at {more} ns: {}. \
         Ratio of the two: {}.",
        sweep.reference(),
        sweep.label(&with(rest, "work_ns", "0")),
        small.many,
        small.few,
        at_less.percent(),
        large.many,
        large.few,
        at_more.percent(),
        change.times(),
    );
    let decided_by = Some(change);
    Cause { name: TOO_LITTLE_WORK, predicts, measured, verdict, decided_by }
}

/// The published cell, or else the first, in which both variants have a penalty.
fn shared(sweep: &Sweep, variant: &str) -> Option<(Penalty, Penalty)> {
    let reference = sweep.reference();
    let both = |rest: &Levels| {
        let whole = penalty(sweep, reference, rest)?;
        let other = between(sweep, variant, rest, whole.many, whole.few);
        (!other.log.is_empty()).then_some((whole, other))
    };
    let cells: Vec<Levels> = sweep.curves(reference).into_iter().map(|(rest, _)| rest).collect();
    let published = cells.iter().filter(|rest| sweep.is_base_but(rest, &[]));
    published.chain(&cells).find_map(both)
}

fn overhead(sweep: &Sweep) -> Cause {
    let predicts = "An empty ledger, which spawns and joins the same tasks and keeps no account, \
                    loses at least half as many nanoseconds to many workers.";
    let Some(harness) = sweep.harness() else {
        return missing(OVERHEAD, predicts, "a variant that keeps no ledger");
    };
    let Some((whole, empty)) = shared(sweep, harness) else {
        return missing(OVERHEAD, predicts, "many workers in a cell that the empty ledger ran too");
    };
    let (Some(log), Some(lost), Some(lost_empty), Some(excess)) = (
        Effect::of(whole.log.values().copied().collect()),
        Effect::of(whole.ns.values().copied().collect()),
        Effect::of(empty.ns.values().copied().collect()),
        Effect::difference(&empty.ns, &scaled(&whole.ns, 0.5)),
    ) else {
        return missing(OVERHEAD, predicts, "blocks that have all four runs");
    };
    let verdict = explain(&log, margin(sweep), || by_sign(&excess));
    let measured = format!(
        "{}, {} workers against {}: `{}` loses {}, `{harness}` {}; the empty ledger's loss less \
         half of the other: {}.{}",
        sweep.label(&whole.rest),
        whole.many,
        whole.few,
        sweep.reference(),
        lost.ns(),
        lost_empty.ns(),
        excess.ns(),
        beside(sweep, &whole)
    );
    Cause { name: OVERHEAD, predicts, measured, verdict, decided_by: Some(excess) }
}

/// Switches and parks at many and at few workers.
fn beside(sweep: &Sweep, penalty: &Penalty) -> String {
    let metrics = [
        ("context switches", "switches_per_1000"),
        ("parks of workers", "tokio_parks_per_1000"),
        ("steals", "tokio_steals_per_1000"),
    ];
    let shown = metrics.iter().map(|(title, metric)| {
        let at = |count: u32| {
            let cell = with(&penalty.rest, "workers", &count.to_string());
            sweep.median(sweep.reference(), &cell, metric)
        };
        match at(penalty.many).zip(at(penalty.few)) {
            Some((many, few)) => {
                format!("{title} {} against {}", show(many, Unit::Count), show(few, Unit::Count))
            }
            None => format!("{title} not counted"),
        }
    });
    format!(" Per 1,000 transactions: {}.", shown.collect::<Vec<_>>().join(", "))
}

fn shards(sweep: &Sweep) -> Cause {
    let predicts = "With many more shards than the library makes, many workers become faster.";
    let reference = sweep.reference();
    let groups = sweep.along(reference, "shards").into_iter().filter_map(|(rest, levels)| {
        let workers = number(&rest, "workers").filter(|n| *n > u64::from(sweep.cpus()))?;
        let most = counts(&levels).last().copied()?;
        levels.iter().any(|level| level == "library").then_some((workers, rest, most))
    });
    let Some((workers, rest, most)) = groups.max_by_key(|(workers, ..)| *workers) else {
        let what = "many workers with the library's shards and with a larger number";
        return missing(SHARDS, predicts, what);
    };
    let at = |level: &str| sweep.series(reference, &with(&rest, "shards", level), "elapsed_ns");
    let Some(effect) = Effect::log_ratio(&at(&most.to_string()), &at("library")) else {
        return missing(SHARDS, predicts, "blocks that have both runs");
    };
    let margin = margin(sweep);
    let verdict = match (effect.surely_below(0.0), effect.surely_above(-margin)) {
        (true, false) => Finding::Supported,
        (_, true) => Finding::NotSupported,
        _ => Finding::CannotTell,
    };
    let measured = format!(
        "`{reference}`, {}: {most} shards against the library's{}: {} of the time.{}",
        sweep.label(&without(&rest, "shards")),
        library_shards(sweep).map_or(String::new(), |shards| format!(" {shards}")),
        effect.percent(),
        waited(sweep, workers)
    );
    Cause { name: SHARDS, predicts, measured, verdict, decided_by: Some(effect) }
}

/// What the library chose, as the variant's runs counted it.
pub(super) fn library_shards(sweep: &Sweep) -> Option<u64> {
    let runs = sweep.study.all.iter().map(|one| &one.row.run);
    let library = runs.filter(|run| {
        run.variant == sweep.reference()
            && run.cell.get("shards").is_none_or(|level| level == "library")
    });
    let mut shards: Vec<u64> =
        library.filter_map(|run| run.counters.get("shards").copied()).collect();
    shards.sort_unstable();
    shards.get(shards.len() / 2).copied()
}

/// The share of all workers' time that they waited for locks, where locks were watched.
fn waited(sweep: &Sweep, workers: u64) -> String {
    let reference = sweep.reference();
    let watched = sweep.cells(reference).into_iter().filter(|cell| {
        cell.get("locks").is_some_and(|level| level == "watched")
            && number(cell, "workers") == Some(workers)
    });
    let shown = watched.filter_map(|cell| {
        let share = sweep.median(reference, cell, "lock_wait_share")?;
        let per = sweep.median(reference, cell, "lock_waits_per_1000")?;
        let n = sweep.series(reference, cell, "lock_wait_share").len();
        Some(format!(
            "{}: {} of the workers' time, {} waits per 1,000 transactions (n = {n})",
            sweep.label(&without(cell, "locks")),
            show(share, Unit::Share),
            show(per, Unit::Count)
        ))
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        return " Waiting for locks was not watched.".to_owned();
    }
    format!(" Waiting for locks, watched apart: {}.", shown.join("; "))
}

fn cache(sweep: &Sweep) -> Cause {
    let predicts = "A ledger that shares nothing has less than half of the penalty (logarithms).";
    let owned = "owned";
    let Some((whole, other)) = shared(sweep, owned) else {
        let what = "many workers in a cell that `owned` ran too";
        return missing(CACHE, predicts, what);
    };
    let (Some(of_whole), Some(of_owned), Some(spared)) = (
        Effect::of(whole.log.values().copied().collect()),
        Effect::of(other.log.values().copied().collect()),
        Effect::difference(&scaled(&whole.log, 0.5), &other.log),
    ) else {
        return missing(CACHE, predicts, "blocks that have all four runs");
    };
    let verdict = explain(&of_whole, margin(sweep), || by_sign(&spared));
    let measured = format!(
        "{}, {} workers against {}: `{}` {}, `{owned}` {}; half of the first over the second: {}. \
         {}",
        sweep.label(&whole.rest),
        whole.many,
        whole.few,
        sweep.reference(),
        of_whole.percent(),
        of_owned.percent(),
        spared.times(),
        misses(sweep, &whole)
    );
    Cause { name: CACHE, predicts, measured, verdict, decided_by: Some(spared) }
}

fn misses(sweep: &Sweep, penalty: &Penalty) -> String {
    let metric = "perf_cache_misses_per_transaction";
    let at = |count: u32| {
        let cell = with(&penalty.rest, "workers", &count.to_string());
        sweep.median(sweep.reference(), &cell, metric)
    };
    match at(penalty.many).zip(at(penalty.few)) {
        Some((many, few)) => format!(
            "Cache misses per transaction: {} against {}.",
            show(many, Unit::Count),
            show(few, Unit::Count)
        ),
        None => format!("Cache misses: not counted: {}.", why_not_counted(sweep)),
    }
}

/// The reason that the session recorded for counting nothing.
fn why_not_counted(sweep: &Sweep) -> String {
    let sessions = sweep.study.frame.sessions.iter().rev();
    let mut keys = sessions.flat_map(|session| &session.environment);
    let found = keys
        .find(|(key, value)| key.contains("perf") && key.ends_with("_reason") && value.is_string());
    found
        .and_then(|(_, value)| value.as_str())
        .unwrap_or("the runs hold no such column, as where the kernel or the hypervisor refuses")
        .to_owned()
}

pub(super) fn write(sweep: &Sweep, causes: &[Cause], page: &mut Page) {
    page.heading("Why: the four causes, tested");
    page.paragraph(&format!(
        "The penalty is the time at the largest number of workers beyond the {} CPUs over the time \
         at the best number within them. A cause is supported where the interval of the difference \
         that it predicts lies wholly on its side, not supported where it lies on the other or \
         where there is no penalty above {} to explain, and undecided in between. Each test is one \
         difference by block; they are not corrected for being four.",
        sweep.cpus(),
        crate::tables::show_percent(margin(sweep).exp_m1())
    ));
    let mut table = Table::new(&[
        ("cause", "cause"),
        ("predicts", "predicts"),
        ("measured", "measured"),
        ("n", "n"),
        ("detectable", "detectable"),
        ("verdict", "verdict"),
    ]);
    for cause in causes {
        let effect = cause.decided_by.as_ref();
        table.row(vec![
            Cell::text(cause.name),
            Cell::text(cause.predicts),
            Cell::text(&cause.measured),
            Cell::value(effect.map(|effect| effect.n() as f64), Unit::Count),
            effect.map_or(Cell::Missing, |effect| detectable(sweep, cause.name, effect)),
            Cell::text(cause.verdict.word()),
        ]);
    }
    page.table("causes", &table);
    let penalties = penalties(sweep);
    if !penalties.is_empty() {
        page.folded("penalty", "The penalty of every variant in every cell", &penalties);
    }
}

/// Overhead is decided in nanoseconds, the others on logarithms.
fn detectable(sweep: &Sweep, name: &str, effect: &Effect) -> Cell {
    match effect.detectable(sweep.seed()) {
        Some(smallest) if name == OVERHEAD => Cell::Value(smallest, Unit::Ns),
        Some(smallest) => Cell::text(crate::tables::show_percent(smallest.exp_m1())),
        None => Cell::Missing,
    }
}
