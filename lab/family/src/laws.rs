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
const SPENT: [&str; 5] =
    ["wall_ns", "elapsed_ns", "hyperfine_wall_ns", "process_wall_ns", "block_longest_ns"];

/// CPU time that nobody can tell a run of: after its last reading it ends a runtime and frees its
/// memory, and a script around it starts programs, which takes long on a busy machine. In the
/// committed records the kernel counted at most 1.44 times what runs said.
const ENDING_CPU_NS: u64 = 200_000_000;
/// The counter that the driver adds: how long one CPU is busy with one repetition's declared work.
pub const WORK_DECLARED_NS: &str = "work_declared_ns";
/// Of declared work, what all repetitions together really take at least, and what one of them does:
/// a processor that is calibrated while it is idle may be several times as fast afterwards. In the
/// committed records the middle repetitions of a run took 0.82 of it in time and 0.72 in CPU time.
const DONE_TOGETHER: (i128, i128) = (1, 8);
const DONE_EACH: (i128, i128) = (1, 16);
/// By how much a CPU time within a time may exceed what the CPUs had in it: both are read one after
/// the other.
const READINGS_NS: i128 = 1_000_000;

/// What a column says where it may say that nobody knows.
const UNSAID: i64 = -1;

fn is_said(value: i64) -> bool {
    value != UNSAID
}

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
        self.work_took_time()?;
        self.cpu_fits_times()?;
        self.cpu_at_most_counted("cpu_total_ns")?;
        match self.counter("cpu_total_ns") {
            Some(said) => self.cpu_nearly_counted("cpu_total_ns", u128::from(said), ENDING_CPU_NS),
            None => Ok(()),
        }
    }

    /// The kernel counted at most twice a CPU time, and what was spent beside it.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn cpu_nearly_counted(&self, what: &str, said: u128, beside_ns: u64) -> Result<(), String> {
        let most = 2 * said + u128::from(beside_ns);
        match self.run.cpu_ns.filter(|counted| u128::from(*counted) > most) {
            Some(counted) => Err(format!("{what} is {said}, but the kernel counted {counted} ns")),
            None => Ok(()),
        }
    }

    /// At least as many CPUs as the machine had.
    pub fn cpus(&self) -> Option<u64> {
        let capacity = self.run.noise.capacity_ns.filter(|_| self.run.process_ns > 0)?;
        Some(capacity.div_ceil(self.run.process_ns))
    }

    /// Declared work kept the CPUs busy: no repetition ended sooner than all of them can do it, and
    /// the CPU time of each is that of its work. Rows from before it was kept are not held to it.
    fn work_took_time(&self) -> Result<(), String> {
        let Some(declared) = self.counter(WORK_DECLARED_NS).map(i128::from) else {
            return Ok(());
        };
        let elapsed = self.cpus().map(|cpus| ("elapsed_ns", i128::from(cpus)));
        for (name, cpus) in elapsed.into_iter().chain([("cpu_ns", 1)]) {
            let Some(values) = self.samples.raw(name) else { continue };
            let least = |(part, whole): (i128, i128), times: i128| times * declared * part / whole;
            let all: i128 = values.iter().copied().map(i128::from).sum();
            let too_short = |value: &i64| i128::from(*value) * cpus < least(DONE_EACH, 1);
            if let Some(row) = values.iter().position(too_short) {
                return Err(format!(
                    "{name} is {} in row {row}, for {declared} ns of declared work on {cpus} CPUs",
                    values[row]
                ));
            }
            if all * cpus < least(DONE_TOGETHER, values.len() as i128) {
                return Err(format!(
                    "{name} sums to {all} in {} rows, each for {declared} ns of declared work on \
                     {cpus} CPUs",
                    values.len()
                ));
            }
        }
        Ok(())
    }

    /// The CPU time of a repetition is no more than the CPUs had in its time.
    fn cpu_fits_times(&self) -> Result<(), String> {
        let columns = (self.samples.raw("elapsed_ns"), self.samples.raw("cpu_ns"), self.cpus());
        let (Some(elapsed), Some(cpu), Some(cpus)) = columns else { return Ok(()) };
        let had = |elapsed: i64| i128::from(elapsed) * i128::from(cpus);
        let is_more =
            |(elapsed, cpu): (&i64, &i64)| i128::from(*cpu) > had(*elapsed) * 11 / 10 + READINGS_NS;
        match elapsed.iter().zip(cpu).position(is_more) {
            Some(row) => Err(format!(
                "cpu_ns is {} in row {row}, but {cpus} CPUs had {} ns in its elapsed_ns of {}",
                cpu[row],
                had(elapsed[row]),
                elapsed[row]
            )),
            None => Ok(()),
        }
    }

    /// A CPU time is no larger than what the kernel counted for the process and its children.
    /// Records from before that was kept are not held against it.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn cpu_at_most_counted(&self, name: &str) -> Result<(), String> {
        self.counter(name).map_or(Ok(()), |said| self.cpu_is_counted(name, i128::from(said)))
    }

    /// The same of the sum of a column's CPU times, of which none is negative.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn column_of_cpu_at_most_counted(&self, name: &str) -> Result<(), String> {
        let values = self.samples.raw(name).unwrap_or_default();
        if let Some(negative) = values.iter().find(|value| **value < 0) {
            return Err(format!("{name} is {negative}: impossible"));
        }
        self.cpu_is_counted(name, values.iter().copied().map(i128::from).sum())
    }

    /// A sum of CPU times is no larger than what the kernel counted.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn cpu_at_most(&self, what: &str, said: u128) -> Result<(), String> {
        self.cpu_is_counted(what, i128::try_from(said).unwrap_or(i128::MAX))
    }

    fn cpu_is_counted(&self, name: &str, said: i128) -> Result<(), String> {
        match self.run.cpu_ns {
            Some(counted) if said > i128::from(counted) + i128::from(CPU_SLACK_NS) => {
                Err(format!("{name} is {said}, but the kernel counted {counted} ns"))
            }
            _ => Ok(()),
        }
    }

    /// Every instant of the columns lies in the process's life.
    ///
    /// # Errors
    /// Names the column, the row and the value.
    pub fn within_life(&self, columns: &[&str]) -> Result<(), String> {
        columns.iter().try_for_each(|name| self.column_within_life(name, |_| true))
    }

    /// The same of columns in which -1 stands for what nobody said.
    ///
    /// # Errors
    /// As [`Self::within_life`].
    pub fn within_life_where_said(&self, columns: &[&str]) -> Result<(), String> {
        columns.iter().try_for_each(|name| self.column_within_life(name, is_said))
    }

    fn column_within_life(&self, name: &str, is_bound: fn(i64) -> bool) -> Result<(), String> {
        let start = i128::from(self.run.start_ns);
        let end = start + i128::from(self.run.process_ns);
        let values = self.samples.raw(name).unwrap_or_default();
        let outside =
            |value: &i64| is_bound(*value) && !(start..=end).contains(&i128::from(*value));
        match values.iter().position(outside) {
            Some(row) => Err(format!(
                "{name} is {} in row {row}, but its process lived from {start} to {end}",
                values[row]
            )),
            None => Ok(()),
        }
    }

    /// Row by row, no instant of the second column lies before that of the first. Columns that are
    /// missing are not compared; a -1 for what nobody said lies before everything.
    ///
    /// # Errors
    /// Names the columns, and the row and the values or how many rows each has.
    pub fn in_order(&self, earlier: &str, later: &str) -> Result<(), String> {
        let (Some(first), Some(second)) = (self.samples.raw(earlier), self.samples.raw(later))
        else {
            return Ok(());
        };
        if first.len() != second.len() {
            let (rows, others) = (second.len(), first.len());
            return Err(format!("{later} has {rows} rows, and {earlier} {others}"));
        }
        match first.iter().zip(second).position(|(a, b)| a > b) {
            Some(row) => Err(format!(
                "{later} is {} in row {row}, before {earlier}, which is {}",
                second[row], first[row]
            )),
            None => Ok(()),
        }
    }

    /// Durations are not negative, and none exceeds `most`.
    ///
    /// # Errors
    /// Names the column, the row and the value.
    pub fn durations(&self, columns: &[&str], most: u64) -> Result<(), String> {
        columns.iter().try_for_each(|name| self.column_of_durations(name, most, |_| true))
    }

    /// The same of columns in which -1 stands for what nobody said.
    ///
    /// # Errors
    /// As [`Self::durations`].
    pub fn durations_where_said(&self, columns: &[&str], most: u64) -> Result<(), String> {
        columns.iter().try_for_each(|name| self.column_of_durations(name, most, is_said))
    }

    fn column_of_durations(
        &self,
        name: &str,
        most: u64,
        is_bound: fn(i64) -> bool,
    ) -> Result<(), String> {
        let values = self.samples.raw(name).unwrap_or_default();
        let wrong =
            |value: &i64| is_bound(*value) && !(0..=i128::from(most)).contains(&i128::from(*value));
        match values.iter().position(wrong) {
            Some(row) => Err(format!("{name} is {} in row {row}: impossible", values[row])),
            None => Ok(()),
        }
    }

    /// From the first instant of the columns to the last no more time passed than the process
    /// lived: also where they count from another instant than the clock does.
    ///
    /// # Errors
    /// Names both times.
    pub fn span_within_life(&self, columns: &[&str]) -> Result<(), String> {
        let values = || columns.iter().filter_map(|name| self.samples.raw(name)).flatten();
        let (Some(first), Some(last)) = (values().min(), values().max()) else { return Ok(()) };
        let (span, life) = (last.abs_diff(*first), self.run.process_ns);
        match span <= life {
            true => Ok(()),
            false => Err(format!(
                "its times span {span} ns, from {first} to {last}, but its process lived {life} ns"
            )),
        }
    }

    /// A counter of time is no larger than another one, within whose time all of its own passed.
    /// Runs that lack one of them are not compared.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn within_counter(&self, part: &str, whole: &str) -> Result<(), String> {
        match (self.counter(part), self.counter(whole)) {
            (Some(part_ns), Some(whole_ns)) if part_ns > whole_ns => {
                Err(format!("{part} is {part_ns}, but {whole}, which holds it, is {whole_ns}"))
            }
            _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lab_record::Column;
    use serde_json::json;

    use super::*;

    /// Of a process that lived from 1,000 to 1,100.
    fn run() -> Run {
        let run = json!({
            "schema": 2, "order": 0, "attempt": 0, "block": 1, "warmup": false, "family": "f",
            "variant": "v", "cell": {}, "status": "ok", "verification": "verified",
            "binary_sha256": "", "start_ns": 1_000, "process_ns": 100, "cpu_ns": 50, "noise": {},
            "counters": { "wall_ns": 90, "inner_ns": 40, "cpu_total_ns": 50 },
        });
        serde_json::from_value(run).expect("a run")
    }

    fn samples() -> Samples {
        let columns: [(&str, &[i64]); 8] = [
            ("elapsed_ns", &[30, 40]),
            ("cpu_ns", &[20, 10_030]),
            ("begun_ns", &[1_000, 1_040]),
            ("ended_ns", &[1_040, 1_100]),
            ("stamp_ns", &[UNSAID, 1_010]),
            ("took_ns", &[0, 100]),
            ("told_ns", &[UNSAID, 100]),
            // By another clock.
            ("elsewhere_ns", &[5_000, 5_100]),
        ];
        Samples::from_raw(
            columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())).collect(),
        )
    }

    fn all_laws(account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        account.column_of_cpu_at_most_counted("cpu_ns")?;
        account.within_life(&["begun_ns", "ended_ns"])?;
        account.within_life_where_said(&["stamp_ns"])?;
        account.in_order("begun_ns", "ended_ns")?;
        account.in_order("stamp_ns", "ended_ns")?;
        account.durations(&["took_ns"], 100)?;
        account.durations_where_said(&["told_ns"], 100)?;
        account.span_within_life(&["elsewhere_ns"])?;
        account.within_counter("inner_ns", "wall_ns")
    }

    #[test]
    fn numbers_that_can_be_true_break_no_law() {
        assert_eq!(all_laws(&Account { run: &run(), samples: &samples() }), Ok(()));
        let older = Run { cpu_ns: None, counters: BTreeMap::new(), ..run() };
        assert_eq!(all_laws(&Account { run: &older, samples: &Samples::default() }), Ok(()));
    }

    /// On two CPUs, of 160 ns of declared work in each of two repetitions.
    fn declared(elapsed: [i64; 2], cpu: [i64; 2]) -> Result<(), String> {
        let mut run = run();
        run.noise.capacity_ns = Some(200);
        run.counters.insert(WORK_DECLARED_NS.to_owned(), 160);
        let columns = [("elapsed_ns", elapsed), ("cpu_ns", cpu)];
        let columns = columns.map(|(name, values)| (name.to_owned(), values.to_vec()));
        let samples = Samples::from_raw(columns.into());
        Account { run: &run, samples: &samples }.common()
    }

    #[test]
    fn declared_work_takes_time_and_cpu_time() {
        for (name, elapsed, cpu, said) in [
            ("no time for declared work", [1, 1], [20, 20], "elapsed_ns is 1 in row 0, for 160"),
            ("no time for one repetition", [40, 4], [20, 20], "elapsed_ns is 4 in row 1, for"),
            ("a ninth of the time", [9, 9], [20, 20], "elapsed_ns sums to 18 in 2 rows"),
            ("no CPU time", [20, 20], [0, 0], "cpu_ns is 0 in row 0, for 160"),
            ("no CPU time for one repetition", [20, 20], [40, 9], "cpu_ns is 9 in row 1, for"),
            ("a ninth of the CPU time", [20, 20], [19, 19], "cpu_ns sums to 38 in 2 rows"),
            ("time that is negative", [-20, 60], [20, 20], "elapsed_ns sums to 40, its process"),
            (
                "more CPU time than there was",
                [20, 20],
                [20, 1_000_045],
                "cpu_ns is 1000045 in row 1, but 2 CPUs had 40 ns",
            ),
        ] {
            let _attack = proof_kit::Attack::on("answers", name);
            let found = declared(elapsed, cpu).unwrap_err();
            assert!(found.contains(said), "{name}: {found}");
        }
        assert_eq!(declared([10, 10], [20, 20]), Ok(()), "an eighth of it, by both CPUs");
    }

    #[test]
    fn a_cpu_time_is_about_what_the_kernel_counted() {
        let counted = |cpu_ns| {
            let run = Run { cpu_ns: Some(cpu_ns), ..run() };
            Account { run: &run, samples: &Samples::default() }.common()
        };
        let _attack = proof_kit::Attack::on("answers", "a CPU time that leaves most out");
        let found = counted(200_000_101).unwrap_err();
        assert_eq!(found, "cpu_total_ns is 50, but the kernel counted 200000101 ns");
        assert_eq!(counted(200_000_100), Ok(()));
    }

    #[test]
    fn each_law_finds_the_counter_that_breaks_it() {
        for (name, value, said) in [
            ("wall_ns", 101, "wall_ns is 101, but its process lived 100 ns"),
            ("hyperfine_wall_ns", 101, "hyperfine_wall_ns is 101, but its process lived"),
            ("inner_ns", 91, "inner_ns is 91, but wall_ns, which holds it, is 90"),
            ("cpu_total_ns", 10_051, "cpu_total_ns is 10051, but the kernel counted 50 ns"),
        ] {
            let _attack = proof_kit::Attack::on("answers", said);
            let mut run = run();
            run.counters.insert(name.to_owned(), value);
            let found = all_laws(&Account { run: &run, samples: &samples() }).unwrap_err();
            assert!(found.contains(said), "{name}: {found}");
        }
    }

    #[test]
    fn each_law_finds_the_column_that_breaks_it() {
        let cases: [(&str, &[i64], &str); 17] = [
            ("cpu_ns", &[20, 10_031], "cpu_ns is 10051, but the kernel counted 50 ns"),
            ("cpu_ns", &[-1, 40], "cpu_ns is -1: impossible"),
            ("elapsed_ns", &[60, 41], "elapsed_ns sums to 101"),
            ("elapsed_ns", &[-1, 40], "elapsed_ns sums to 39"),
            ("begun_ns", &[999, 1_040], "begun_ns is 999 in row 0, but its process lived"),
            ("begun_ns", &[-1, 1_040], "begun_ns is -1 in row 0, but its process lived"),
            ("ended_ns", &[1_040, 1_101], "ended_ns is 1101 in row 1, but its process lived"),
            ("ended_ns", &[-1, 1_100], "ended_ns is -1 in row 0, but its process lived"),
            ("stamp_ns", &[-2, 1_010], "stamp_ns is -2 in row 0, but its process lived"),
            ("stamp_ns", &[-1, 1_101], "stamp_ns is 1101 in row 1, but its process lived"),
            ("begun_ns", &[1_041, 1_041], "ended_ns is 1040 in row 0, before begun_ns, which is"),
            ("begun_ns", &[1_000], "ended_ns has 2 rows, and begun_ns 1"),
            ("took_ns", &[-1, 100], "took_ns is -1 in row 0: impossible"),
            ("took_ns", &[0, 101], "took_ns is 101 in row 1: impossible"),
            ("told_ns", &[-2, 100], "told_ns is -2 in row 0: impossible"),
            ("elsewhere_ns", &[5_000, 5_101], "its times span 101 ns, from 5000 to 5101"),
            ("elsewhere_ns", &[-1, 5_000], "its times span 5001 ns, from -1 to 5000"),
        ];
        for (name, values, said) in cases {
            let _attack = proof_kit::Attack::on("answers", said);
            let mut samples = samples();
            samples.columns.insert(name.to_owned(), Column::Raw(values.to_vec()));
            let found = all_laws(&Account { run: &run(), samples: &samples }).unwrap_err();
            assert!(found.contains(said), "{name}: {found}");
        }
    }
}
