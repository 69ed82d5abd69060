//! Time that a document claims for everything, against the durations of its raw runs.

use super::found::Found;
use super::link::Labelled;
use crate::checks::{Span, totals};
use crate::document::header;
use crate::printed::unit;
use crate::{Document, Place, Printed, Sentence, Severity};

/// A claim of less than this share of its time is worth a note.
const SHARE: f64 = 0.5;

/// Checks sentences about a total time. Runs may overlap and set-up takes time, so that neither
/// side is impossible.
pub(crate) fn check(document: &Document, labelled: &[Labelled<'_>]) -> Vec<Found> {
    let durations = labelled.iter().filter_map(durations).collect::<Vec<_>>();
    let [(column, runs)] = &durations[..] else { return Vec::new() };
    let claims = document.prose.iter().filter_map(|sentence| Some((sentence, claim(sentence)?)));
    let found = claims.filter_map(|(sentence, claimed)| {
        let place = Place {
            document: document.name.clone(),
            line: Some(sentence.line),
            section: sentence.headings.join(" > "),
            ..Place::default()
        };
        let printed = claimed.clone();
        if let Some(mismatch) = totals::parts_exceed(&claimed, runs, 1) {
            let text = format!(
                "a total of {} s is stated, but the {} runs of `{column}` alone take {:.0} s",
                claimed.value,
                runs.len(),
                mismatch.computed_low
            );
            let severity = Severity::Doubtful;
            return Some(
                Found::mismatch("total_time", severity, place, &printed, &mismatch).sentence(text),
            );
        }
        let mismatch = totals::time_unaccounted(&claimed, runs, SHARE)?;
        let text = format!(
            "a total of {:.0} s is stated, of which the {} runs of `{column}` fill {:.0} s",
            claimed.value,
            runs.len(),
            mismatch.computed()
        );
        Some(
            Found::mismatch("time_unaccounted", Severity::Note, place, &printed, &mismatch)
                .sentence(text),
        )
    });
    found.collect()
}

/// The one column of durations of a raw file, in seconds.
fn durations<'a>(file: &Labelled<'a>) -> Option<(&'a str, Vec<Span>)> {
    let raw = file.raw;
    let names = ["wall", "duration", "elapsed", "time", "latency", "runtime", "mean"];
    let is_duration = |column: &&String| {
        let lower = column.to_lowercase();
        header::unit(column).is_some_and(|unit| unit::factor(&unit, "s").is_some())
            && names.iter().any(|name| lower.contains(name))
            && raw.numbers(column).len() == raw.rows
    };
    let mut columns = raw.order.iter().filter(is_duration);
    let column = columns.next()?;
    if columns.next().is_some() {
        return None;
    }
    let factor = unit::factor(&header::unit(column)?, "s")?;
    let seconds = raw.numbers(column).into_iter().map(|(_, value)| Span::exact(value * factor));
    Some((column, seconds.collect()))
}

/// A sentence's total time in seconds, where it states exactly one.
fn claim(sentence: &Sentence) -> Option<Printed> {
    let text = sentence.text.to_lowercase();
    let about_all =
        ["total wall", "total time", "total duration", "total runtime", "test duration"];
    let about = about_all.iter().any(|words| text.contains(words));
    let mut times = sentence.numbers.iter().filter_map(|number| {
        let factor = unit::factor(number.unit.as_deref()?, "s")?;
        let power = factor.log10();
        // Minutes and hours move no point; their last digit is then that of the product.
        let decimals = number.decimals - power.floor() as i32;
        let unit = Some("s".to_owned());
        Some(Printed { value: number.value * factor, decimals, unit, ..number.clone() })
    });
    let claimed = times.next().filter(|_| about)?;
    times.next().is_none().then_some(claimed)
}
