//! What was set out to be reached, each as one number within a session.

use super::measure::MAKESPAN;
use super::sweep::Sweep;
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table, show};

pub(super) const POSTGRES: &str = "postgres";
pub(super) const JOURNAL: &str = "journal";
pub(super) const MEMORY: &str = "memory";

/// A step of `postgres` over a bare commit.
const COMMITS_AT_MOST: f64 = 4.0;
/// A durable transition of `journal` over a bare append and sync.
const SYNCS_AT_MOST: f64 = 2.0;
/// Looking every 50 ms over being told.
const LOOKS_AT_LEAST: f64 = 20.0;
/// What `postgres` adds to its commits over what DBOS adds.
const OF_DBOS: f64 = 0.2;

const NOT_MEASURED: &str = "not measured";

/// Where a number is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Stands beside a bar, and is none.
    None,
}

/// One bar in one cell.
pub(super) struct Bar {
    pub(super) what: String,
    pub(super) cell: String,
    /// `Err` says why there is none.
    pub(super) measured: Result<Reading, String>,
    pub(super) target: Target,
    /// What the number is made of.
    note: String,
}

impl Bar {
    /// In words; where the lab tells twins apart, nothing is said.
    fn word(&self, alarm: Option<&str>) -> String {
        let reading = match &self.measured {
            Ok(reading) => reading,
            Err(why) => return format!("{NOT_MEASURED}: {why}"),
        };
        let (holds, surely, surely_not) = match self.target {
            Target::None => return "–".to_owned(),
            Target::AtMost(bound) => (
                reading.estimate <= bound,
                reading.surely_at_most(bound),
                reading.low_high.is_some_and(|(low, _)| low > bound),
            ),
            Target::AtLeast(bound) => (
                reading.estimate >= bound,
                reading.surely_at_least(bound),
                reading.low_high.is_some_and(|(_, high)| high < bound),
            ),
        };
        match (alarm, surely, surely_not, holds) {
            (Some(alarm), ..) => format!("withheld: {alarm}"),
            (_, true, ..) => "met".to_owned(),
            (_, _, true, _) => "not met".to_owned(),
            (.., true) => "met by the estimate, not by the interval".to_owned(),
            _ => "not met by the estimate, the interval reaches the target".to_owned(),
        }
    }

    fn target(&self) -> String {
        let unit = self.measured.as_ref().map_or(Unit::Times, |reading| reading.unit);
        match self.target {
            Target::AtMost(bound) => format!("at most {}", show(bound, unit)),
            Target::AtLeast(bound) => format!("at least {}", show(bound, unit)),
            Target::None => "none, it stands beside".to_owned(),
        }
    }
}

/// All bars with the word on each. Where the runs that passed the noise gate say something else,
/// the word is "cannot tell".
pub(super) fn judged(sweep: &Sweep, clean: Option<&Sweep>) -> Vec<(Bar, String)> {
    let alarm = sweep.alarm();
    let words = |sweep: &Sweep| -> Vec<(String, String)> {
        let bars = bars(sweep).into_iter();
        bars.map(|bar| (bar.word(alarm.as_deref()), bar.what)).collect()
    };
    let gated = clean.map(words);
    let with_word = |bar: Bar| {
        let word = bar.word(alarm.as_deref());
        let mut second = gated.iter().flatten().filter(|(_, what)| *what == bar.what);
        let word = match second.next() {
            Some((gated, _)) if gated.starts_with(NOT_MEASURED) && *gated != word => {
                format!("cannot tell: {word}, and too few runs passed the noise gate")
            }
            Some((gated, _)) if *gated != word => {
                format!("cannot tell: all runs say {word}, those past the noise gate {gated}")
            }
            _ => word,
        };
        (bar, word)
    };
    bars(sweep).into_iter().map(with_word).collect()
}

pub(super) fn write(bars: &[(Bar, String)], page: &mut Page) {
    page.heading("Bars");
    page.paragraph(
        "Numbers of one block each, so that both sides share a session: a bare commit or a bare \
         append and sync is timed in the same run, beside the tasks. Ratios by Hodges and Lehmann \
         on logarithms, at 95 % or more over blocks (restarts). A bar is met where the whole \
         interval lies on its side.",
    );
    let mut table = Table::new(&[
        ("bar", "bar"),
        ("cell", "cell"),
        ("measured", "measured"),
        ("low", "low"),
        ("high", "high"),
        ("n", "n"),
        ("target", "target"),
        ("met", "met"),
        ("made of", "note"),
    ]);
    for (bar, word) in bars {
        let reading = bar.measured.as_ref().ok();
        let mut row = vec![Cell::text(&bar.what), Cell::text(&bar.cell)];
        row.extend(Reading::cells(reading));
        row.extend([
            Cell::value(reading.map(|reading| reading.n as f64), Unit::Count),
            Cell::text(bar.target()),
            Cell::text(word),
            Cell::text(&bar.note),
        ]);
        table.row(row);
    }
    page.table("bars", &table);
}

fn bars(sweep: &Sweep) -> Vec<Bar> {
    let mut bars = vec![commits(sweep), syncs(sweep)];
    bars.extend(looks(sweep));
    bars.push(dbos(sweep));
    bars
}

