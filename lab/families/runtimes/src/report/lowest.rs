//! What the published score follows, and the runs in which it is lowest.

use lab_family::Unit;
use lab_record::ExpectationKind;
use lab_report::expect::Judged;
use lab_report::frame::name;
use lab_report::measure::Measured;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::tables::{Entry, Table};
use lab_stats::correlation::{pearson, spearman};

use super::groups::{concurrent, is_of_tr115, serial_variants};
use crate::samples::tokens_per_agent;

/// Runs that are named.
const SHOWN: usize = 10;
const SCORE: &str = "efficiency_as_published";
const BALANCE: &str = "token_balance_share";

/// For experiments that hold statements of the published report against their runs.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let is_published = |one: &Judged| one.expectation.kind == ExpectationKind::Published;
    if !study.expected.iter().any(is_published) {
        return;
    }
    let serial = serial_variants(study);
    let mut runs: Vec<(f64, f64, &Measured)> = concurrent(study)
        .filter(|one| !serial.contains(one.variant()) && is_of_tr115(study, one))
        .filter_map(|one| Some((one.value(SCORE)?, one.value(BALANCE)?, one)))
        .collect();
    let (scores, balances): (Vec<f64>, Vec<f64>) =
        runs.iter().map(|(score, balance, _)| (*score, *balance)).unzip();
    let both = pearson(&scores, &balances).zip(spearman(&scores, &balances));
    let Some((pearson, spearman)) = both else { return };
    page.heading("The published score and the lengths of replies");
    page.paragraph(&format!(
        "Over {} concurrent runs of variants that overlap their agents, the published efficiency \
         and the balance of the agents' token counts (mean over largest) correlate with \
         {pearson:.3} (Pearson) and {spearman:.3} (Spearman). The runs with the lowest score:",
        runs.len()
    ));
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut table = Table::new(&[
        ("run", "run"),
        ("efficiency as published", SCORE),
        ("balance of tokens", BALANCE),
        ("tokens of each agent", "tokens"),
    ]);
    for (score, balance, one) in runs.into_iter().take(SHOWN) {
        let tokens = tokens_per_agent(&one.row.samples).unwrap_or_default();
        let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        table.row(vec![
            Entry::text(name(&one.row.run)),
            Entry::value(Some(score), Unit::Share),
            Entry::value(Some(balance), Unit::Share),
            Entry::text(tokens.join(", ")),
        ]);
    }
    page.table("lowest", &table);
}
