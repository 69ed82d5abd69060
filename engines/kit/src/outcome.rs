//! The outcome's counters and columns, as `lab_protocol::engines` names them.

use jsonl_search::busy;
use lab_protocol::engines::names;

use std::collections::BTreeMap;

use crate::{Answer, Hit};

/// The columns.
pub(crate) fn samples(answer: &Answer) -> BTreeMap<String, Vec<i64>> {
    let column = |value: fn(&Hit) -> i64| answer.hits().map(value).collect();
    let (busy_ns, _) = busy::read();
    let columns: [(&str, Vec<i64>); 4] = [
        (names::ANSWER_FILE, column(|hit| i64::from(hit.file))),
        (names::ANSWER_OFFSET_BYTES, column(|hit| hit.offset.cast_signed())),
        (names::ANSWER_HASH, column(|hit| hit.hash.cast_signed())),
        (names::WORKER_BUSY_NS, busy_ns.into_iter().map(u64::cast_signed).collect()),
    ];
    columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()
}

/// The counters that the answer knows; the meter knows the others.
pub(crate) fn counters(answer: &Answer) -> [(&'static str, u64); 13] {
    let tally = &answer.tally;
    [
        (names::FILES_UNREADABLE, answer.unreadable.len() as u64),
        (names::BYTES, tally.bytes),
        (names::BYTES_READ, tally.bytes_read),
        (names::BYTES_PARSED, tally.bytes_parsed),
        (names::LINES, tally.lines),
        (names::LINES_PARSED, tally.lines_parsed),
        (names::LINES_INVALID, tally.lines_invalid),
        (names::MATCHES, tally.matches),
        (names::READ_NS, tally.read_ns),
        (names::SCAN_NS, tally.scan_ns),
        (names::PARSE_NS, tally.parse_ns),
        (names::MERGE_NS, tally.merge_ns),
        ("threads", busy::read().1.max(1)),
    ]
}
