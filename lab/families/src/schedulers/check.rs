//! Schedulers: a replay's costs are held against the costs that the lab drew, a stream's results
//! against the items that went in, and every test against the number of things it was to do.

use lab_family::{Checked, column, lived};
use lab_protocol::schedulers::names;
use lab_protocol::{
    RunOutcome,
    schedulers::{Decide, Load, Replay, Stream, Test, Wake, Workload, stream_answer},
};

/// Whether a run did what it was asked, and nothing faster than time. A replay's costs and a
/// stream's results are known; of decisions and wake-ups only number and shape are.
///
/// # Errors
/// A sentence that names the column or counter and both values.
pub(crate) fn answer(
    workload: &Workload,
    outcome: &RunOutcome,
    process_ns: u64,
) -> Result<Checked, String> {
    match &workload.test {
        Test::Decide(test) => decide(test, outcome, process_ns).map(|()| Checked::plausible()),
        Test::Replay(test) => replay(test, outcome).map(|()| Checked::right()),
        Test::Stream(test) => stream(test, outcome, process_ns).map(|()| Checked::right()),
        Test::Wake(test) => wake(test, outcome).map(|()| Checked::plausible()),
    }
}

fn decide(test: &Decide, outcome: &RunOutcome, process_ns: u64) -> Result<(), String> {
    let rows = test.batches as usize * test.deciders as usize;
    let times = column(outcome, names::BATCH_NS, rows)?;
    let calls = column(outcome, names::CALLS, rows)?;
    let deciders = column(outcome, names::DECIDER, rows)?;
    for row in 0..rows {
        if calls[row] != i64::from(test.calls) {
            return Err(format!("batch {row} has {} calls, not {}", calls[row], test.calls));
        }
        if times[row] <= 0 {
            return Err(format!("batch {row} took {} ns", times[row]));
        }
    }
    for decider in 0..i64::from(test.deciders) {
        let own = times.iter().zip(deciders).filter(|(_, of)| **of == decider);
        let own: Vec<i64> = own.map(|(&ns, _)| ns).collect();
        if own.len() != test.batches as usize {
            let (says, asked) = (own.len(), test.batches);
            return Err(format!("decider {decider} has {says} batches, not {asked}"));
        }
        lived(&own, process_ns)?;
    }
    Ok(())
}

fn replay(test: &Replay, outcome: &RunOutcome) -> Result<(), String> {
    let rows = test.site.len();
    let arms = arms(outcome, names::ARM, rows)?;
    let costs = column(outcome, names::COST_NS, rows)?;
    let regrets = column(outcome, names::REGRET_NS, rows)?;
    for row in 0..rows {
        let (inline, offload) =
            (test.inline_ns[row].cast_signed(), test.offload_ns[row].cast_signed());
        let cost = if arms[row] == 0 { inline } else { offload };
        let regret = cost - inline.min(offload);
        for (name, says, truth) in
            [(names::COST_NS, costs[row], cost), (names::REGRET_NS, regrets[row], regret)]
        {
            if says != truth {
                return Err(format!("{name} of step {row} is {says}, it was {truth}"));
            }
        }
    }
    let offloaded = arms.iter().filter(|&&arm| arm == 1).count() as u64;
    counter(outcome, names::DECISIONS_OFFLOAD, offloaded)?;
    counter(outcome, names::DECISIONS_INLINE, rows as u64 - offloaded)
}

fn stream(test: &Stream, outcome: &RunOutcome, process_ns: u64) -> Result<(), String> {
    let rows = test.repetitions as usize;
    let elapsed = column(outcome, names::ELAPSED_NS, rows)?;
    column(outcome, names::CPU_NS, rows)?;
    let answers = column(outcome, names::ANSWER, rows)?;
    let (inline, offload) =
        (column(outcome, names::INLINE_ITEMS, rows)?, column(outcome, names::OFFLOAD_ITEMS, rows)?);
    let truth = stream_answer(0..test.items);
    for row in 0..rows {
        if answers[row] != truth {
            let says = answers[row];
            return Err(format!("answer of repetition {row} is {says}, not {truth}"));
        }
        let (inline, offload, items) = (inline[row], offload[row], i64::from(test.items));
        if !(0..=items).contains(&inline) || items - inline != offload {
            return Err(format!(
                "repetition {row} counts {inline} and {offload} items, there are {items}"
            ));
        }
    }
    let items = test.items as usize;
    let classes = column(outcome, names::ITEM_CLASS, items)?;
    let work = column(outcome, names::ITEM_WORK_NS, items)?;
    arms(outcome, names::ITEM_ARM, items)?;
    let known = test.class_work_ns.len() as i64;
    if let Some(class) = classes.iter().find(|class| !(0..known).contains(class)) {
        return Err(format!("item_class holds {class}, there are {known} classes"));
    }
    if work.iter().any(|&ns| ns <= 0) {
        return Err("item_work_ns holds a time that is not above 0".to_owned());
    }
    lived(elapsed, process_ns)
}

fn wake(test: &Wake, outcome: &RunOutcome) -> Result<(), String> {
    // Ticks and jobs last as long as they were to. The last ones may come a little early.
    let least = test.duration_ms * 900_000;
    if let Some(elapsed) = outcome.counters.get(names::ELAPSED_NS).filter(|ns| **ns < least) {
        let asked = test.duration_ms;
        return Err(format!("elapsed_ns is {elapsed}, but it was to last {asked} ms"));
    }
    let ticks = test.duration_ms * 1_000 / test.tick_us;
    counter(outcome, names::TICKS_INTENDED, ticks)?;
    let latencies = column(outcome, names::TICK_LATENCY_NS, ticks as usize)?;
    if latencies.iter().any(|&ns| ns < 0) {
        return Err("tick_latency_ns holds a tick that came before its time".to_owned());
    }
    let jobs = outcome.counters.get(names::JOBS_STARTED).copied().unwrap_or(0);
    let rows = jobs as usize;
    for name in [names::JOB_LATENCY_NS, names::JOB_WORK_NS] {
        if column(outcome, name, rows)?.iter().any(|&ns| ns <= 0) {
            return Err(format!("{name} holds a time that is not above 0"));
        }
    }
    arms(outcome, names::JOB_ARM, rows)?;
    match (test.load, jobs) {
        (Load::Idle, 1..) => Err(format!("{jobs} jobs were started where there was no load")),
        (Load::Open { .. } | Load::Bursts { .. } | Load::Closed { .. }, 0) => {
            Err("no job was started".to_owned())
        }
        _ => Ok(()),
    }
}

/// A column that says for each row which arm was taken.
fn arms<'a>(outcome: &'a RunOutcome, name: &str, rows: usize) -> Result<&'a [i64], String> {
    let arms = column(outcome, name, rows)?;
    match arms.iter().position(|arm| !(0..=1).contains(arm)) {
        Some(row) => Err(format!("{name} of row {row} is {}, neither 0 nor 1", arms[row])),
        None => Ok(arms),
    }
}

fn counter(outcome: &RunOutcome, name: &str, truth: u64) -> Result<(), String> {
    let says = outcome.counters.get(name).copied();
    if says == Some(truth) {
        return Ok(());
    }
    let says = says.map_or("missing".to_owned(), |says| says.to_string());
    Err(format!("counter {name} is {says}, it must be {truth}"))
}
