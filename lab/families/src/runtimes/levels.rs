//! Factors whose levels are numbers: agents, servers, bytes handed over at once.

use lab_family::{Address, InputError, Levels};

/// How many agents there are; without it as many as the experiment says.
pub(crate) const AGENTS: &str = "agents";
/// How many servers the agents share; without it they have one each.
pub(crate) const SERVERS: &str = "servers";
/// How many bytes of a reply an agent is given at once; without it the variant chooses.
pub(crate) const BUFFER: &str = "buffer";
/// Microseconds of CPU time that an agent spends on each token; without it none.
pub(crate) const WORK: &str = "work_us";
/// Which agents do that work; without it all.
pub(crate) const BUSY: &str = "busy";
/// All agents, or every fourth.
pub(crate) const BUSY_AGENTS: [&str; 2] = ["all", "quarter"];
/// What a neighbour of the client takes of one core; without it nothing.
pub(crate) const NEIGHBOUR: &str = "neighbour";
/// 0, 50 and 100 %.
pub(crate) const NEIGHBOURS: [&str; 3] = ["none", "half", "full"];
/// Which agents drop their last reply amid it; without it none.
pub(crate) const DROP: &str = "drop";
/// None, or about a half of them.
pub(crate) const DROPS: [&str; 2] = ["none", "half"];
/// How many agents come in a second, at random times; without it all come at once.
pub(crate) const ARRIVALS: &str = "arrivals_per_s";
/// The most agents that come in a second.
const ARRIVALS_MAX: f64 = 100_000.0;
/// The most work on a token: a second of one core for each hundred tokens.
const WORK_US_MAX: u64 = 10_000;
/// The level that says the same as no level.
const LIBRARY: &str = "library";

/// The agents of a cell, at most so many.
///
/// # Errors
/// A level that is no such number.
pub(crate) fn agents(file: &str, at: &Address<'_>, most: usize) -> Result<usize, InputError> {
    let Some(level) = at.cell.get(AGENTS) else { return Ok(most) };
    let count = level.parse::<usize>().ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| {
        let message = format!("`{level}` does not lie between 1 and `runtimes.agents`, {most}");
        InputError::value(file, "cells.agents", message)
    })
}

/// The servers of a cell: one for each agent or one for all; without the factor `otherwise`.
///
/// # Errors
/// A level that is neither.
pub(crate) fn servers(
    file: &str,
    at: &Address<'_>,
    agents: usize,
    otherwise: usize,
) -> Result<usize, InputError> {
    let Some(level) = at.cell.get(SERVERS) else { return Ok(otherwise) };
    let count = level.parse::<usize>().ok().filter(|&count| count == 1 || count == agents);
    count.ok_or_else(|| {
        let message = format!("`{level}` is neither 1 nor the number of agents");
        InputError::value(file, "cells.servers", message)
    })
}

/// The most bytes that an agent is given at once.
///
/// # Errors
/// A level that is no such number.
pub(crate) fn piece_bytes(file: &str, at: &Address<'_>) -> Result<Option<u32>, InputError> {
    let Some(level) = at.cell.get(BUFFER).filter(|level| *level != LIBRARY) else {
        return Ok(None);
    };
    let bytes = level.parse::<u32>().ok().filter(|bytes| (1..=1 << 20).contains(bytes));
    bytes.map(Some).ok_or_else(|| {
        let message = format!("`{level}` is neither `library` nor 1 to 1048576 bytes");
        InputError::value(file, "cells.buffer", message)
    })
}

/// What the neighbour takes of one core, in percent.
///
/// # Errors
/// A level that names no share.
pub(crate) fn neighbour_percent(levels: &Levels<'_>) -> Result<u64, InputError> {
    match levels.cell.get(NEIGHBOUR) {
        Some(_) => levels.one_of(NEIGHBOUR, &[("none", 0), ("half", 50), ("full", 100)]),
        None => Ok(0),
    }
}

/// Whether about a half of the agents drop their last reply.
///
/// # Errors
/// A level that does not say so.
pub(crate) fn drops(levels: &Levels<'_>) -> Result<bool, InputError> {
    match levels.cell.get(DROP) {
        Some(_) => levels.one_of(DROP, &[("none", false), ("half", true)]),
        None => Ok(false),
    }
}

/// How many agents come in a second; `None` where all come at once.
///
/// # Errors
/// A level that is no such number.
pub(crate) fn arrivals_per_s(levels: &Levels<'_>) -> Result<Option<f64>, InputError> {
    let Some(level) = levels.cell.get(ARRIVALS) else { return Ok(None) };
    let rate = level.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= ARRIVALS_MAX);
    rate.map(Some).ok_or_else(|| {
        let message = format!("`{level}` does not lie above 0 and not above {ARRIVALS_MAX}");
        InputError::value(levels.file, "cells.arrivals_per_s", message)
    })
}

/// The CPU time that the agents of a cell spend on each token, agent by agent, in nanoseconds.
///
/// # Errors
/// A level that is no such number, or names no such agents.
pub(crate) fn work_per_token_ns(
    levels: &Levels<'_>,
    agents: usize,
) -> Result<Vec<u64>, InputError> {
    let Some(level) = levels.cell.get(WORK) else { return Ok(vec![0; agents]) };
    let work_us = level.parse::<u64>().ok().filter(|us| *us <= WORK_US_MAX).ok_or_else(|| {
        let message = format!("`{level}` does not lie between 0 and {WORK_US_MAX} microseconds");
        InputError::value(levels.file, "cells.work_us", message)
    })?;
    let every = match levels.cell.get(BUSY) {
        Some(_) => levels.one_of(BUSY, &[("all", 1_usize), ("quarter", 4)])?,
        None => 1,
    };
    let of_agent = |index: usize| if index.is_multiple_of(every) { work_us * 1_000 } else { 0 };
    Ok((0..agents).map(of_agent).collect())
}
