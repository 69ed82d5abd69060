//! The medians that the published report prints (TAS-166), which stand beside ours. No verdict
//! rests on them: what they say of each other is judged by the audit (`claims/tasker.toml`).

/// One scenario of the published tables, and the levels here that come nearest to it.
pub(crate) struct Scenario {
    pub(crate) tier: &'static str,
    pub(crate) name: &'static str,
    /// Medians of two runs, in milliseconds.
    pub(crate) runs_ms: [f64; 2],
    /// P95 over P50, which is given for the second run and for some scenarios.
    pub(crate) tail: Option<f64>,
    pub(crate) shape: &'static str,
    pub(crate) in_flight: &'static str,
    /// Levels of `worker`.
    pub(crate) workers: &'static [&'static str],
}

impl Scenario {
    /// Whether the published tier is of several processes, as no other is.
    pub(crate) fn is_cluster(&self) -> bool {
        self.tier == CLUSTER
    }
}

const CORE: &str = "1 core";
const COMPLEX: &str = "2 complexity";
const CLUSTER: &str = "3 cluster";
const BATCH: &str = "5 batch";
const RUBY: &[&str] = &["ruby_ffi", "ruby_process"];
const PYTHON: &[&str] = &["python_ffi", "python_process"];
/// Node.js takes both languages.
const TYPESCRIPT: &[&str] = &["typescript_ffi", "typescript_process", "node_ffi", "node_process"];

pub(crate) const SCENARIOS: [Scenario; 14] = [
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
    foreign("typescript linear", [315.08, 315.95], "linear", TYPESCRIPT),
    foreign("typescript diamond", [260.37, 269.79], "diamond", TYPESCRIPT),
    native(BATCH, "csv_products_1000_rows", [357.76, 367.86], 1.08, ("csv_batch", "1")),
];

const fn native(
    tier: &'static str,
    name: &'static str,
    runs_ms: [f64; 2],
    tail: f64,
    (shape, in_flight): (&'static str, &'static str),
) -> Scenario {
    Scenario { tier, name, runs_ms, tail: Some(tail), shape, in_flight, workers: &["native"] }
}

const fn foreign(
    name: &'static str,
    runs_ms: [f64; 2],
    shape: &'static str,
    workers: &'static [&'static str],
) -> Scenario {
    Scenario { tier: "4 languages", name, runs_ms, tail: None, shape, in_flight: "1", workers }
}
