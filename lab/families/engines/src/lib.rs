//! The `engines` family: a query over a folder of JSON Lines.

#![forbid(unsafe_code)]

mod check;
mod metrics;
mod report;
mod section;

use lab_family::{Account, Definition, Factor, Family, section};

use crate::{
    metrics::{METRICS, SEARCH, WALL},
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
        }
    }

    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()?;
        account.within_counter(SEARCH, WALL)
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
    fn a_search_takes_no_longer_than_its_process_as_hyperfine_saw_it() {
        assert_eq!(laws(json!({ "wall_ns": 90, "hyperfine_wall_ns": 90 })), Ok(()));
        assert_eq!(laws(json!({ "wall_ns": 90 })), Ok(()), "not timed by hyperfine");
        let longer = laws(json!({ "wall_ns": 91, "hyperfine_wall_ns": 90 })).unwrap_err();
        assert_eq!(longer, "wall_ns is 91, but hyperfine_wall_ns, which holds it, is 90");
        let beyond = laws(json!({ "wall_ns": 101, "hyperfine_wall_ns": 110 })).unwrap_err();
        assert!(beyond.contains("but its process lived 100 ns"), "{beyond}");
    }
}
