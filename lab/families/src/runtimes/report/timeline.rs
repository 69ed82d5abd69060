//! The agents of one run of each variant over time.

use lab_family::Unit;
use lab_protocol::runtimes::names;
use lab_report::Column::{Count, Each, Text, Words};
use lab_report::frame::cell_key;
use lab_report::{Entry, Measured, Page, Study, Table, number};

use super::groups::{concurrent, is_of_tr115, scale_of};
use super::pictures::variant_index;
use crate::runtimes::cells::configuration;

const MS: f64 = 1e-6;
const SCORE: &str = "efficiency_as_published";
/// Of each run: more lanes make no picture.
const AGENTS_DRAWN: usize = 8;

/// One call as the agent saw it, in nanoseconds since the first agent's start.
struct Call {
    agent: usize,
    start: i64,
    first: i64,
    last: i64,
    /// Where the variant knew it.
    thread: Option<i64>,
}

/// The same work for all variants: the cell and block in which the reference's score is its lower
/// median.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let Some(typical) = typical(study) else { return };
    let place = |one: &Measured| (cell_key(&one.row.run), one.row.run.block);
    let of_variant = |variant: &str| {
        let same = |one: &&Measured| one.variant() == variant && place(one) == place(typical);
        let one = concurrent(study).find(same)?;
        Some((one, calls(one)?))
    };
    let drawn: Vec<(&Measured, Vec<Call>)> =
        study.measured_variants().into_iter().filter_map(of_variant).collect();
    let table = bars(study, &drawn);
    if table.is_empty() {
        return;
    }
    page.data("timeline", &table);
    let what = format!(
        "Agents over time, one run of each variant ({}, block {}): waiting, and streaming{}",
        configuration(&typical.row.run),
        typical.row.run.block,
        if knows_threads(&drawn) { "; the thread of a call's last bytes" } else { "" },
    );
    let agents = drawn.iter().flat_map(|(_, calls)| calls).map(|call| call.agent + 1).max();
    let what = match agents.unwrap_or_default() {
        all if all > AGENTS_DRAWN => format!("{what}; {AGENTS_DRAWN} of {all} agents"),
        _ => what,
    };
    page.figure("timeline", &what, &scale_of([typical]));
}

fn knows_threads(drawn: &[(&Measured, Vec<Call>)]) -> bool {
    drawn.iter().flat_map(|(_, calls)| calls).any(|call| call.thread.is_some())
}

/// A stretch of a call, in the lane of its agent.
struct Bar<'d> {
    variant: &'d str,
    lane: usize,
    call: &'d Call,
    segment: &'static str,
    from: i64,
    to: i64,
}

/// Two rows a call; a lane for each agent.
fn bars(study: &Study, drawn: &[(&Measured, Vec<Call>)]) -> Table {
    let mut bars = Vec::new();
    let mut lane = 0;
    for (one, calls) in drawn {
        let variant = one.variant();
        for call in calls.iter().filter(|call| call.agent < AGENTS_DRAWN) {
            let bar = |segment, from, to| Bar { variant, lane, call, segment, from, to };
            bars.push(bar("waiting", call.start, call.first));
            bars.push(bar("streaming", call.first, call.last));
        }
        let agents = calls.iter().map(|call| call.agent + 1).max().unwrap_or(0);
        lane += agents.min(AGENTS_DRAWN);
    }
    let thread = |bar: &Bar| Entry::value(bar.call.thread.map(|of| of as f64), Unit::Count);
    let told: &[_] = if knows_threads(drawn) { &[("", "thread")] } else { &[] };
    Table::over(
        bars,
        &[
            Text("", "variant", &|bar| bar.variant),
            Count("", "variant_index", &|bar| variant_index(study, bar.variant)),
            Count("", "lane", &|bar| bar.lane + bar.call.agent),
            Words("", "name", &|bar| format!("{} {}", bar.variant, bar.call.agent)),
            Count("", "agent", &|bar| bar.call.agent),
            Text("", "segment", &|bar| bar.segment),
            number("from_ms", &|bar| Some(bar.from as f64 * MS)),
            number("to_ms", &|bar| Some(bar.to as f64 * MS)),
            Each(told, &|bar, _| thread(bar)),
        ],
    )
}

/// The reference's run of lower median score, of the published configurations where there are any.
fn typical<'s, 'a>(study: &'s Study<'a>) -> Option<&'s Measured<'a>> {
    let of_reference = |one: &&Measured| one.variant() == study.reference();
    let scored = |one: &'s Measured<'a>| Some((one.value(SCORE)?, one));
    let mut runs: Vec<(f64, &Measured)> =
        concurrent(study).filter(of_reference).filter_map(scored).collect();
    if runs.iter().any(|(_, one)| is_of_tr115(study, one)) {
        runs.retain(|(_, one)| is_of_tr115(study, one));
    }
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs.get(runs.len().checked_sub(1)? / 2).map(|(_, one)| *one)
}

fn calls(one: &Measured) -> Option<Vec<Call>> {
    let column = |name: &str| one.row.samples.raw(name);
    let agents = column(names::CALL_AGENT)?;
    let origin = *column(names::AGENT_START_NS)?.iter().min()?;
    let (starts, firsts) = (column(names::CALL_START_NS)?, column(names::CALL_FIRST_TOKEN_NS)?);
    let lasts = column(names::CALL_LAST_TOKEN_NS)?;
    let threads = column(names::CALL_THREAD);
    let call = |row: usize| {
        Some(Call {
            agent: usize::try_from(agents[row]).ok()?,
            start: starts.get(row)? - origin,
            first: firsts.get(row)? - origin,
            last: lasts.get(row)? - origin,
            thread: threads.and_then(|threads| threads.get(row).copied()),
        })
    };
    (0..agents.len()).map(call).collect()
}
