//! Every variant over the reference, run by run: in each configuration, and where the agents of a
//! run have more and less equal work.

use std::collections::BTreeMap;

use lab_family::Cell;
use lab_report::frame::cell_key;
use lab_report::study::is_unpaired;
use lab_report::{Effect, Entry, Page, Reading, Rows, Study, Table, over_variant};
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
    if by_cell.is_empty() {
        return;
    }
    let what = format!("Each variant over `{}` in the same cell and block", study.reference());
    page.beside("over-reference", &what, &by_cell);
    let by_work = by_work(study, &others);
    if !by_work.is_empty() {
        let what = format!("{what}, where the work of agents is more and less equal");
        page.beside("over-reference-by-work", &what, &by_work);
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
    let mut columns = vec![
        ("variant".to_owned(), "variant".to_owned()),
        ("work".to_owned(), "work".to_owned()),
        ("n".to_owned(), "n".to_owned()),
    ];
    for metric in METRICS {
        let keys = [metric.to_owned(), format!("{metric}_low"), format!("{metric}_high")];
        columns.extend(keys.map(|key| (String::new(), key)));
    }
    let columns: Vec<(&str, &str)> =
        columns.iter().map(|(title, key)| (title.as_str(), key.as_str())).collect();
    let mut table = Table::new(&columns);
    let balance = values(study, study.reference(), BALANCE);
    let middle = median(&balance.values().copied().collect::<Vec<_>>());
    let Some(middle) = middle.filter(|middle| balance.values().any(|one| one < middle)) else {
        return table;
    };
    for variant in others {
        for (work, is_equal) in [("more equal", true), ("less equal", false)] {
            let is_here = |place: &Place| {
                balance.get(place).is_some_and(|share| (*share >= middle) == is_equal)
            };
            let readings = METRICS.map(|metric| over(study, variant, metric, &is_here));
            let Some(n) = readings.iter().flatten().map(|reading| reading.n).max() else {
                continue;
            };
            let mut row = vec![Entry::code(variant), Entry::text(work), Entry::count(n)];
            row.extend(readings.into_iter().flat_map(Reading::entries));
            table.row(row);
        }
    }
    table
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
