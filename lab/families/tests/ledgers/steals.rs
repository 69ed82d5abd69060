//! What builds add whose runtime tells more of itself.

use super::sweep::{Sweep, report};
use lab_record::Column;
use proof_kit::world::number;

#[test]
fn steals_and_overflows_are_told_where_a_build_counts_them() {
    assert!(!Sweep::default().report().tables["counters.tsv"].contains("tokio_steals"));
    let mut frame = Sweep::default().frame();
    for row in &mut frame.rows {
        for (name, values) in [("tokio_steals", [20, 30, 20]), ("tokio_overflows", [0, 0, 9])] {
            row.samples.columns.insert(name.to_owned(), Column::Raw(values.to_vec()));
        }
    }
    let report = report(&frame);
    let keys = [("variant", "dashmap"), ("transactions", "100"), ("workers", "2")];
    let of = |column: &str| number(&report, "counters.tsv", &keys, column);
    // The median repetition has 20 steals in 10,000 transactions.
    assert_eq!((of("tokio_steals_per_1000"), of("tokio_overflows_per_1000")), (2.0, 0.0));
}
