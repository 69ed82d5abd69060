//! What must hold of a run's numbers, whoever says them: a variant's clock against the driver's,
//! times against each other, CPU time against the kernel's account.
//!
//! The driver holds every run against these laws before it records it, and the report every stored
//! one, so that a record which was changed by hand is found out.

use lab_record::{Run, Samples};

/// By how much a CPU time may exceed the kernel's: its own account is rounded to microseconds for
/// user and kernel mode each.
const CPU_SLACK_NS: u64 = 10_000;
/// Counters of time that a run spent within its process's life.
const SPENT: [&str; 4] = ["wall_ns", "elapsed_ns", "hyperfine_wall_ns", "block_longest_ns"];

/// The numbers of one run.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// Its row, with the driver's own times.
    pub run: &'a Run,
    /// Its columns.
    pub samples: &'a Samples,
}

impl<'a> Account<'a> {
    /// The laws of every family: nothing took longer than the process lived, and no more CPU time
    /// was spent than the kernel counted.
    ///
    /// # Errors
    /// A sentence that names both numbers.
    pub fn common(&self) -> Result<(), String> {
        let life = self.run.process_ns;
        for name in SPENT {
            if let Some(spent) = self.counter(name).filter(|spent| *spent > life) {
                return Err(format!("{name} is {spent}, but its process lived {life} ns"));
            }
        }
        if let Some(repeated) = self.samples.raw("elapsed_ns") {
            let spent: i128 = repeated.iter().copied().map(i128::from).sum();
            if spent > i128::from(life) || repeated.iter().any(|one| *one < 0) {
                return Err(format!("elapsed_ns sums to {spent}, its process lived {life} ns"));
            }
        }
        self.cpu_at_most_counted("cpu_total_ns")
    }

    /// A CPU time is no larger than what the kernel counted for the process and its children.
    /// Records from before that was kept are not held against it.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn cpu_at_most_counted(&self, name: &str) -> Result<(), String> {
        let (Some(said), Some(counted)) = (self.counter(name), self.run.cpu_ns) else {
            return Ok(());
        };
        if said <= counted + CPU_SLACK_NS {
            return Ok(());
        }
        Err(format!("{name} is {said}, but the kernel counted {counted} ns"))
    }

    /// Every instant of the columns lies in the process's life. A value of -1 was not said.
    ///
    /// # Errors
    /// Names the column, the row and the value.
    pub fn within_life(&self, columns: &[&str]) -> Result<(), String> {
        let start = i128::from(self.run.start_ns);
        let end = start + i128::from(self.run.process_ns);
        for name in columns {
            let values = self.samples.raw(name).unwrap_or_default();
            let outside =
                |value: &i64| *value != -1 && !(start..=end).contains(&i128::from(*value));
            if let Some(row) = values.iter().position(outside) {
                return Err(format!(
                    "{name} is {} in row {row}, but its process lived from {start} to {end}",
                    values[row]
                ));
            }
        }
        Ok(())
    }

    /// Row by row, no instant of the second column lies before that of the first. Columns that are
    /// missing or have other rows are not compared, nor is a value of -1.
    ///
    /// # Errors
    /// Names the columns, the row and the values.
    pub fn in_order(&self, earlier: &str, later: &str) -> Result<(), String> {
        let (Some(first), Some(second)) = (self.samples.raw(earlier), self.samples.raw(later))
        else {
            return Ok(());
        };
        let pairs = || first.iter().zip(second);
        let wrong = pairs().position(|(a, b)| *a != -1 && *b != -1 && a > b);
        match wrong.filter(|_| first.len() == second.len()) {
            Some(row) => Err(format!(
                "{later} is {} in row {row}, before {earlier}, which is {}",
                second[row], first[row]
            )),
            None => Ok(()),
        }
    }

    /// Durations are not negative, but for -1 where nobody said, and none exceeds `most`.
    ///
    /// # Errors
    /// Names the column, the row and the value.
    pub fn durations(&self, columns: &[&str], most: u64) -> Result<(), String> {
        for name in columns {
            let values = self.samples.raw(name).unwrap_or_default();
            let wrong = |value: &i64| *value < -1 || i128::from(*value) > i128::from(most);
            if let Some(row) = values.iter().position(wrong) {
                return Err(format!("{name} is {} in row {row}: impossible", values[row]));
            }
        }
        Ok(())
    }

    /// From the first instant of the columns to the last no more time passed than the process
    /// lived: also where they count from another instant than the clock does. Negative values were
    /// not said.
    ///
    /// # Errors
    /// Names both times.
    pub fn span_within_life(&self, columns: &[&str]) -> Result<(), String> {
        let values = || columns.iter().filter_map(|name| self.samples.raw(name)).flatten();
        let said = || values().filter(|value| **value >= 0);
        let (Some(first), Some(last)) = (said().min(), said().max()) else { return Ok(()) };
        let (span, life) = (last.abs_diff(*first), self.run.process_ns);
        match span <= life {
            true => Ok(()),
            false => Err(format!(
                "its times span {span} ns, from {first} to {last}, but its process lived {life} ns"
            )),
        }
    }

    /// A counter of the run.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.run.counters.get(name).copied()
    }

    /// A raw column.
    pub fn column(&self, name: &str) -> Option<&'a [i64]> {
        self.samples.raw(name)
    }
}
