//! What other processes are told.

use std::sync::{Mutex, MutexGuard};

use workflows_database::{Answer, Session};
use workflows_kit::RunError;

use crate::statements::tell;
use crate::waiting::Ends;

/// A message of more tasks would be longer than PostgreSQL's 8,000 bytes.
const TASKS_MOST: usize = 500;

/// A notification is a transaction of its own, for one that is part of another keeps all others
/// from committing. While one is under way what is to be told collects, and goes with the next.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<Untold>);

#[derive(Debug, Default)]
struct Untold {
    ends: Ends,
    work: bool,
    /// Somebody tells, and will tell this too.
    telling: bool,
}

impl Outbox {
    /// Tells of ends, and whether there is work; through this session, if nobody else is about to.
    /// False where the session was lost on the way: then there is another.
    ///
    /// # Errors
    /// The database refuses, or is lost.
    pub(crate) fn tell(
        &self,
        session: &mut Session<'_>,
        ends: Ends,
        work: bool,
    ) -> Result<bool, RunError> {
        let mut untold = self.lock();
        untold.ends.complete.extend(ends.complete);
        untold.ends.doubt |= ends.doubt;
        untold.work |= work;
        if untold.telling {
            return Ok(true);
        }
        let mut kept = true;
        untold.telling = true;
        while let Some((complete, work)) = untold.next() {
            drop(untold);
            while !matches!(tell(session, complete.as_deref(), work)?, Answer::Row(_)) {
                kept = false;
            }
            untold = self.lock();
        }
        untold.telling = false;
        Ok(kept)
    }

    fn lock(&self) -> MutexGuard<'_, Untold> {
        self.0.lock().expect("nobody panics while it holds what is to be told")
    }
}

impl Untold {
    /// The payload of the next notification of ends, and whether one of work goes with it. Without
    /// any task it says that whoever waits for some is to look.
    fn next(&mut self) -> Option<(Option<String>, bool)> {
        let Ends { complete, doubt } = std::mem::take(&mut self.ends);
        let work = std::mem::take(&mut self.work);
        let ends = match complete.len() {
            _ if doubt => Some(String::new()),
            0 => None,
            1..=TASKS_MOST => {
                Some(complete.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
            }
            _ => Some(String::new()),
        };
        (ends.is_some() || work).then_some((ends, work))
    }
}

/// Reads the payload of a notification of ends.
///
/// # Errors
/// It is of somebody else.
pub(crate) fn ends(payload: &str) -> Result<Ends, RunError> {
    let tasks = payload.split_ascii_whitespace().map(str::parse);
    let complete = tasks.collect::<Result<Vec<u32>, _>>().map_err(RunError::failed)?;
    Ok(Ends { doubt: complete.is_empty(), complete })
}
