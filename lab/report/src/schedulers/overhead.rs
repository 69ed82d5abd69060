//! Section 1: what a decision costs.

use super::bars::{contention, ratio};
use super::grid::{self, Line, read};
use super::trials::{INLINE, OURS, PUBLISHED, Trials};
use crate::page::Page;
use crate::reading::or_not_measured;

/// (part, metric, what was published: P50 and mean).
const PARTS: [(&str, &str, &str, &str); 3] = [
    ("cold", "cold_ns", "first choose() on a key", "104 ns (mean 211 ns, sd 2,192 ns)"),
    ("choose", "choose_ns", "warm choose()", "109 ns (mean 113 ns)"),
    ("cycle", "cycle_ns", "choose() and finish()", "172 ns (mean 182 ns)"),
];

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("1. What a decision costs");
    page.paragraph(
        "Published: 5 × 1,000 calls, a clock read before and after each, one thread, so the clock \
         is part of every number and nothing contends for the lock. Here: batches with one pair of \
         clock reads, median over batches and deciders, then over blocks; `always_inline` decides \
         nothing and so is the floor of clock and loop.",
    );
    let deciders = trials.levels("decide", "deciders");
    let mut lines = Vec::new();
    for (part, metric, title, published) in PARTS {
        for count in &deciders {
            let levels = [("part", part), ("deciders", count.as_str())];
            let published = if count == "1" { published } else { "" };
            let line = Line::of("decide", &levels, metric);
            lines.push(line.labelled(&[title, count]).published(published));
        }
    }
    grid::write(trials, page, "overhead", &["operation", "deciders"], &lines);
    if !lines.is_empty() {
        page.paragraph(&reading(trials));
    }
}

fn reading(trials: &Trials) -> String {
    let warm = [("part", "choose"), ("deciders", "1")];
    let said =
        |policy| or_not_measured(read(trials, policy, "decide", &warm, "choose_ns").as_ref());
    let against = ratio(trials, (OURS, PUBLISHED), "decide", &warm, "choose_ns");
    let shared = |policy| {
        let found = contention(trials, policy);
        found.map_or("not measured".to_owned(), |(all, reading)| {
            format!("{} with {all} deciders", reading.text())
        })
    };
    format!(
        "**Reading.** A warm decision takes {} by `{OURS}` and {} by `{PUBLISHED}`, of which the \
         floor is {}: a ratio of {}. Deciding all at once multiplies it by {} (`{OURS}`) and {} \
         (`{PUBLISHED}`).",
        said(OURS),
        said(PUBLISHED),
        said(INLINE),
        or_not_measured(against.as_ref()),
        shared(OURS),
        shared(PUBLISHED),
    )
}
