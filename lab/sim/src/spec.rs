//! What a server is told to do: [`ServerSpec`], checked before the first request.

use serde::{Deserialize, Serialize};

use crate::faults::Fault;
use crate::trace::TracedReply;

/// Every line carries the name, and must stay small.
const MODEL_BYTES_MAX: usize = 256;

/// A chunk holds its text in 64 KiB.
pub(crate) const TOKENS_PER_CHUNK_MAX: usize = 1024;

/// How the requests of one run share the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Mode {
    /// Every request runs at the first rate, whatever else is active: as many GPUs as requests.
    Free,
    /// All active requests, prefilling or decoding, share one GPU: the rate of each follows the
    /// number of them and changes at the instant one starts or ends.
    SharedGpu,
    /// One request at a time, first come, first served: a single Ollama without parallel slots.
    Queue,
}

/// A log-normal time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogNormalMs {
    /// The median in milliseconds.
    pub median: f64,
    /// The standard deviation of the logarithm; 0 makes the time constant.
    pub sigma_log: f64,
}

/// The behaviour of all ports during one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// How requests share the server.
    pub mode: Mode,
    /// The only model it knows.
    pub model: String,
    /// Prefill of a request that is alone.
    pub ttft_ms: LogNormalMs,
    /// Tokens per second and stream with 1, 2, … active requests; the last value extends.
    /// `free` and `queue` use the first only.
    pub rate_tokens_per_s: Vec<f64>,
    /// The standard deviation of the logarithm of inter-token times, whose *mean* is kept.
    #[serde(default)]
    pub itl_sigma_log: f64,
    /// Multiplies all times: 1.0 is real, 0.01 a hundred times faster.
    #[serde(default = "real_time")]
    pub time_scale: f64,
    /// The seed of requests that bring none; `null` gives each one of its own, in their order.
    #[serde(default = "seed_of_all")]
    pub default_seed: Option<i64>,
    /// So many tokens of each reply are thought before the answer.
    #[serde(default)]
    pub thinking_tokens: usize,
    /// Whether a chat that offers tools ends by calling the first of them.
    #[serde(default)]
    pub tool_call: bool,
    /// Tokens that leave together, when the last of them is due; a request may ask for another
    /// number by the key of this name.
    #[serde(default = "one")]
    pub tokens_per_chunk: usize,
    /// Recorded replies, which its own take the times and the texts of, one after the other and
    /// from the beginning again. Only `free` replays them, in real time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TracedReply>,
    /// Misbehaviour, for tests of clients and of the driver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

fn seed_of_all() -> Option<i64> {
    Some(0)
}

fn one() -> usize {
    1
}

fn real_time() -> f64 {
    1.0
}

impl ServerSpec {
    /// Refuses what no server could do.
    ///
    /// # Errors
    /// A sentence that names the key and what it must be. `ports` is the number of open ports.
    pub fn check(&self, ports: usize) -> Result<(), String> {
        let finite_at_least_0 = |value: f64| value.is_finite() && value >= 0.0;
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if self.model.is_empty() {
            return Err("model is empty, name the model that clients will ask for".into());
        }
        if self.model.len() > MODEL_BYTES_MAX {
            return Err(format!("model is longer than {MODEL_BYTES_MAX} bytes"));
        }
        if self.rate_tokens_per_s.is_empty() || !self.rate_tokens_per_s.iter().all(|r| positive(*r))
        {
            return Err("rate_tokens_per_s must list at least one rate above 0".into());
        }
        if !finite_at_least_0(self.ttft_ms.median) || !finite_at_least_0(self.ttft_ms.sigma_log) {
            return Err("ttft_ms.median and ttft_ms.sigma_log must be 0 or more".into());
        }
        if !finite_at_least_0(self.itl_sigma_log) {
            return Err("itl_sigma_log must be 0 or more".into());
        }
        if !positive(self.time_scale) {
            return Err("time_scale must be above 0 (1.0 is real time)".into());
        }
        if !(1..=TOKENS_PER_CHUNK_MAX).contains(&self.tokens_per_chunk) {
            return Err(format!("tokens_per_chunk must be 1 to {TOKENS_PER_CHUNK_MAX}"));
        }
        if !self.trace.is_empty() && (self.mode != Mode::Free || self.time_scale != 1.0) {
            return Err("trace needs the mode `free` and the time_scale 1.0".into());
        }
        for (place, reply) in self.trace.iter().enumerate() {
            reply.check().map_err(|error| format!("trace: reply {place}: {error}"))?;
        }
        self.faults.iter().try_for_each(|fault| fault.check(ports))
    }
}
