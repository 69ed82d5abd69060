//! What the client and the processes say to each other: a JSON line each.

use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use workflows_kit::Accepted;

/// What a process is told after its first line, which is the workload with its own share of the
/// workers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Order {
    /// Take these tasks over, and say of each when it is complete: number, input, time.
    Accept { tasks: Vec<(u32, u64, i64)> },
    /// The process of these workers has ended.
    Bury { workers: Vec<i32> },
    /// Say what was counted so far.
    Count,
    /// End in order.
    Finish,
}

/// What a process says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Said {
    /// Where it is reached by HTTP; said on standard output, and all else there.
    Listens { port: u16 },
    /// Whatever it is told now, it does.
    Ready,
    /// A task is taken over.
    Accepted { task: u32, submitted_ns: i64, accepted_ns: i64 },
    /// A task is complete; said once of each that was accepted here.
    Complete { task: u32 },
    /// A worker of this process works under this number from now on.
    Entered { worker: i32 },
    /// What was counted so far.
    Counted { counts: [u64; 4] },
    /// When its workers knew of which step that it was recorded: task, step, part, nanoseconds.
    Recorded { steps: Vec<(u32, u32, u32, i64)> },
    /// It cannot go on.
    Failed { reason: String },
}

impl Said {
    pub(super) fn accepted(task: u32, accepted: Accepted) -> Self {
        let Accepted { submitted_ns, accepted_ns } = accepted;
        Self::Accepted { task, submitted_ns, accepted_ns }
    }
}

/// Writes a line at once.
pub(super) fn say(to: &mut impl Write, word: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(word).expect("words have only string keys");
    to.write_all(format!("{text}\n").as_bytes())?;
    to.flush()
}

/// Reads a line; `None` where there are no more. A line that was cut off, for its writer was
/// killed, is none.
pub(super) fn hear<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Ok(None);
    }
    serde_json::from_str(&line).map(Some).map_err(io::Error::from)
}
