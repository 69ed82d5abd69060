//! The five statements of the published report, each judged on this machine.

use super::published::{SAID, SMOL, Said};
use super::sweep::{Cell as Levels, Sweep, centre, with};
use crate::effect::{Effect, Series};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

const REPRODUCED: &str = "reproduced";
const DIRECTION_ONLY: &str = "direction only";
const REFUTED: &str = "refuted";
const CANNOT_TELL: &str = "cannot tell";
const NOT_MEASURED: &str = "not measured";

/// One statement, judged.
pub(super) struct Judgement {
    pub(super) statement: &'static str,
    published: String,
    measured: String,
    /// What the verdict rests on: a ratio of times.
    pub(super) effect: Option<Effect>,
    pub(super) verdict: String,
}

/// Judges all five. A verdict that the runs which passed the noise gate do not share is "cannot
/// tell", and none is given where the lab told two equal programs apart.
pub(super) fn judge(sweep: &Sweep, clean: Option<&Sweep>) -> Vec<Judgement> {
    let mut judgements = five(sweep);
    if let Some(clean) = clean {
        for (one, second) in judgements.iter_mut().zip(five(clean)) {
            if one.verdict != second.verdict {
                one.measured.push_str(&format!(
                    "; runs that passed the noise gate: {} (n = {})",
                    second.verdict,
                    second.effect.as_ref().map_or(0, Effect::n)
                ));
                one.verdict = CANNOT_TELL.to_owned();
            }
        }
    }
    if sweep.alarm().is_some() {
        let judged = [REPRODUCED, DIRECTION_ONLY, REFUTED];
        for one in judgements.iter_mut().filter(|one| judged.contains(&one.verdict.as_str())) {
            one.verdict = "withheld: A/A failed".to_owned();
        }
    }
    judgements
}

pub(super) fn write(sweep: &Sweep, judgements: &[Judgement], page: &mut Page) {
    page.heading("The five published statements on this machine");
    let cell = sweep.published();
    let place = cell.map_or("no such cell".to_owned(), |cell| sweep.label(&cell));
    page.paragraph(&format!(
        "Cell of the published table: {place}. A ratio is *reproduced* where it is surely above 1 \
         and its interval holds the published size, *direction only* where it is surely above 1 \
         and the interval leaves the published size out, *refuted* where the interval leaves it \
         out without being above 1, and *cannot tell* otherwise. For \"fastest\" the ratio is that \
         of the engine that comes nearest, and it is refuted where one of the others is faster at \
         95 % over all of them together. Intervals at 95 %, paired by round; \"detectable\" with a \
         power of 80 %. The published sizes are taken as exact, for their number of runs is not \
         stated; they are of ten cores and of engines that did unequal work, while here all share \
         one kernel and give one answer."
    ));
    let mut table = Table::new(&[
        ("statement", "statement"),
        ("published", "published"),
        ("measured here", "measured"),
        ("ratio", "ratio"),
        ("low", "low"),
        ("high", "high"),
        ("n", "n"),
        ("detectable", "detectable"),
        ("verdict", "verdict"),
    ]);
    for one in judgements {
        let effect = one.effect.as_ref();
        let mut row =
            vec![Cell::text(one.statement), Cell::text(&one.published), Cell::text(&one.measured)];
        row.extend(crate::effect::as_times(effect));
        row.push(Cell::value(effect.map(|effect| effect.n() as f64), Unit::Count));
        row.push(super::detectable(sweep, effect));
        row.push(Cell::text(&one.verdict));
        table.row(row);
    }
    page.table("statements", &table);
}

fn five(sweep: &Sweep) -> Vec<Judgement> {
    let cell = sweep.published().unwrap_or_default();
    let multi = "The multi-threaded executor is 29 % slower than the single-threaded one";
    vec![
        smol_is_fastest(sweep, &cell),
        one_thread_wins(sweep, &cell),
        sized(sweep, &cell, "smol_multi", multi),
        sized(sweep, &cell, "rayon", "Rayon takes 1.15 times as long as smol"),
        sized(sweep, &cell, "tokio", "Tokio takes 1.32 times as long as smol"),
    ]
}

/// An engine's time over smol's.
fn over_smol(sweep: &Sweep, cell: &Levels, engine: &str) -> Option<Effect> {
    Effect::log_ratio(&sweep.wall(engine, cell), &sweep.wall(SMOL, cell))
}

