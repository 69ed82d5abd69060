//! The outcome's counters and columns, as `lab_protocol::search` names them.

use std::collections::BTreeMap;

use crate::{Answer, Hit, busy};

/// The columns.
pub(crate) fn samples(answer: &Answer) -> BTreeMap<String, Vec<i64>> {
    let column = |value: fn(&Hit) -> i64| answer.hits.iter().map(value).collect();
    let (busy_ns, _) = busy::read();
    let columns: [(&str, Vec<i64>); 4] = [
        ("answer_file", column(|hit| i64::from(hit.file))),
        ("answer_offset_bytes", column(|hit| hit.offset.cast_signed())),
        ("answer_hash", column(|hit| hit.hash.cast_signed())),
        ("worker_busy_ns", busy_ns.into_iter().map(u64::cast_signed).collect()),
    ];
    columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()
}

/// The counters that the answer knows; the meter knows the others.
pub(crate) fn counters(answer: &Answer) -> [(&'static str, u64); 13] {
    let tally = &answer.tally;
    [
        ("files_unreadable", answer.unreadable.len() as u64),
        ("bytes", tally.bytes),
        ("bytes_read", tally.bytes_read),
        ("bytes_parsed", tally.bytes_parsed),
        ("lines", tally.lines),
        ("lines_parsed", tally.lines_parsed),
        ("lines_invalid", tally.lines_invalid),
        ("matches", tally.matches),
        ("read_ns", tally.read_ns),
        ("scan_ns", tally.scan_ns),
        ("parse_ns", tally.parse_ns),
        ("merge_ns", tally.merge_ns),
        ("threads", busy::read().1.max(1)),
    ]
}
