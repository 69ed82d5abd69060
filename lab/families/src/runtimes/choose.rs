//! Which runtime suits a load: what a record says of the nearest cell that was measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lab_family::Cell;
use lab_family::Unit::{Ns, Share};
use lab_record::{Comparison, VariantEntry};
use lab_report::{Study, show};
use lab_stats::paired::hodges_lehmann;

use crate::runtimes::levels::{AGENTS, BUSY, WORK};

const STREAMS: &str = "streams";
const TOKENS_PER_S: &str = "tokens_per_s";
const CORES: &str = "cores";
/// What a load may say.
const KEYS: [&str; 4] = [STREAMS, TOKENS_PER_S, WORK, CORES];
const CPU: &str = "cpu_per_token_ns";
/// The tag of a client that reads HTTP by a library: less code of one's own.
const LIBRARY: &str = "library";
/// The tag of what shows a limit: nobody's choice.
const LIMIT: &str = "limit";
/// Beyond so many times the nearest cell's streams, or below that part of them, nothing is known.
const REACH: f64 = 4.0;
/// A part of a core below which a choice is not worth a change.
const WORTH_CORES: f64 = 0.05;
/// A client with more late tokens than this does not keep up.
const LATE_MOST: f64 = 0.01;
/// Pairs that an interval takes.
const PAIRS_LEAST: usize = 6;

/// What somebody's clients have to do.
struct Load {
    streams: f64,
    /// Of one stream.
    tokens_per_s: f64,
    work_ns: f64,
    cores: f64,
}

/// One variant in the nearest cell.
struct Candidate<'a> {
    entry: &'a VariantEntry,
    cpu_ns: f64,
    lag_p99_ns: Option<f64>,
    /// The share of tokens beyond the record's `goodput_lag_ms`.
    late: Option<f64>,
    /// The bounds of what it takes over the cheapest, in CPU time per token; `None` of too few
    /// pairs.
    over_cheapest: Option<[f64; 2]>,
}

/// The text of `lab report --choose`.
///
/// # Errors
/// A sentence that names the key, or what the record lacks.
pub(crate) fn choose(study: &Study, said: &BTreeMap<String, f64>) -> Result<String, String> {
    let load = Load::of(said, f64::from(study.cpus()))?;
    let comparison = nearest(study, &load)?;
    let cell = cell_of(study, comparison).ok_or("its nearest cell was not measured")?;
    let mut candidates = candidates(study, comparison, cell);
    candidates.sort_by(|a, b| b.keeps_up().cmp(&a.keeps_up()).then(a.cpu_ns.total_cmp(&b.cpu_ns)));
    let Some(best) = candidates.first() else {
        return Err(format!(
            "no variant that one could choose was measured at {}",
            study.label(cell)
        ));
    };
    let tied: Vec<&Candidate> = candidates.iter().filter(|one| one.is_tied_with(best)).collect();
    let chosen = tied.iter().find(|one| one.has_library()).copied().unwrap_or(best);
    let mut text = String::new();
    let _ = writeln!(text, "{}", answer(study, &load, chosen, &candidates));
    let _ = writeln!(text, "{}", certainty(study, &load, cell, chosen, &tied));
    let _ = writeln!(text, "\n{}", table(&load, &candidates));
    let _ = write!(text, "{}", paste(chosen.entry));
    Ok(text)
}

impl Load {
    fn of(said: &BTreeMap<String, f64>, cpus: f64) -> Result<Self, String> {
        let known = KEYS.join(", ");
        if let Some(key) = said.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("`{key}` says nothing of a load: write {known}"));
        }
        let least = |key: &str| match said.get(key) {
            Some(value) if *value > 0.0 && value.is_finite() => Ok(*value),
            Some(value) => Err(format!("`{key}` is {value}: write a number above 0")),
            None => Err(format!("`{key}` is missing: write {known}")),
        };
        let work_us = said.get(WORK).copied().unwrap_or(0.0);
        if !(0.0..=1e6).contains(&work_us) {
            return Err(format!("`{WORK}` is {work_us}: write microseconds from 0 to 1000000"));
        }
        let cores = if said.contains_key(CORES) { least(CORES)? } else { cpus };
        let (streams, tokens_per_s) = (least(STREAMS)?, least(TOKENS_PER_S)?);
        Ok(Self { streams, tokens_per_s, work_ns: work_us * 1e3, cores })
    }

    /// Cores that such a client takes, its own work included.
    fn cores_of(&self, cpu_ns: f64) -> f64 {
        self.streams * self.tokens_per_s * (cpu_ns + self.work_ns) / 1e9
    }
}

