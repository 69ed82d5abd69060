//! The chapter about what a run leaves to the next.

use super::Table;

/// The row of all kinds of program.
const ALL: &str = "judged";

/// The first sentence of the page.
pub(super) fn answer(copies: &Table) -> String {
    let Some(all) = all(copies) else { return String::new() };
    let cell = |name| copies.cell(all, name);
    let kinds = copies.rows.iter().filter(|row| !std::ptr::eq(row.as_slice(), all));
    let wrong = kinds.filter(|row| copies.cell(row, "false") != "0");
    let wrong: Vec<String> = wrong
        .map(|row| format!("{} {}", copies.cell(row, "false"), copies.cell(row, "programs")))
        .collect();
    let of_kinds = match wrong.is_empty() {
        true => String::new(),
        false => format!(", by kind: {}", wrong.join(", ")),
    };
    format!(
        "Of {} real comparisons of equal files, {} kinds of program in 200 rounds each, {} called \
         the two different{of_kinds} (1 % is allowed); the mean of all estimates is {} %. ",
        cell("tries"),
        copies.rows.len() - 1,
        cell("false"),
        cell("mean_percent")
    )
}

fn all(copies: &Table) -> Option<&[String]> {
    copies.rows.iter().find(|row| copies.cell(row, "programs") == ALL).map(Vec::as_slice)
}

/// The same in the few words of a first screen.
pub(super) fn short(twice: Option<&Table>) -> String {
    let mut text =
        "\nUntil 2026-11-26 a round held the first command twice, and what a run leaves to \
                    the next counted as a difference: [what shows that it no longer \
                    does](details/left.md)."
            .to_owned();
    if let Some(twice) = twice {
        let (both, same) = counts(twice);
        text += &format!(
            " Files that still differ do so by their place in memory: of {both} pairs that did \
             twice, in both orders, {same} had the same file ahead."
        );
    }
    text + "\n"
}

/// Pairs that were called different both times, and those of them with the same set ahead.
fn counts(twice: &Table) -> (usize, usize) {
    let is = |row: &&Vec<String>, name| twice.cell(row, name) == "yes";
    let both = || twice.rows.iter().filter(|row| is(row, "both_exclude_0"));
    (both().count(), both().filter(|row| is(row, "same_sign")).count())
}

/// What was wrong, and what shows that it no longer is.
pub(super) fn chapter(
    copies: Option<&Table>,
    twice: Option<&Table>,
    replays: Option<&Table>,
) -> String {
    let mut text =
        "# What a run leaves to the next\n\n[Report](../report.md)\n\nUntil 2026-11-26 a \
                    round held the first \
                    command twice and the others once. The first then followed itself in 5/9 of \
                    its runs and another in 1/9, and what a run left behind (caches, page cache, \
                    state) counted as a difference: equal programs over 3 MB of data came out 29 \
                    to 51 % apart. A round now holds each command once.\n"
            .to_owned();
    if let Some(replays) = replays {
        text += &of_replays(replays);
    }
    if let Some(copies) = copies {
        text += "\nCopies of real programs and of what they read, in two folders, through the \
                 command line, both orders. Each row is listed, the last one is judged. \
                 *After itself*: a run right after its own program against one after the other, \
                 with a 95 % interval. [copies.tsv](../copies.tsv)\n\n";
        text += &copies.markdown(&[
            ("programs", "programs"),
            ("tries", "tries"),
            ("false", "false"),
            ("mean (%)", "mean_percent"),
            ("its error (%)", "standard_error_percent"),
            ("pairs' SD (%)", "pair_sd_percent"),
            ("after itself (%)", "after_itself_percent"),
            ("run (ms)", "median_ms"),
            ("met", "met"),
        ]);
        text += &twice.map_or_else(String::new, of_twice);
    }
    text
}

/// Whether what was called different lies in the files.
fn of_twice(twice: &Table) -> String {
    let ((both, same), all) = (counts(twice), twice.rows.len());
    format!(
        "\nWhy more than allowed: {all} pairs of sets were compared a second time, in the other \
         order ([copies-twice.tsv](../copies-twice.tsv)). {both} were called different both times, \
         {same} of them with the same set ahead. What differs is the files' place in memory, which \
         one sitting keeps: the larger the data, the more. `--control --data FILE` asks for it.\n"
    )
}

/// The worst of the rows in which carry-over is planted, and what the design of before gives.
fn of_replays(replays: &Table) -> String {
    let of = |what: &'static str| {
        let rows = replays.rows.iter().filter(move |row| replays.cell(row, "what").contains(what));
        rows.filter_map(|row| replays.cell(row, "measured").parse::<f64>().ok())
    };
    let planted = || of("after themselves").chain(of("rounds of their own"));
    let (count, worst) = (planted().count(), planted().fold(0.0, f64::max));
    let (least, most) = of("the reference twice in a round")
        .fold((f64::INFINITY, 0.0_f64), |(low, high), share| (low.min(share), high.max(share)));
    format!(
        "\nIn {count} rows of replays programs are 1 to 40 % faster or slower after themselves, 2 \
         and 4 at a time, with and without a control, with slow first places: at most {:.2} % ever \
         exclude 0. With the first command twice in a round it is {:.0} to {:.0} % at 10 %.\n",
        100.0 * worst,
        100.0 * least,
        100.0 * most
    )
}
