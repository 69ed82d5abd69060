//! The chapter about the runs that an answer takes, against those that it took before.

use super::Table;

/// Runs of a round that held the first program twice.
const RUNS_BEFORE: f64 = 3.0;

/// What was planted, and by which run half and 80 % of the replays had found it.
struct Found {
    noise: String,
    more: String,
    by: [Option<f64>; 2],
}

/// Rows of a table of replays, whose numbers are of so many runs each.
fn found(replays: &Table, runs_each: f64) -> Vec<Found> {
    let row = |row: &Vec<String>| {
        let what = replays.cell(row, "what");
        let (more, _) = what.strip_prefix('+')?.split_once(" %")?;
        let (_, by) = what.split_once("found slower within ")?.1.split_once("(half by ")?;
        let (half, most) = by.trim_end_matches(')').split_once(", 80 % by ")?;
        let number = |text: &str| {
            let number = text.trim_start_matches("run ").parse::<f64>().ok()?;
            Some(number * runs_each)
        };
        let noise = replays.cell(row, "noise").to_owned();
        Some(Found { noise, more: format!("{more} %"), by: [number(half), number(most)] })
    };
    replays.rows.iter().filter_map(row).collect()
}

/// Before and now, where both were found in replays of the same noise.
pub(super) fn chapter(now: &Table, before: &Table) -> String {
    let mut text = "# Runs until an answer\n\n[Report](../report.md)\n\nReplays of stored noise: \
                    runs of both commands by which half and 80 % of 2,000 comparisons found what \
                    was planted, and before, when a round held three runs and a verdict needed a \
                    control ([replays-before.tsv](../replays-before.tsv)). Target: no more than \
                    before.\n\n\
                    | noise | more | half, before | half, now | 80 %, before | 80 %, now | met |\n\
                    |---|---|---:|---:|---:|---:|---|\n"
        .to_owned();
    let earlier = found(before, RUNS_BEFORE);
    for Found { noise, more, by } in found(now, 1.0) {
        let is_same = |one: &&Found| (&one.noise, &one.more) == (&noise, &more);
        let Some(was) = earlier.iter().find(is_same) else { continue };
        let shown =
            |runs: Option<f64>| runs.map_or("never".to_owned(), |runs| format!("{runs:.0}"));
        // What was never found cost more than what is.
        let no_dearer = |now: Option<f64>, was: Option<f64>| {
            was.is_none_or(|was| now.is_some_and(|now| now <= was))
        };
        let met = match was.by == by && by == [None; 2] {
            true => "-",
            false if (0..2).all(|part| no_dearer(by[part], was.by[part])) => "yes",
            false => "no",
        };
        let [half, most] = by.map(shown);
        let [half_before, most_before] = was.by.map(shown);
        text += &format!(
            "| {noise} | {more} | {half_before} | {half} | {most_before} | {most} | {met} |\n"
        );
    }
    text
}
