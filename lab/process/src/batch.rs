//! Several executions of a command as one.

use std::sync::atomic::AtomicBool;

use crate::{Counters, Ended, Finished, Run, RunError, Transfers, Usage};

impl Run {
    /// Runs the command this many times, one after the other, and adds up what they took: the time
    /// from each start to its end, without what the lab does between them. Stops at the first that
    /// ends otherwise than by itself with a status that is `accepted`.
    pub fn execute_times(
        &self,
        times: u32,
        accepted: impl Fn(i32) -> bool,
        interrupted: &AtomicBool,
    ) -> Result<Finished, RunError> {
        let mut all = self.execute(interrupted)?;
        for _ in 1..times {
            match all.ended {
                Ended::Exited(status) if accepted(status) => {}
                _ => break,
            }
            let next = self.execute(interrupted)?;
            all = all.and(next);
        }
        Ok(all)
    }
}

impl Finished {
    /// Both together; of how they ended, the last that was not a success.
    fn and(self, next: Self) -> Self {
        Self {
            ended: if next.ended == Ended::Exited(0) { self.ended } else { next.ended },
            start_ns: self.start_ns,
            wall: self.wall + next.wall,
            usage: self.usage.and(next.usage),
            transfers: self.transfers.zip(next.transfers).map(|(a, b)| a.and(b)),
            counters: self.counters.zip(next.counters).map(|(a, b)| a.and(b)),
            outputs_differ: self.outputs_differ || self.output != next.output,
            output: next.output,
            printed: next.printed,
            errors: next.errors,
        }
    }
}

impl Usage {
    /// Both together; of the memory, the larger one.
    fn and(self, next: Self) -> Self {
        Self {
            user: self.user + next.user,
            system: self.system + next.system,
            peak_rss_bytes: self.peak_rss_bytes.max(next.peak_rss_bytes),
            minor_faults: self.minor_faults + next.minor_faults,
            major_faults: self.major_faults + next.major_faults,
            voluntary_switches: self.voluntary_switches + next.voluntary_switches,
            involuntary_switches: self.involuntary_switches + next.involuntary_switches,
            blocks_in: self.blocks_in + next.blocks_in,
            blocks_out: self.blocks_out + next.blocks_out,
        }
    }
}

impl Transfers {
    fn and(self, next: Self) -> Self {
        Self { read: self.read + next.read, written: self.written + next.written }
    }
}

impl Counters {
    fn and(self, next: Self) -> Self {
        Self {
            instructions: self.instructions + next.instructions,
            cycles: self.cycles + next.cycles,
        }
    }
}