impl Candidate<'_> {
    fn has_library(&self) -> bool {
        self.entry.tags.iter().any(|tag| tag == LIBRARY)
    }

    fn keeps_up(&self) -> bool {
        self.late.is_none_or(|share| share <= LATE_MOST)
    }

    /// The cheapest of those that keep up, and whatever nothing tells from it.
    fn is_tied_with(&self, best: &Self) -> bool {
        self.keeps_up() == best.keeps_up() && self.over_cheapest.is_none_or(|[low, _]| low <= 0.0)
    }
}

/// The comparison of CPU time per token whose number of streams is nearest, by its ratio.
fn nearest<'s>(study: &'s Study, load: &Load) -> Result<&'s Comparison, String> {
    let declared = study.compared.iter().map(|compared| compared.comparison);
    let distance = |one: &Comparison| {
        let agents = agents(one)?;
        Some((agents / load.streams).ln().abs())
    };
    let measured = declared.filter(|one| one.metric == CPU);
    let by_distance = measured.filter_map(|one| Some((one, distance(one)?)));
    let nearest = by_distance.min_by(|(_, a), (_, b)| a.total_cmp(b));
    nearest.map(|(one, _)| one).ok_or_else(|| {
        format!("this record compares no {CPU} at a number of {AGENTS}: give one that does")
    })
}

fn agents(comparison: &Comparison) -> Option<f64> {
    comparison.cells.get(AGENTS)?.first()?.parse().ok()
}

fn cell_of<'s>(study: &'s Study, comparison: &Comparison) -> Option<&'s Cell> {
    let cells = study.cells(study.reference()).into_iter();
    let mut of_it = cells.filter(|cell| lab_report::takes_part(comparison, cell));
    of_it.next()
}

/// Every variant that one could choose, measured in this cell.
fn candidates<'s>(study: &'s Study, comparison: &Comparison, cell: &Cell) -> Vec<Candidate<'s>> {
    let choosable = |entry: &&VariantEntry| {
        study.family.no_choice(entry).is_none()
            && !entry.tags.iter().any(|tag| tag == LIMIT)
            && study.floor() != Some(entry.variant.as_str())
    };
    let entries = study.variants().into_iter().filter_map(|name| study.entry(name));
    let measured = entries.filter(choosable).filter_map(|entry| {
        let cpu_ns = study.median(&entry.variant, cell, CPU)?;
        let lag_p99_ns = study.median(&entry.variant, cell, "delivery_lag_p99_ns");
        let late = study.median(&entry.variant, cell, "late_token_share");
        Some(Candidate { entry, cpu_ns, lag_p99_ns, late, over_cheapest: None })
    });
    let mut measured: Vec<Candidate> = measured.collect();
    let any_keeps_up = measured.iter().any(Candidate::keeps_up);
    let in_time = measured.iter().filter(|one| one.keeps_up() == any_keeps_up);
    let cheapest = in_time.min_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns));
    let Some(cheapest) = cheapest.map(|one| one.entry.variant.clone()) else { return measured };
    // Bonferroni over all of them: the cheapest is the one that came out so.
    let others = (measured.len() - 1).max(1) as f64;
    let base = study.values(comparison, &cheapest);
    for one in &mut measured {
        let own = study.values(comparison, &one.entry.variant);
        let pairs: Vec<f64> =
            own.iter().filter_map(|(pair, value)| Some(value - base.get(pair)?)).collect();
        one.over_cheapest = match one.entry.variant == cheapest {
            true => Some([0.0, 0.0]),
            false => interval(&pairs, 1.0 - 0.05 / others),
        };
    }
    measured
}

fn interval(pairs: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let shift = hodges_lehmann(pairs, confidence).filter(|_| pairs.len() >= PAIRS_LEAST)?;
    shift.interval.map(|interval| [interval.low, interval.high])
}