fn smol_is_fastest(sweep: &Sweep, cell: &Levels) -> Judgement {
    let others = SAID.iter().filter(|said| said.engine != SMOL);
    let effects: Vec<(&str, Effect)> = others
        .filter_map(|said| Some((said.engine, over_smol(sweep, cell, said.engine)?)))
        .collect();
    let complete = effects.len() == SAID.len() - 1;
    let beaten = effects.iter().any(|(_, effect)| effect.surely_below_in(0.0, effects.len()));
    let ahead = complete && effects.iter().all(|(_, effect)| effect.surely_above(0.0));
    let verdict = match (effects.is_empty(), beaten, ahead) {
        (true, ..) => NOT_MEASURED,
        (_, true, _) => REFUTED,
        (.., true) => REPRODUCED,
        _ => CANNOT_TELL,
    };
    let listed: Vec<String> =
        effects.iter().map(|(engine, effect)| format!("`{engine}` {}", effect.times())).collect();
    let closest = effects.into_iter().min_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    let engines = sweep.engines();
    let fastest = super::crossover::Win::of(sweep, &engines, cell);
    let fastest = fastest.map_or(String::new(), |win| {
        format!("; of all {} engines here: {}", engines.len(), win.label())
    });
    Judgement {
        statement: "smol is the fastest of the tested engines",
        published: "fastest of four".to_owned(),
        measured: format!("times over smol's: {}{fastest}", listed.join("; ")),
        effect: closest.map(|(_, effect)| effect),
        verdict: verdict.to_owned(),
    }
}

/// The thesis: smol wins because it is single-threaded. smol with one blocking thread is.
fn one_thread_wins(sweep: &Sweep, cell: &Levels) -> Judgement {
    let at = |threads: &str| sweep.wall(SMOL, &with(cell, "threads", threads));
    let effect = Effect::log_ratio(&at("default"), &at("1"));
    let verdict = match &effect {
        None => NOT_MEASURED.to_owned(),
        Some(_) if sweep.cpus() < 2 => "not testable on 1 core".to_owned(),
        Some(effect) if effect.surely_below(0.0) => REFUTED.to_owned(),
        Some(effect) if effect.surely_above(0.0) => REPRODUCED.to_owned(),
        Some(_) => CANNOT_TELL.to_owned(),
    };
    let pool = effect.as_ref().map_or("not measured".to_owned(), Effect::times);
    let said = SAID.iter().find(|said| said.engine == SMOL).map_or(0.0, Said::cores);
    Judgement {
        statement: "The single-threaded executor is what wins",
        published: format!("says \"single-threaded\"; its own CPU times are {said:.2} cores"),
        measured: format!(
            "`smol` uses {}; its time with the default pool over that with one blocking thread: \
             {pool}{}",
            cores(&sweep.series(SMOL, cell, "cores_used")),
            further(sweep)
        ),
        effect,
        verdict,
    }
}

/// "1.93 cores (1.91 … 1.94, n = 10)".
fn cores(series: &Series) -> String {
    let values: Vec<f64> = series.values().copied().collect();
    let Some(middle) = centre(series) else { return "an unknown number of cores".to_owned() };
    let interval = lab_stats::interval::median_interval(&values, crate::effect::CONFIDENCE);
    let interval = interval.map_or("no interval".to_owned(), |i| {
        format!("{} … {}", show(i.low, Unit::Count), show(i.high, Unit::Count))
    });
    format!("{} cores ({interval}, n = {})", show(middle, Unit::Count), values.len())
}

/// The same thesis wherever else smol ran with one thread and with two.
fn further(sweep: &Sweep) -> String {
    let places = sweep.along(SMOL, "threads").into_iter();
    let places = places.filter(|(rest, _)| sweep.is_base_but(rest, &super::sweep::PLACE));
    let effects = places.filter_map(|(rest, _)| {
        let at = |threads: &str| sweep.wall(SMOL, &with(&rest, "threads", threads));
        Effect::log_ratio(&at("2"), &at("1"))
    });
    let (mut faster, mut slower, mut all) = (0, 0, 0);
    for effect in effects {
        all += 1;
        faster += usize::from(effect.surely_below(0.0));
        slower += usize::from(effect.surely_above(0.0));
    }
    match all {
        0 => String::new(),
        _ => format!(
            "; of {all} corpora and queries, two threads are surely faster than one in {faster} \
             and surely slower in {slower}"
        ),
    }
}

/// A published multiple of smol's time.
fn sized(sweep: &Sweep, cell: &Levels, engine: &'static str, statement: &'static str) -> Judgement {
    let mean = |engine: &str| SAID.iter().find(|said| said.engine == engine).map(|s| s.mean_ms);
    let said = mean(engine).zip(mean(SMOL)).map_or(1.0, |(other, smol)| other / smol);
    let effect = over_smol(sweep, cell, engine);
    let verdict = match &effect {
        None => NOT_MEASURED,
        Some(effect) if effect.interval.is_none() => CANNOT_TELL,
        Some(effect) => match (effect.surely_above(0.0), effect.may_be(said.ln())) {
            (true, true) => REPRODUCED,
            (true, false) => DIRECTION_ONLY,
            (false, false) => REFUTED,
            (false, true) => CANNOT_TELL,
        },
    };
    let mut measured = effect.as_ref().map_or("not measured".to_owned(), Effect::times);
    let reader = over_smol(sweep, cell, "tokio_async").filter(|_| engine == "tokio");
    if let Some(reader) = reader {
        measured.push_str(&format!("; `tokio_async` {}", reader.times()));
    }
    Judgement {
        statement,
        published: show(said, Unit::Times),
        measured,
        effect,
        verdict: verdict.to_owned(),
    }
}
