//! The `engines` family: a query over a folder of JSON Lines.

mod check;
mod metrics;
mod report;
mod section;

use lab_family::{Account, Definition, Factor, Family, section, section_schema};

use crate::engines::{
    metrics::{Clocks, METRICS, SEARCH},
    section::EnginesSection,
};

/// The family, as the plan, the driver and the report know it.
#[derive(Debug)]
pub struct Engines;

impl Family for Engines {
    fn definition(&self) -> &'static Definition {
        &Definition {
            name: "engines",
            former_names: &["search"],
            factors: FACTORS,
            adjacent_factor: None,
            metrics: METRICS,
            section: section::<EnginesSection>,
            section_schema: section_schema::<EnginesSection>,
        }
    }

    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        account.within_counter(SEARCH, clocks(account).wall)?;
        search_is_of_the_process(account)
    }
}

/// CPU time of a process outside its search: an interpreter starts. In the committed records, none
/// of which has one, the kernel counted at most 0.75 ms more than twice what the CPUs had.
const OUTSIDE_CPU_NS: u128 = 200_000_000;
/// Time of a process outside its search, however busy the machine is: 23 ms in those records.
const OUTSIDE_NS: u64 = 1_000_000_000;

/// Who saw the process.
fn clocks(account: &Account<'_>) -> Clocks {
    Clocks::of(|name| account.counter(name).is_some())
}

/// A process searched most of its time, as its starter saw it, and with most of its CPU time.
fn search_is_of_the_process(account: &Account<'_>) -> Result<(), String> {
    let counter = |name| account.counter(name);
    let Clocks { wall, user, system } = clocks(account);
    let (Some(search), Some(whole)) = (counter(SEARCH), counter(wall)) else { return Ok(()) };
    if whole > search.saturating_mul(2).saturating_add(OUTSIDE_NS) {
        return Err(format!("{SEARCH} is {search}, but {wall}, its process's time, is {whole}"));
    }
    let kernel = (counter(user), counter(system), account.cpus());
    let (Some(user), Some(system), Some(cpus)) = kernel else { return Ok(()) };
    let counted = u128::from(user) + u128::from(system);
    match counted > 2 * u128::from(search) * u128::from(cpus) + OUTSIDE_CPU_NS {
        true => Err(format!(
            "{SEARCH} is {search}, but the kernel counted {counted} ns of CPU time on {cpus} CPUs"
        )),
        false => Ok(()),
    }
}

/// What an experiment may vary, in the order in which tables show it.
const FACTORS: &[Factor] = &[
    Factor::new("corpus"),
    Factor::new("query"),
    Factor::new("threads"),
    Factor::new(READ),
    Factor::new("chunk"),
    Factor::new("buffer_bytes"),
    Factor::new("channel_bound"),
    Factor::new("semaphore"),
    Factor::new("result_capacity"),
    Factor::new("prefilter"),
    Factor::new("parser"),
    Factor::new("advise"),
    Factor::new("cache"),
];
/// The factors that say what is searched and by how many; the others say how.
const PLACE: [&str; 3] = ["corpus", "query", "threads"];
/// How files are read. A program that reads one way alone stands beside those that read both ways.
const READ: &str = "read";
const PLACE_AND_READ: [&str; 4] = ["corpus", "query", "threads", READ];

#[cfg(test)]
mod tests {
    use lab_record::{Run, Samples};
    use serde_json::json;

    use super::*;

    /// Of a process that lived for 100 ns.
    fn laws(counters: serde_json::Value) -> Result<(), String> {
        let run = json!({
            "schema": 2, "order": 0, "attempt": 0, "block": 1, "warmup": false,
            "family": "engines", "variant": "v", "cell": {}, "status": "ok",
            "verification": "verified", "binary_sha256": "", "start_ns": 0, "process_ns": 100,
            "noise": {}, "counters": counters,
        });
        let run: Run = serde_json::from_value(run).expect("a run");
        Engines.laws(&Account { run: &run, samples: &Samples::default() })
    }

    #[test]
    fn a_search_is_most_of_its_process() {
        let whole = |wall: u64, hyperfine: u64, cpu: u64| {
            let run = json!({
                "schema": 2, "order": 0, "attempt": 0, "block": 1, "warmup": false,
                "family": "engines", "variant": "v", "cell": {}, "status": "ok",
                "verification": "verified", "binary_sha256": "", "start_ns": 0,
                "process_ns": 4_000_000_000_u64, "noise": { "capacity_ns": 8_000_000_000_u64 },
                "counters": {
                    "wall_ns": wall, "hyperfine_wall_ns": hyperfine, "hyperfine_user_ns": cpu,
                    "hyperfine_system_ns": 0,
                },
            });
            let run: Run = serde_json::from_value(run).expect("a run");
            Engines.laws(&Account { run: &run, samples: &Samples::default() })
        };
        for (name, wall, hyperfine, cpu, said) in [
            ("1 ns of 1.1 s", 1, 1_100_000_000, 1, "wall_ns is 1, but hyperfine_wall_ns, its"),
            ("1 s of 3.1 s", 1_000_000_000, 3_100_000_000, 1, "its process's time, is 31"),
            ("1 ns with 240 ms of CPU time", 1, 290_000_000, 240_000_000, "counted 240000000 ns"),
            ("10 ms with 241 ms of CPU time", 10_000_000, 290_000_000, 241_000_000, "on 2 CPUs"),
        ] {
            let _attack = proof_kit::Attack::on("answers", name);
            let found = whole(wall, hyperfine, cpu).unwrap_err();
            assert!(found.contains(said), "{name}: {found}");
        }
        assert_eq!(whole(10_000_000, 290_000_000, 240_000_000), Ok(()));
    }

    #[test]
    fn a_search_takes_no_longer_than_its_process_as_hyperfine_saw_it() {
        assert_eq!(laws(json!({ "wall_ns": 90, "hyperfine_wall_ns": 90 })), Ok(()));
        assert_eq!(laws(json!({ "wall_ns": 90 })), Ok(()), "not timed by hyperfine");
        let longer = laws(json!({ "wall_ns": 91, "hyperfine_wall_ns": 90 })).unwrap_err();
        assert_eq!(longer, "wall_ns is 91, but hyperfine_wall_ns, which holds it, is 90");
        let beyond = laws(json!({ "wall_ns": 101, "hyperfine_wall_ns": 110 })).unwrap_err();
        assert!(beyond.contains("but its process lived 100 ns"), "{beyond}");
    }
}
