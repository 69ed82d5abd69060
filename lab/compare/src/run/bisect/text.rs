//! What a search prints.

use lab_console::{Exit, Failure, plain, seconds_text};
use serde_json::{Value, json};

use super::{BisectOptions, Search};
use crate::{
    Estimate,
    bisect::{Bisect, Compared, Confirmation, End, Side},
    run::{builds::Revision, text::interval},
};

/// Of what --json prints.
const SCHEMA: &str = "lab-bisect-1";
/// What is said of a search that ends.
const ERROR: &str = "wrong with probability 1 % at most, if one commit made the change";

/// Before the first run.
pub(super) fn announcement(options: &BisectOptions, commits: usize, most: usize) -> String {
    let [each, all] = [options.budget_s, most as f64 * options.budget_s].map(seconds_text);
    format!(
        "{commits} commits after {}; at most {most} comparisons of {each}, {all} in all, and the \
         builds",
        options.good
    )
}

/// While a comparison runs.
pub(super) fn progress(bisect: &Bisect, commits: &[Revision]) -> String {
    let Some(compared) = bisect.running() else { return String::new() };
    format!("{}, {}; {}", pair(&compared, commits), spent(&compared), left(bisect.known()))
}

/// After a comparison.
pub(super) fn told(compared: &Compared, commits: &[Revision], known: [usize; 2]) -> String {
    let side = match (compared.side, compared.same_bytes) {
        (Some(Side::Good), false) => "good",
        (Some(Side::Bad), false) => "bad",
        (Some(Side::Good), true) => "good, the same bytes as a good one",
        (Some(Side::Bad), true) => "bad, the same bytes as a bad one",
        (None, _) => "not told",
    };
    let (pair, spent) = (pair(compared, commits), spent(compared));
    match compared.same_bytes {
        true => format!("{}: {side}; {}", commits[compared.candidate].short(), left(known)),
        false => format!("{pair}: {side} ({spent}); {}", left(known)),
    }
}

/// The end for a person; `None` where the user stopped it.
pub(super) fn ending(search: &Search<'_>, end: Option<End>) -> Result<Vec<String>, Failure> {
    let (options, compared) = (search.options, search.bisect.compared());
    let mut lines = match end {
        Some(End::Found { after, commit, confirmation }) => {
            found(search, [after, commit], confirmation)?
        }
        Some(End::Unknown { .. }) => vec![
            format!("cannot tell: the change came {}", range(search, search.bisect.known())),
            format!("  the last comparison gave {}; give more --budget", estimate(search, None)),
        ],
        Some(End::NoChange) => {
            let same = compared.last().is_some_and(|compared| compared.same_bytes);
            let seen = if same { "the same bytes".to_owned() } else { estimate(search, None) };
            let (good, bad, word) = (&options.good, &options.bad, word(options));
            return Ok(vec![format!(
                "cannot tell: {bad} is not shown to be {word} than {good}: {seen}"
            )]);
        }
        None if search.bisect.threshold().is_none() => {
            return Ok(vec!["interrupted: no change was shown yet".to_owned()]);
        }
        None => {
            vec![format!("interrupted: the change came {}", range(search, search.bisect.known()))]
        }
    };
    let whole = estimate(search, Some(0));
    lines.push(format!("  {} against {}: {whole}", options.bad, options.good));
    let estimates = compared.iter().filter_map(|compared| compared.estimate.as_ref());
    let pairs: usize = estimates.map(|estimate| estimate.pairs).sum();
    let seconds: f64 = compared.iter().map(|compared| compared.elapsed_s).sum();
    let spent = seconds_text(seconds);
    lines.push(format!(
        "  {} comparisons, {pairs} pairs that count, {spent}; {ERROR}",
        compared.len()
    ));
    Ok(lines)
}

fn found(
    search: &Search<'_>,
    [after, commit]: [usize; 2],
    confirmation: Confirmation,
) -> Result<Vec<String>, Failure> {
    let revision = &search.commits[commit];
    let subject = plain::line(&search.store.git.subject(&revision.commit)?);
    let hash = &revision.commit;
    let first = match confirmation {
        _ if commit > after + 1 => format!(
            "cannot tell: the commits between do not build; the change came {}",
            range(search, [after, commit])
        ),
        Confirmation::Shown => format!("{hash} is {}: {subject}", word(search.options)),
        Confirmation::TooSmall | Confirmation::Open => {
            format!("cannot tell: the search ends at {hash}: {subject}")
        }
    };
    let before = search.commits[after].short();
    let mut lines = vec![first, format!("  against {before}: {}", estimate(search, None))];
    lines.extend(match confirmation {
        Confirmation::Shown => None,
        Confirmation::TooSmall => {
            Some("  that is less than half of the whole: several commits made it".to_owned())
        }
        Confirmation::Open => Some("  that could not be told; give more --budget".to_owned()),
    });
    Ok(lines)
}

fn word(options: &BisectOptions) -> &'static str {
    if options.faster { "faster" } else { "slower" }
}

fn range(search: &Search<'_>, [after, until]: [usize; 2]) -> String {
    let [first, last] = [after, until].map(|commit| search.commits[commit].short());
    format!("after {first} and with {last} at the latest ({} commits)", until - after)
}

/// Of the comparison of this number, or of the last one.
fn estimate(search: &Search<'_>, number: Option<usize>) -> String {
    let compared = search.bisect.compared();
    let compared = number.map_or(compared.last(), |number| compared.get(number));
    let estimate = compared.and_then(|compared| compared.estimate.as_ref());
    let metric = search.options.metric.label();
    estimate.map_or("no estimate".to_owned(), |found| format!("{metric} {}", interval(found)))
}

/// The end for other programs, with the exit code of this one.
pub(super) fn result(search: &Search<'_>, end: Option<End>, exit: Exit) -> Value {
    let commits = search.commits.iter().zip(&search.programs);
    let commits: Vec<Value> = commits
        .map(|(revision, built)| {
            json!({
                "commit": revision.commit, "tree": revision.tree,
                "sha256": built.as_ref().map(|built| &built.sha256),
            })
        })
        .collect();
    let found = match end {
        Some(End::Found { commit, .. }) => Some(&search.commits[commit].commit),
        _ => None,
    };
    let [after, until] = search.bisect.known();
    json!({
        "schema": SCHEMA, "seed": search.seed, "metric": search.options.metric.label(),
        "good": search.options.good, "bad": search.options.bad, "faster": search.options.faster,
        "command": search.options.command, "build": search.options.build,
        "commits": commits, "comparisons": search.bisect.compared(),
        "half": search.bisect.threshold(), "alpha": search.bisect.settings().alpha,
        "end": end, "found": found,
        "range": { "after": search.commits[after].commit, "until": search.commits[until].commit },
        "exit": exit.code(),
    })
}

/// "a against b: +3.02 % (+2.00 … +4.05)".
fn pair(compared: &Compared, commits: &[Revision]) -> String {
    let names = [compared.candidate, compared.reference].map(|commit| commits[commit].short());
    let estimate = compared.estimate.as_ref().map_or("no interval yet".to_owned(), interval);
    format!("{} against {}: {estimate}", names[0], names[1])
}

fn spent(compared: &Compared) -> String {
    let pairs = compared.estimate.as_ref().map_or(0, |Estimate { pairs, .. }| *pairs);
    format!("{pairs} pairs, {}", seconds_text(compared.elapsed_s))
}

fn left([after, until]: [usize; 2]) -> String {
    match until - after {
        1 => "1 commit left".to_owned(),
        left => format!("{left} commits left"),
    }
}