/// "Take `hyper`: it takes 0.31 cores of 2; `tokio_default`, the reference, 0.45."
fn answer(study: &Study, load: &Load, chosen: &Candidate, all: &[Candidate]) -> String {
    let name = &chosen.entry.variant;
    let takes = load.cores_of(chosen.cpu_ns);
    let of = cores(load.cores);
    if takes > load.cores {
        return format!(
            "{of} do not serve this load: even `{name}` takes {takes:.2}, its own work included."
        );
    }
    let most = all.iter().map(|one| load.cores_of(one.cpu_ns)).fold(takes, f64::max);
    let reference = all.iter().find(|one| one.entry.variant == study.reference());
    let beside = reference.filter(|one| one.entry.variant != *name).map_or(String::new(), |one| {
        format!(" `{}`, the reference, takes {:.3}.", study.reference(), load.cores_of(one.cpu_ns))
    });
    match most - takes < WORTH_CORES {
        true => format!(
            "The choice does not matter here: every one of them takes between {:.3} and {most:.3} \
             of {of}. Take the one that you know.",
            all.iter().map(|one| load.cores_of(one.cpu_ns)).fold(takes, f64::min),
        ),
        false => format!("Take `{name}`: it takes {takes:.3} of {of}.{beside}"),
    }
}

fn cores(count: f64) -> String {
    if count == 1.0 { "1 core".to_owned() } else { format!("{count} cores") }
}

/// From which cell this is known, and what cannot be told apart.
fn certainty(
    study: &Study,
    load: &Load,
    cell: &Cell,
    chosen: &Candidate,
    tied: &[&Candidate],
) -> String {
    let slow = match chosen.keeps_up() {
        true => "",
        false => " No client keeps up there: more than 1 % of tokens are late.",
    };
    let measured: f64 = cell.get(AGENTS).and_then(|level| level.parse().ok()).unwrap_or(1.0);
    let away = (load.streams / measured).max(measured / load.streams);
    let far = match away > REACH {
        true => {
            format!(" That is {away:.0} times away from this load: a guess, not a measurement.")
        }
        false => String::new(),
    };
    let others: Vec<String> = tied
        .iter()
        .filter(|one| one.entry.variant != chosen.entry.variant)
        .map(|one| format!("`{}`", one.entry.variant))
        .collect();
    let apart = match others.is_empty() {
        true => "Nothing else that keeps up is as cheap there.".to_owned(),
        false => {
            let first = match chosen.has_library() {
                true => "; it has an HTTP library, so it is taken first",
                false => "",
            };
            format!(
                "Nothing tells `{}` there from {}{first}.",
                chosen.entry.variant,
                others.join(", ")
            )
        }
    };
    let work = match load.work_ns > 0.0 && !cell.contains_key(BUSY) {
        true => " Work between tokens is added to it; whether it delays others is not in it.",
        false => "",
    };
    format!("Measured at {}, {}.{slow}{far} {apart}{work}", study.label(cell), study.how_run())
}

/// A line for each candidate.
fn table(load: &Load, candidates: &[Candidate]) -> String {
    let mut text = String::from(
        "| variant | CPU time per token | cores | delivery lag (P99) | late tokens | over the \
         cheapest in time |\n|---|---|---|---|---|---|\n",
    );
    for one in candidates {
        let lag = one.lag_p99_ns.map_or("-".to_owned(), |ns| show(ns, Ns));
        let late = one.late.map_or("-".to_owned(), |share| show(share, Share));
        let over = match one.over_cheapest {
            Some([low, high]) if low != high => {
                format!("{:.2} … {:.2} ×", low.exp(), high.exp())
            }
            Some(_) => "1 ×".to_owned(),
            None => "too few pairs".to_owned(),
        };
        let _ = writeln!(
            text,
            "| `{}` | {} | {:.3} | {lag} | {late} | {over} |",
            one.entry.variant,
            show(one.cpu_ns, Ns),
            load.cores_of(one.cpu_ns),
        );
    }
    text
}

/// What to write into one's own project.
fn paste(entry: &VariantEntry) -> String {
    match &entry.interpreter {
        Some(interpreter) => format!("It ran `{}` on {interpreter}.\n", entry.measures),
        None if entry.version == "installed" => {
            format!("It ran {} as installed.\n", entry.measures)
        }
        None => format!(
            "[dependencies]\n{} = {{ version = \"={}\", features = {:?} }}\n",
            entry.measures, entry.version, entry.features
        ),
    }
}
