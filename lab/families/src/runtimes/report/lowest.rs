//! Whether the published score follows the lengths of replies, and where it is lowest.

use lab_family::Unit::Share;
use lab_record::ExpectationKind;
use lab_report::Column::{Number, Words};
use lab_report::{Measured, Page, Study, Table, expect::Judged, frame::name};
use lab_stats::correlation::{pearson, spearman};

use super::groups::{concurrent, is_of_tr115, serial_variants};
use crate::runtimes::samples::tokens_per_agent;

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
    page.paragraph(&format!(
        "Over {} concurrent runs the published score and the balance of the agents' token counts \
         correlate by {pearson:.3} (Pearson), {spearman:.3} (Spearman).",
        runs.len()
    ));
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let tokens = |one: &Measured| {
        let tokens = tokens_per_agent(&one.row.samples).unwrap_or_default();
        tokens.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let table = Table::over(
        runs.into_iter().take(SHOWN),
        &[
            Words("", "run", &|(.., one)| name(&one.row.run)),
            Number("", SCORE, Share, &|(score, ..)| Some(*score)),
            Number("", BALANCE, Share, &|(_, share, _)| Some(*share)),
            Words("", "tokens", &|(.., one)| tokens(one)),
        ],
    );
    page.beside("lowest", "The runs with the lowest score", &table);
}
