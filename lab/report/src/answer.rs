//! The answer to a sweep's first comparison, in one sentence.

use lab_stats::{describe::median, outcome::Outcome};

use crate::{Study, compare::Line, study::Compared};

/// "`b` beats `a` by most (-12 %) on `wall_ns`; 2 are worse (+3 % to +9 %)."
///
/// `None` where no run answers the first comparison, or none is declared.
pub(crate) fn answer(study: &Study) -> Option<String> {
    let compared = study.compared.first()?;
    let lines: Vec<&Line> = compared.lines.iter().filter(|line| line.n > 0).collect();
    if study.has_only_reference() || lines.is_empty() {
        return None;
    }
    let mut parts = vec![leader(study.reference(), compared, &lines)];
    parts.extend(worse(compared, &with(&lines, Outcome::Slower)));
    parts.extend(count(with(&lines, Outcome::Equivalent).len(), "equivalent"));
    parts.extend(open(compared, &with(&lines, Outcome::CannotTell)));
    parts.extend(count(with(&lines, Outcome::Withheld).len(), "withheld"));
    Some(format!("{}.", parts.join("; ")))
}

/// Lines of one outcome, the largest difference first.
fn with<'a>(lines: &[&'a Line], outcome: Outcome) -> Vec<&'a Line> {
    let mut found: Vec<&Line> =
        lines.iter().copied().filter(|line| line.finding.outcome == outcome).collect();
    let size = |line: &Line| line.estimate().unwrap_or(0.0).abs();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

fn leader(reference: &str, compared: &Compared, lines: &[&Line]) -> String {
    let metric = &compared.comparison.metric;
    let better = with(lines, Outcome::Faster);
    let Some((first, others)) = better.split_first() else {
        return format!("Nothing is shown to beat `{reference}` on `{metric}`");
    };
    let by = first.estimate().map_or(String::new(), |value| compared.show(value));
    let others = match others.len() {
        0 => String::new(),
        1 => ", one other does too".to_owned(),
        more => format!(", {more} others do too"),
    };
    let most = if others.is_empty() { "" } else { " by most" };
    format!("`{}` beats `{reference}`{most} ({by}) on `{metric}`{others}", first.variant)
}

fn worse(compared: &Compared, lines: &[&Line]) -> Option<String> {
    let shown = |line: &&Line| line.estimate().map(|value| compared.show(value));
    let (largest, smallest) = (lines.first().and_then(shown)?, lines.last().and_then(shown)?);
    Some(match lines {
        [one] => format!("`{}` is worse ({largest})", one.variant),
        more => format!("{} are worse ({smallest} to {largest})", more.len()),
    })
}

fn count(number: usize, what: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("one is {what}")),
        more => Some(format!("{more} are {what}")),
    }
}

/// With what could have been detected, without which "cannot tell" says nothing.
fn open(compared: &Compared, lines: &[&Line]) -> Option<String> {
    let number = match lines {
        [] => return None,
        [one] => format!("`{}`", one.variant),
        more => more.len().to_string(),
    };
    let widths: Vec<f64> = lines.iter().filter_map(|line| line.detectable).collect();
    let width = median(&widths).map_or(String::new(), |width| {
        let shown = compared.show(width);
        format!(", where ±{} would have been seen", shown.trim_start_matches('+'))
    });
    Some(format!("{number} cannot be told from it{width}"))
}