fn commits(sweep: &Sweep) -> Bar {
    let cell = sweep.event("linear");
    let each = |metric| sweep.level(POSTGRES, &cell, metric);
    let ratio = sweep.ratio((POSTGRES, &cell, "step_ns"), (POSTGRES, &cell, "bare_commit_ns"));
    let note = each("step_ns").zip(each("bare_commit_ns")).map(|(step, commit)| {
        let commits = each("commits_per_step").map_or("not counted".into(), |r| r.short());
        format!(
            "a step {}; a bare commit {}; commits a step {commits}",
            step.short(),
            commit.short()
        )
    });
    Bar {
        what: format!("`{POSTGRES}`: a step over a bare commit"),
        cell: sweep.label(&cell),
        measured: ratio.ok_or_else(|| missing(sweep, POSTGRES, "a run with a bare commit")),
        target: Target::AtMost(COMMITS_AT_MOST),
        note: note.unwrap_or_default(),
    }
}

fn syncs(sweep: &Sweep) -> Bar {
    let cell = sweep.event("linear");
    let each = |metric| sweep.level(JOURNAL, &cell, metric);
    let (transition, bare) = ("durable_transition_ns", "bare_sync_ns");
    let ratio = sweep.ratio((JOURNAL, &cell, transition), (JOURNAL, &cell, bare));
    let note = each("syncs_per_step").zip(each(bare)).map(|(syncs, bare)| {
        format!(
            "a durable transition is one counted sync: {} a step, of the 4 transitions that the \
             published system has; a bare append and sync {}",
            syncs.short(),
            bare.short()
        )
    });
    Bar {
        what: format!("`{JOURNAL}`: a durable transition over a bare append and sync"),
        cell: sweep.label(&cell),
        measured: ratio.ok_or_else(|| missing(sweep, JOURNAL, "a run that counts its syncs")),
        target: Target::AtMost(SYNCS_AT_MOST),
        note: note.unwrap_or_default(),
    }
}

/// Looking every 50 ms over being told, per back end.
fn looks(sweep: &Sweep) -> Vec<Bar> {
    let told = sweep.event("linear");
    let mut looking = told.clone();
    looking.insert("poll_ms".to_owned(), "50".to_owned());
    let barred = [MEMORY, JOURNAL];
    let mut variants: Vec<&str> = barred.to_vec();
    variants.extend(sweep.variants().into_iter().filter(|name| !barred.contains(name)));
    let one = |variant: &str| {
        let ratio = sweep.ratio((variant, &looking, MAKESPAN), (variant, &told, MAKESPAN));
        let is_bar = barred.contains(&variant);
        if ratio.is_none() && !is_bar {
            return None;
        }
        let each = |cell| sweep.level(variant, cell, MAKESPAN);
        let note = each(&looking).zip(each(&told)).map(|(looking, told)| {
            format!("looking every 50 ms {}; told {}", looking.short(), told.short())
        });
        Some(Bar {
            what: format!("`{variant}`: looking every 50 ms over being told"),
            cell: sweep.label(&told),
            measured: ratio
                .ok_or_else(|| missing(sweep, variant, "a run at 50 ms beside one told")),
            target: if is_bar { Target::AtLeast(LOOKS_AT_LEAST) } else { Target::None },
            note: note.unwrap_or_default(),
        })
    };
    variants.into_iter().filter_map(one).collect()
}

/// Both add something to the commits that they count; ours may add a fifth. On differences, for
/// what is left after the commits may be none.
fn dbos(sweep: &Sweep) -> Bar {
    let cell = sweep.event("linear");
    let peer = sweep
        .variants()
        .into_iter()
        .find(|name| name.starts_with("dbos") && !name.contains("sqlite"));
    let what = format!(
        "`{POSTGRES}`: what a step takes beyond its counted commits, less a fifth of DBOS's"
    );
    let beyond = |variant| sweep.series(variant, &cell, "beyond_commits_ns");
    let measured = peer.ok_or("no dbos in this sweep".to_owned()).and_then(|peer| {
        let (ours, theirs) = (beyond(POSTGRES), beyond(peer));
        let less = |(block, ns): (&u32, &f64)| Some((*block, ns - OF_DBOS * theirs.get(block)?));
        let difference: Series = ours.iter().filter_map(less).collect();
        let reading = Reading::level(&difference, Unit::Ns);
        reading.ok_or_else(|| "no block has both with commits counted".to_owned())
    });
    let note = peer.and_then(|peer| {
        let level = |variant| Reading::level(&beyond(variant), Unit::Ns);
        let (ours, theirs) = (level(POSTGRES)?, level(peer)?);
        Some(format!("`{POSTGRES}` {}; `{peer}` {}", ours.short(), theirs.short()))
    });
    Bar {
        what,
        cell: sweep.label(&cell),
        measured,
        target: Target::AtMost(0.0),
        note: note.unwrap_or_default(),
    }
}

fn missing(sweep: &Sweep, variant: &str, what: &str) -> String {
    if sweep.variants().contains(&variant) {
        format!("`{variant}` has no block with {what}")
    } else {
        format!("no {variant} in this sweep")
    }
}
