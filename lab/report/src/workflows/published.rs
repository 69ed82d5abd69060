//! What the published report says, as it prints it. Milliseconds, medians of one run each.

/// One scenario of the published tables and where the same is measured here.
pub(super) struct Scenario {
    pub(super) tier: &'static str,
    pub(super) name: &'static str,
    pub(super) runs_ms: [f64; 2],
    /// P95 over P50, which is given for the second run and for some scenarios.
    pub(super) tail: Option<f64>,
    pub(super) here: Here,
}

/// Levels of this sweep that come nearest to a scenario.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) shape: &'static str,
    pub(super) in_flight: &'static str,
    /// Levels of `worker`.
    pub(super) workers: &'static [&'static str],
}

const CORE: &str = "1 core";
const COMPLEX: &str = "2 complexity";
const CLUSTER: &str = "3 cluster";
const LANGUAGES: &str = "4 languages";
const BATCH: &str = "5 batch";
const NATIVE: &[&str] = &["native"];
const RUBY: &[&str] = &["ruby_ffi", "ruby_process"];
const PYTHON: &[&str] = &["python_ffi", "python_process"];
const NODE: &[&str] = &["node_ffi", "node_process"];

/// TAS-166, medians of two runs.
pub(super) const SCENARIOS: [Scenario; 14] = [
    native(CORE, "linear", [258.17, 255.26], 1.06, ("linear", "1")),
    native(CORE, "diamond", [199.60, 259.26], 1.01, ("diamond", "1")),
    native(COMPLEX, "conditional", [250.90, 262.13], 1.11, ("conditional", "1")),
    native(COMPLEX, "complex_dag", [382.30, 381.69], 1.05, ("complex_dag", "1")),
    native(COMPLEX, "hierarchical_tree", [388.88, 425.65], 1.05, ("hierarchical_tree", "1")),
    native(CLUSTER, "single_task_linear", [261.34, 261.16], 1.10, ("linear", "1")),
    native(CLUSTER, "concurrent_tasks_2x", [331.91, 383.64], 1.03, ("linear", "2")),
    foreign("ruby linear", [312.40, 315.27], "linear", RUBY),
    foreign("ruby diamond", [260.97, 259.92], "diamond", RUBY),
    foreign("python linear", [314.72, 315.17], "linear", PYTHON),
    foreign("python diamond", [260.38, 275.16], "diamond", PYTHON),
    foreign("typescript linear", [315.08, 315.95], "linear", NODE),
    foreign("typescript diamond", [260.37, 269.79], "diamond", NODE),
    native(BATCH, "csv_products_1000_rows", [357.76, 367.86], 1.08, ("csv_batch", "1")),
];

/// TAS-71, the predecessor, medians of one run: fourteen scenarios.
pub(super) const BEFORE_MS: [f64; 14] = [
    126.66, 127.26, 122.07, 187.58, 190.27, 126.82, 185.43, 185.18, 144.43, 183.87, 185.85, 183.31,
    186.53, 173.41,
];

/// The published look at a foreign language: linear, native and foreign, per version.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Foreign {
    pub(super) version: &'static str,
    pub(super) native_ms: f64,
    /// Ruby, Python, TypeScript.
    pub(super) foreign_ms: [f64; 3],
}

/// Before and after the change that is said to have made foreign workers cheaper; of two runs
/// their mean.
pub(super) const FOREIGN: [Foreign; 2] = [
    Foreign { version: "TAS-71", native_ms: 126.66, foreign_ms: [185.18, 183.87, 183.31] },
    Foreign { version: "TAS-166", native_ms: 256.715, foreign_ms: [313.835, 314.945, 315.515] },
];

/// The client of the published bench sleeps this long between two looks.
pub(super) const POLL_MS: f64 = 50.0;
/// What one look takes in all: the sleep, the timer's lateness and the request.
pub(super) const LOOK_MS: f64 = 59.5;

/// Operations per step as its documents count them.
pub(super) const OPERATIONS: &str = "about 19 database operations, 4 transitions, 2 messages";

/// Every median of both runs.
pub(super) fn medians_ms() -> Vec<f64> {
    SCENARIOS.iter().flat_map(|scenario| scenario.runs_ms).collect()
}

const fn native(
    tier: &'static str,
    name: &'static str,
    runs_ms: [f64; 2],
    tail: f64,
    (shape, in_flight): (&'static str, &'static str),
) -> Scenario {
    let here = Here { shape, in_flight, workers: NATIVE };
    Scenario { tier, name, runs_ms, tail: Some(tail), here }
}

const fn foreign(
    name: &'static str,
    runs_ms: [f64; 2],
    shape: &'static str,
    workers: &'static [&'static str],
) -> Scenario {
    let here = Here { shape, in_flight: "1", workers };
    Scenario { tier: LANGUAGES, name, runs_ms, tail: None, here }
}
