//! Every variant over the reference, run by run: in each configuration, and where the agents of a
//! run have more and less equal work.

use std::collections::BTreeMap;

use lab_family::Cell;
use lab_report::Column::{Code, Count, Interval, Text};
use lab_report::frame::cell_key;
use lab_report::study::is_unpaired;
use lab_report::{Chapter, Effect, Page, Reading, Rows, Study, Table, over_variant};
use lab_stats::describe::median;

use super::groups::concurrent;

const METRICS: [&str; 3] = ["wall_ns", "efficiency_true", "cpu_per_token_ns"];
const BALANCE: &str = "token_balance_share";

/// A cell and a block: the same work for every variant.
pub(super) type Place = (String, u32);

/// Nothing where every variant had work of its own.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let others: Vec<&str> = others(study);
    if is_unpaired(study.frame) || others.is_empty() {
        return;
    }
    let is_concurrent = |cell: &Cell| cell.get("arrangement").is_none_or(|level| level != "solo");
    let is_used = |name: &&str| study.all_cells().iter().any(|cell| cell.contains_key(*name));
    let factors = study.family.factors().iter().map(|factor| factor.name);
    let factors: Vec<&str> =
        factors.filter(|name| *name != "arrangement" && is_used(name)).collect();
    let rows = Rows { variants: &others, keep: &is_concurrent, factors: &factors };
    let by_cell = over_variant(study, &rows, study.reference(), &METRICS);
    let what = format!("Each variant over `{}` in the same cell and block", study.reference());
    if page.chapter(Chapter::beside("over-reference", &what, by_cell)) {
        let what = format!("{what}, where the work of agents is more and less equal");
        let by_work = by_work(study, &others);
        page.chapter(Chapter::beside("over-reference-by-work", &what, by_work));
    }
}

pub(super) fn others<'a>(study: &Study<'a>) -> Vec<&'a str> {
    let variants = study.measured_variants().into_iter();
    variants.filter(|variant| *variant != study.reference()).collect()
}

/// Of a variant's concurrent runs.
pub(super) fn values(study: &Study, variant: &str, metric: &str) -> BTreeMap<Place, f64> {
    let runs = concurrent(study).filter(|one| one.variant() == variant);
    let place = |run: &lab_record::Run| (cell_key(run), run.block);
    runs.filter_map(|one| Some((place(&one.row.run), one.value(metric)?))).collect()
}

fn by_work(study: &Study, others: &[&str]) -> Table {
    let balance = &values(study, study.reference(), BALANCE);
    let middle = median(&balance.values().copied().collect::<Vec<_>>());
    let middle = middle.filter(|middle| balance.values().any(|one| one < middle));
    let works = [("more equal", true), ("less equal", false)];
    let works: &[_] = if middle.is_some() { &works } else { &[] };
    let rows = others.iter().flat_map(|variant| {
        works.iter().filter_map(move |(work, is_equal)| {
            let is_here = |place: &Place| {
                let share = balance.get(place).zip(middle);
                share.is_some_and(|(share, middle)| (*share >= middle) == *is_equal)
            };
            let readings = METRICS.map(|metric| over(study, variant, metric, &is_here));
            let n = readings.iter().flatten().map(|reading| reading.n).max()?;
            Some((*variant, *work, n, readings))
        })
    });
    Table::over(
        rows,
        &[
            Code("", "variant", &|(variant, ..)| variant),
            Text("", "work", &|(_, work, ..)| work),
            Count("", "n", &|(_, _, n, _)| *n),
            Interval("", METRICS[0], &|(.., readings)| readings[0]),
            Interval("", METRICS[1], &|(.., readings)| readings[1]),
            Interval("", METRICS[2], &|(.., readings)| readings[2]),
        ],
    )
}

/// A metric over the reference's in the same place.
fn over(
    study: &Study,
    variant: &str,
    metric: &str,
    is_here: &impl Fn(&Place) -> bool,
) -> Option<Reading> {
    let (own, base) = (values(study, variant, metric), values(study, study.reference(), metric));
    let pairs = own.iter().filter(|(place, _)| is_here(place)).filter_map(|(place, value)| {
        let ratio = (value / base.get(place)?).ln();
        ratio.is_finite().then_some(ratio)
    });
    Effect::of(pairs.collect()).as_ref().map(Reading::of_ratio)
}
