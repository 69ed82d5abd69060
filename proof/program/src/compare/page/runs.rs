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

/// What was planted, and the part of the runs of before that may be needed now.
const TARGETS: [(&str, f64); 4] =
    [("0.3 %", 0.8), ("1.0 %", 0.65), ("2.0 %", 0.65), ("5.0 %", 0.4)];

/// Of each difference what a half or 80 % of comparisons take now of what they took, the largest
/// over all recordings on which both were found, with its target.
pub(crate) fn parts(now: &Table, before: &Table) -> Vec<(&'static str, f64, f64)> {
    let (now, before) = (found(now, 1.0), found(before, RUNS_BEFORE));
    let of = |more: &str| {
        let mut parts = Vec::new();
        for one in now.iter().filter(|one| one.more == more) {
            let was = before.iter().find(|was| (&was.noise, &was.more) == (&one.noise, &one.more));
            let both = was.map(|was| one.by.into_iter().zip(was.by)).into_iter().flatten();
            parts.extend(both.filter_map(|(now, was)| Some(now? / was?)));
        }
        parts.into_iter().reduce(f64::max)
    };
    let row = |(more, target): &(&'static str, f64)| Some((*more, of(more)?, *target));
    TARGETS.iter().filter_map(row).collect()
}

/// Before and now, where both were found in replays of the same noise.
pub(super) fn chapter(now: &Table, before: &Table) -> String {
    let mut text = "# Runs until an answer\n\n[Report](../report.md)\n\nReplays of stored noise: \
                    runs of both commands by which half and 80 % of 2,000 comparisons found what \
                    was planted, and before ([replays-before.tsv](../replays-before.tsv)), when a \
                    round held three runs, a verdict needed a control, and the evidence was a \
                    bound. Part: now ÷ before, of half and of 80 %. Target: the part that both may \
                    be.\n\n\
                    | noise | more | half, before | half, now | 80 %, before | 80 %, now | part | \
                    target | met |\n|---|---|---:|---:|---:|---:|---:|---:|---|\n"
        .to_owned();
    let earlier = found(before, RUNS_BEFORE);
    for Found { noise, more, by } in found(now, 1.0) {
        let is_same = |one: &&Found| (&one.noise, &one.more) == (&noise, &more);
        let Some(was) = earlier.iter().find(is_same) else { continue };
        let Some((_, target)) = TARGETS.iter().find(|(name, _)| *name == more) else { continue };
        let shown =
            |runs: Option<f64>| runs.map_or("never".to_owned(), |runs| format!("{runs:.0}"));
        let part = |of: usize| Some(by[of]? / was.by[of]?);
        let parts = [0, 1].map(part);
        let met = if by == [None; 2] && was.by == by {
            "-"
        } else {
            // What was never found before costs less now, whatever it takes.
            let meets = |of: usize| match (by[of], was.by[of]) {
                (now, None) => now.is_some() || by[0].is_some(),
                _ => parts[of].is_some_and(|part| part <= *target),
            };
            if meets(0) && meets(1) { "yes" } else { "no" }
        };
        let [half, most] = by.map(shown);
        let [half_before, most_before] = was.by.map(shown);
        let parts =
            parts.map(|part| part.map_or("-".to_owned(), |part| format!("{part:.2}"))).join(", ");
        text += &format!(
            "| {noise} | {more} | {half_before} | {half} | {most_before} | {most} | {parts} | \
             {target} | {met} |\n"
        );
    }
    text
}
