//! What the transactions of a sweep may have moved, of what the machine's memory gives.

use super::sweep::{Sweep, report};
use lab_report::Report;
use proof_kit::world::{expected, number};

/// The report of a sweep on a machine whose memory gives so many bytes per second.
fn of_memory(bytes_per_s: u64) -> Report {
    let mut frame = Sweep::default().frame();
    let floors = serde_json::json!({ "memory_read_bytes_per_s": bytes_per_s });
    for session in &mut frame.sessions {
        session.environment.insert("floors".to_owned(), floors.clone());
    }
    report(&frame)
}

#[test]
fn a_full_memory_bus_is_a_cause_where_transactions_could_fill_it_and_nowhere_else() {
    let cause = |report: &Report| expected(report, "cause_memory");
    let (wide, narrow) = (of_memory(100_000_000_000), of_memory(100_000_000));
    assert_eq!(cause(&wide), "fails");
    assert_eq!(cause(&narrow), "holds");
    assert_eq!(cause(&Sweep::default().report()), "not measured");
    let keys = [("variant", "dashmap"), ("transactions", "100"), ("workers", "64")];
    let share = |report| number(report, "counters.tsv", &keys, "memory_share_at_most");
    let ratio = share(&narrow) / share(&wide);
    assert!((ratio - 1_000.0).abs() < 1e-6, "{ratio}");
    assert!(share(&wide) > 0.0);
}
