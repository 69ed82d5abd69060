//! What is asked of a comparison's cost, as measured, target and met.

use std::{fs, path::Path, process::Command, time::Instant};

use anyhow::{Context, Result, ensure};
use lab_stats::{
    describe::median,
    sequence::Sequence,
    tail_sequence::{TailSequence, TailSide},
};

use super::{
    lab,
    page::{Table, parts},
    prices::{Pairs, nth, until_told},
    tables::yes_or_no,
};

const ALPHA: f64 = 0.01;
const MARGIN: f64 = 0.01;
/// How much pairs vary here, in per cent.
const NOISE: f64 = 1.5;
const TRIES: u64 = 400;
/// Rounds at most.
const MOST: usize = 20_000;
/// Runs of the reference before its median means something.
const EARLIER: usize = 10;

struct Bar {
    what: String,
    measured: f64,
    target: f64,
    /// Whether more is better.
    at_least: bool,
}

impl Bar {
    fn at_most(what: impl Into<String>, measured: f64, target: f64) -> Self {
        Self { what: what.into(), measured, target, at_least: false }
    }

    fn line(&self) -> String {
        let Self { what, measured, target, at_least } = self;
        let (word, met) = match at_least {
            true => ("at least", measured >= target),
            false => ("at most", measured <= target),
        };
        let measured = (measured * 1_000.0).round() / 1_000.0;
        format!("{what}\t{measured}\t{word} {target}\t{}\n", yes_or_no(met))
    }
}

/// Writes `bars.tsv` into the folder, from its tables and from what is measured now.
pub(super) fn write(folder: &Path) -> Result<()> {
    let mut bars = parts_of_before(folder)?;
    bars.extend(planted(folder)?);
    bars.extend([twofold(), equivalent(), a_look()?, tail(), long_programs()?]);
    let lines: String = bars.iter().map(Bar::line).collect();
    let path = folder.join("bars.tsv");
    let text = "bar\tmeasured\ttarget\tmet\n".to_owned() + &lines;
    print!("{text}");
    fs::write(&path, text).with_context(|| path.display().to_string())
}

fn read(folder: &Path, name: &str) -> Result<Table> {
    Table::read(folder, name)?.with_context(|| format!("{} has no {name}", folder.display()))
}

/// Of each difference the largest part of the runs that it took before.
fn parts_of_before(folder: &Path) -> Result<Vec<Bar>> {
    let (now, before) = (read(folder, "replays.tsv")?, read(folder, "replays-before.tsv")?);
    let bar = |(more, part, target)| {
        let what = format!("{more} more on stored noise: runs until it is told, part of before");
        Bar::at_most(what, part, target)
    };
    Ok(parts(&now, &before).into_iter().map(bar).collect())
}

/// Of planted work: the share of tries that found it in time. Beside a neighbour it is as much as
/// before at least.
fn planted(folder: &Path) -> Result<Vec<Bar>> {
    let planted = read(folder, "planted.tsv")?;
    let mut bars = Vec::new();
    for (neighbour, within, target) in [("no", "alone", 0.8), ("yes", "beside a neighbour", 0.875)]
    {
        let row = planted.rows.iter().find(|row| {
            planted.cell(row, "neighbour") == neighbour && planted.cell(row, "more") == "1.0 %"
        });
        let row = row.context("planted.tsv has no row of 1.0 %")?;
        let (budget, tries) = (planted.cell(row, "budget_s"), planted.cell(row, "tries"));
        let measured = planted.cell(row, "right_share").parse().context("1.0 % was not tried")?;
        bars.push(Bar {
            what: format!("1 % more work {within}: share of {tries} tries told within {budget} s"),
            measured,
            target,
            at_least: true,
        });
    }
    Ok(bars)
}

fn twofold() -> Bar {
    let rounds = (0..TRIES).map(|seed| until_told(Pairs::new(NOISE, 100.0, seed))).collect();
    Bar::at_most("twice the time: rounds until it is told, 80 % of tries", nth(rounds, 0.8), 12.0)
}

fn equivalent() -> Bar {
    let margin = f64::ln_1p(MARGIN);
    let rounds = |seed| {
        let mut sequence = Sequence::new(ALPHA, &[margin, -margin]).expect("a level");
        let mut pairs = Pairs::new(NOISE, 0.0, seed);
        let told = (1..MOST).find(|_| {
            sequence.push(pairs.difference());
            let both = sequence.excludes(margin) && sequence.excludes(-margin);
            both && sequence
                .interval()
                .is_some_and(|hull| -margin <= hull.low && hull.high <= margin)
        });
        told.unwrap_or(MOST)
    };
    let what = "equal programs whose pairs vary by 1.5 %: runs until equivalent within 1 %, half";
    Bar::at_most(what, 2.0 * nth((0..TRIES).map(rounds).collect(), 0.5), 200.0)
}

fn a_look() -> Result<Bar> {
    let mut sequence = Sequence::new(ALPHA, &[0.0]).expect("a level");
    let mut pairs = Pairs::new(NOISE, 0.0, 0);
    (0..2_000).for_each(|_| assert!(sequence.push(pairs.difference())));
    let took = |_| {
        let begin = Instant::now();
        let hull = sequence.interval();
        let seconds = begin.elapsed().as_secs_f64();
        ensure!(hull.is_some(), "2,000 pairs have an interval");
        Ok(1e3 * seconds)
    };
    let times = (0..101).map(took).collect::<Result<Vec<f64>>>()?;
    let typical = median(&times).context("there are times")?;
    Ok(Bar::at_most("an interval of 2,000 rounds from nothing: milliseconds", typical, 1.0))
}

fn tail() -> Bar {
    let mut tail = TailSequence::new(ALPHA, 0.05).expect("a level and a margin");
    let pairs = (1..MOST).find(|_| {
        tail.push(1.0, 1.0, 1.0);
        tail.side() == TailSide::Within
    });
    let rounds = (EARLIER + pairs.unwrap_or(MOST)) as f64;
    Bar::at_most("shares of slow runs within 5 points, none slow: rounds", rounds, 120.0)
}

fn long_programs() -> Result<Bar> {
    let begin = Instant::now();
    let mut compare = Command::new(lab()?);
    let ended = compare.args(["compare", "sleep 10", "sleep 5", "--json"]).output()?;
    let json: serde_json::Value = serde_json::from_slice(&ended.stdout)?;
    let outcome = &json["state"]["candidates"][0]["verdict"]["outcome"];
    ensure!(outcome == "faster", "sleep 5 was not told from sleep 10: {outcome}");
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Bar::at_most("programs of 10 and 5 s with the check: seconds until told", seconds, 240.0))
}
