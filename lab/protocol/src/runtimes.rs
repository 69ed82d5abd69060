//! The workload of the `runtimes` family: LLM agents that call Ollama servers.
//!
//! # Columns of a run's samples
//! * per agent, in the order of [`Workload::agents`]: `agent_start_ns`, `agent_end_ns`,
//!   `ingest_end_ns`, `ingest_bytes`; where the variant counts them `agent_migrations` (times that
//!   it was given bytes on another thread than before); where agents come one after another
//!   `agent_due_ns` (when it was to start)
//! * per call, agent by agent and in the order of [`Agent::calls`]: `call_agent`, `call_start_ns`
//!   (before the request is built), `call_first_token_ns`, `call_last_token_ns`, `call_end_ns` (the
//!   `done` line was parsed), `call_tokens` (non-empty `response` lines), `call_text_hash` (xxh64
//!   of the reply's bytes, seed 0, bit-cast to i64), and, from the server's last line or -1 where
//!   it did not say: `call_eval_count`, `call_eval_ns`, `call_prompt_eval_count`,
//!   `call_prompt_eval_ns`, `call_load_ns`, `call_server_total_ns`; where the variant knows it
//!   `call_thread` (a number for the thread that was given its last bytes); where agents drop
//!   replies `call_dropped_ns` (-1 for one that was read to its end; of a dropped one this is its
//!   end too, and it says nothing of the server's last line)
//! * per token, call by call: `token_received_ns` (the moment the runtime handed the bytes to the
//!   agent), `token_sent_ns` (the server's stamp, -1 where the server does not stamp)
//!
//! # Counters of a run
//! `wall_ns` (first agent's start to last agent's end), `process_start_ns` (when `main` began),
//! `cpu_startup_ns` (process CPU time before the first agent starts), `cpu_streaming_ns` (process
//! CPU time between the first and the last token), `cpu_total_ns`, `descriptors_left` (open after
//! the run and not before it), `voluntary_switches`,
//! `involuntary_switches`, `rss_high_water_bytes`, `threads` (at the last token); where a runtime
//! tells how many tasks wait in its own queue `queue_depth_max`, `queue_depth_sum` and
//! `queue_depth_samples` (readings, one whenever bytes come); where a runtime can read through it
//! `io_uring` (1 where it does, 0 where the kernel does not permit it); where agents drop replies
//! and a runtime counts all its tasks `leaked_tasks` (alive when the agents are done).

use serde::{Deserialize, Serialize};

/// N agents and how they are arranged in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// All at once, or each alone.
    pub arrangement: Arrangement,
    /// A call fails when its server sends nothing for this long.
    pub stall_timeout_ms: u64,
    /// The folder that every agent reads on a blocking thread before its first call.
    pub ingest_dir: Option<String>,
    /// The stream of a reply comes to its agent in pieces of at most so many bytes; `None` leaves
    /// it to the variant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub piece_bytes: Option<u32>,
    /// The run fails when a token comes to its agent so long after the server's stamp; `None` for
    /// never. A client that is driven beyond what it can do is over early.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub give_up_lag_ms: Option<u64>,
    /// The agents.
    pub agents: Vec<Agent>,
}

/// Whether agents overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// All agents start together.
    Concurrent,
    /// Each agent runs alone, one after the other, in the given order.
    Solo,
}

/// One agent: calls in order, on one server, with one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Base address, for example `http://127.0.0.1:11434`.
    pub server: String,
    /// The model's name on that server.
    pub model: String,
    /// Its calls. Every call after the first appends what was parsed from the reply before it.
    pub calls: Vec<Call>,
    /// CPU time of its thread that it spends on each token after the stamp, where it was stamped.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub work_per_token_ns: u64,
    /// With so many tokens of its last reply it drops the rest, as the reader of a user who goes
    /// away: it begins to read on, gives that up and closes the connection. 0 for never.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub drop_after_tokens: u64,
    /// It starts so long after the run has begun, whatever the others do.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub start_after_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One streaming `POST /api/generate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The prompt, or its fixed part.
    pub prompt: String,
    /// Ollama's request options.
    pub options: Options,
}

/// Ollama's request options; those that are `None` are not sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Layers on the GPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub num_gpu: Option<i64>,
    /// Context length in tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub num_ctx: Option<i64>,
    /// CPU threads of the model runner.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub num_thread: Option<i64>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub temperature: Option<f64>,
    /// The seed: of the sampler on a real server, of the schedule on the paced one. Unique in a
    /// run.
    pub seed: i64,
    /// The longest reply in tokens; on the paced server the exact length.
    pub num_predict: i64,
}

/// Names of columns and counters, as variants write them and the lab reads them.
pub mod names {
    crate::names! {
        AGENT_DUE_NS = "agent_due_ns",
        AGENT_END_NS = "agent_end_ns",
        AGENT_MIGRATIONS = "agent_migrations",
        AGENT_START_NS = "agent_start_ns",
        CALL_AGENT = "call_agent",
        CALL_DROPPED_NS = "call_dropped_ns",
        CALL_END_NS = "call_end_ns",
        CALL_EVAL_COUNT = "call_eval_count",
        CALL_EVAL_NS = "call_eval_ns",
        CALL_FIRST_TOKEN_NS = "call_first_token_ns",
        CALL_LAST_TOKEN_NS = "call_last_token_ns",
        CALL_LOAD_NS = "call_load_ns",
        CALL_PROMPT_EVAL_COUNT = "call_prompt_eval_count",
        CALL_PROMPT_EVAL_NS = "call_prompt_eval_ns",
        CALL_SERVER_TOTAL_NS = "call_server_total_ns",
        CALL_START_NS = "call_start_ns",
        CALL_TEXT_HASH = "call_text_hash",
        CALL_THREAD = "call_thread",
        CALL_TOKENS = "call_tokens",
        CPU_STARTUP_NS = "cpu_startup_ns",
        CPU_STREAMING_NS = "cpu_streaming_ns",
        CPU_TOTAL_NS = "cpu_total_ns",
        DESCRIPTORS_LEFT = "descriptors_left",
        INGEST_BYTES = "ingest_bytes",
        INGEST_END_NS = "ingest_end_ns",
        IO_URING = "io_uring",
        INVOLUNTARY_SWITCHES = "involuntary_switches",
        LEAKED_TASKS = "leaked_tasks",
        PROCESS_START_NS = "process_start_ns",
        QUEUE_DEPTH_MAX = "queue_depth_max",
        QUEUE_DEPTH_SAMPLES = "queue_depth_samples",
        QUEUE_DEPTH_SUM = "queue_depth_sum",
        RSS_HIGH_WATER_BYTES = "rss_high_water_bytes",
        THREADS = "threads",
        TOKEN_RECEIVED_NS = "token_received_ns",
        TOKEN_SENT_NS = "token_sent_ns",
        VOLUNTARY_SWITCHES = "voluntary_switches",
        WALL_NS = "wall_ns",
    }
}
