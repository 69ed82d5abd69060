//! The workload of the `runtimes` family: N agents, each with calls to its server.

use std::sync::Arc;

use lab_family::{
    Address, Answer, Cell, Checked, InputError, Levels, ModelLoad, Needs, Places, Planned, Section,
    ServersNeeded, Truth, Work, draw,
};
use lab_protocol::runtimes::{Agent, Arrangement, Call, Options, Workload};
use rand::Rng;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::runtimes::check;
use crate::runtimes::levels::{
    self, AGENTS, ARRIVALS, BUFFER, BUSY, DROP, NEIGHBOUR, SERVERS, WORK,
};
use crate::runtimes::prompts::{self, PROMPT, Role};
use crate::runtimes::replay::{self, Reply};
use crate::runtimes::table::{Row, TABLE, Table};

/// More files would take longer to write than a sweep takes.
const INGEST_FILES_MAX: u32 = 100_000;
/// Of all of them; every agent of every run reads them.
const INGEST_BYTES_MAX: u64 = 1 << 30;
/// One process holds so many connections on two cores.
const AGENTS_MAX: usize = 10_000;
/// The paced server listens on so many ports.
const SERVERS_MAX: usize = 1_000;
/// Calls of an agent: an analysis and a report.
const CALLS: usize = 2;

/// `[runtimes]` of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuntimesSection {
    /// Whether all variants get the same lengths.
    pub(crate) mode: Mode,
    /// The embedded paced server, or addresses from the command line.
    pub(crate) servers: Servers,
    /// The table of configurations, relative to the experiment's folder.
    pub(crate) table: String,
    /// How many agents run side by side.
    pub(crate) agents: usize,
    /// The model's name; `--model` replaces it.
    pub(crate) model: String,
    /// Factor on every time of the paced server: 0.01 is a hundred times faster.
    pub(crate) time_scale: f64,
    /// Configurations that always run in real time.
    #[serde(default)]
    pub(crate) unscaled: Vec<String>,
    /// A call fails when its server is silent for this long.
    pub(crate) stall_timeout_ms: u64,
    /// A run that gives no outcome for this long is ended; by default four times its forecast, two
    /// stalls and ten seconds.
    pub(crate) run_timeout_ms: Option<u64>,
    /// Files that every agent ingests before its first call.
    pub(crate) ingest_files: u32,
    /// Bytes of each.
    pub(crate) ingest_file_bytes: u32,
    /// Threads of a real model runner.
    pub(crate) num_thread: Option<i64>,
    /// What the agents are for, in turn; without it all ask the same.
    #[serde(default)]
    pub(crate) roles: Vec<Role>,
    /// Calls of an agent; by default two.
    pub(crate) calls: Option<usize>,
    /// All agents ask one server, which answers all of them at once; by default each has its own.
    #[serde(default)]
    pub(crate) one_server: bool,
    /// Tokens that come later than this after the server's stamp are no goodput.
    pub(crate) goodput_lag_ms: Option<f64>,
    /// A run is over, as failed, when a token waits longer than this for its agent.
    pub(crate) give_up_lag_ms: Option<u64>,
    /// The rows of `table`.
    #[serde(skip)]
    rows: Table,
}

/// Where reply lengths come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// From (seed, block, cell, agent, call): equal for all variants, analysed in pairs.
    Controlled,
    /// From the variant's name too: every variant gets its own, as when a model replies freely.
    AsPublished,
}

/// Which servers answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Servers {
    /// The embedded paced server, all agents on one simulated GPU.
    Paced,
    /// Addresses given on the command line.
    Given,
}

impl RuntimesSection {
    /// When a run that has given no outcome is ended.
    fn deadline_ms(&self, expected_ms: u64) -> u64 {
        self.run_timeout_ms.unwrap_or(4 * expected_ms + 2 * self.stall_timeout_ms + 10_000)
    }

    fn agent(&self, row: &Row, at: &Address<'_>, index: usize, is_full: bool) -> Agent {
        let address = self.address(row, at, index);
        let address: Vec<&str> = address.iter().map(String::as_str).collect();
        let calls = self.calls.unwrap_or(CALLS);
        let traced = row.replies.iter().cycle().skip(index * calls).take(calls);
        let mut lengths: Vec<f64> = traced.map(|reply| reply.tokens() as f64).collect();
        if lengths.is_empty() {
            let total = row.reply_tokens.draw(&mut draw::generator(at.seed, &address));
            let first = (total * row.first_call_share).round().max(1.0);
            lengths = match calls {
                1 => vec![total.round().max(1.0)],
                _ => vec![first, (total.round() - first).max(1.0)],
            };
        }
        let role = self.roles.get(index % self.roles.len().max(1)).copied();
        let calls = lengths.iter().enumerate().map(|(call, &length)| {
            let call_name = call.to_string();
            let seed = draw::request_seed(at.seed, &[&address[..], &[&call_name]].concat());
            let options = self.options(row, index, seed, length as i64);
            let prompt = prompts::prompt(role, call, &options, is_full);
            // A first line of its own: a prompt cache would change TTFT tenfold.
            let prompt = format!("Request {}-{index}-{call}.\n{prompt}", at.order);
            Call { prompt, options }
        });
        Agent {
            server: String::new(),
            model: self.model.clone(),
            calls: calls.collect(),
            work_per_token_ns: 0,
            drop_after_tokens: 0,
            start_after_ns: 0,
        }
    }

    /// Gives the agents of a cell what its further levels ask of them.
    fn vary(
        &self,
        levels: &Levels<'_>,
        row: &Row,
        at: &Address<'_>,
        agents: &mut [Agent],
    ) -> Result<(), InputError> {
        let work = levels::work_per_token_ns(levels, agents.len())?;
        let drops = levels::drops(levels)?;
        let arrivals_per_s = levels::arrivals_per_s(levels)?;
        let mut due_s = 0.0;
        for (index, (agent, work_per_token_ns)) in agents.iter_mut().zip(work).enumerate() {
            agent.work_per_token_ns = work_per_token_ns;
            let mut address = self.address(row, at, index);
            address.push("chance".to_owned());
            let address: Vec<&str> = address.iter().map(String::as_str).collect();
            let mut generator = draw::generator(at.seed, &address);
            let (is_dropped, place, gap) = generator.random::<(bool, f64, f64)>();
            let tokens = agent.calls.last().map_or(0, |call| call.options.num_predict);
            // At least one token comes, and at least two are left: who reads on is given one more.
            if drops && is_dropped && tokens > 2 {
                agent.drop_after_tokens = 1 + (place * (tokens - 2) as f64) as u64;
            }
            if let Some(rate) = arrivals_per_s {
                // Gaps of arrivals that know nothing of each other.
                due_s -= (1.0 - gap).ln() / rate;
                agent.start_after_ns = (due_s * 1e9) as u64;
            }
        }
        Ok(())
    }

    /// What the draws of an agent depend on: neither the arrangement nor the servers, so that a
    /// solo run repeats the lengths of the concurrent one, and one server serves what two did; nor
    /// how many others there are, nor how much is asked or handed over at once; and the variant
    /// only in the published mode.
    fn address(&self, row: &Row, at: &Address<'_>, index: usize) -> Vec<String> {
        let mut address = vec![at.block.to_string(), row.treatment()];
        let named = ["config", "arrangement", AGENTS, SERVERS, PROMPT, BUFFER, WORK, BUSY];
        let named = [&named[..], &[NEIGHBOUR, DROP, ARRIVALS]].concat();
        let further = at.cell.iter().filter(|(factor, _)| !named.contains(&factor.as_str()));
        address.extend(further.map(|(factor, level)| format!("{factor}={level}")));
        if self.mode == Mode::AsPublished {
            address.push(at.variant.to_owned());
            // Free replies differ between equal configurations as well.
            address.push(at.cell.get("config").cloned().unwrap_or_default());
        }
        address.push(format!("agent {index}"));
        address
    }

    fn options(&self, row: &Row, index: usize, seed: i64, num_predict: i64) -> Options {
        let pick = |values: &[i64]| values[index % values.len()];
        Options {
            num_gpu: Some(pick(&row.num_gpu)).filter(|&layers| layers >= 0),
            num_ctx: Some(pick(&row.num_ctx)).filter(|&context| context > 0),
            num_thread: self.num_thread,
            temperature: Some(row.temperature),
            seed,
            num_predict,
        }
    }

    /// What the paced server is told where it gives these replies, which share nothing but what
    /// their trace recorded.
    fn replaying(&self, replies: &[Reply]) -> Value {
        json!({
            "mode": "free",
            "model": self.model,
            "ttft_ms": { "median": 0.0, "sigma_log": 0.0 },
            "rate_tokens_per_s": [1.0],
            "trace": replies,
        })
    }

    fn paced(&self, row: &Row, is_shared: bool, time_scale: f64) -> Value {
        // Two servers on one card slow each other down; one server takes one request at a time.
        let mode = if is_shared { "queue" } else { "shared_gpu" };
        json!({
            "mode": mode,
            "model": self.model,
            "ttft_ms": { "median": row.ttft_ms.median, "sigma_log": row.ttft_ms.sigma_log },
            "rate_tokens_per_s": row.rate_tokens_per_s,
            "itl_sigma_log": row.itl_sigma_log,
            "time_scale": time_scale,
        })
    }
}

impl Section for RuntimesSection {
    fn check(&self, file: &str) -> Result<(), InputError> {
        if !(self.time_scale > 0.0 && self.time_scale <= 10.0) {
            let message = "must lie above 0 and not above 10; 1.0 is real time";
            return Err(InputError::value(file, "runtimes.time_scale", message));
        }
        if self.agents == 0 || self.agents > AGENTS_MAX {
            let message = "must lie between 1 and 10,000";
            return Err(InputError::value(file, "runtimes.agents", message));
        }
        if self.agents > SERVERS_MAX && !self.one_server {
            let message = "must not be above 1,000 without `one_server = true`: each has a server";
            return Err(InputError::value(file, "runtimes.agents", message));
        }
        if self.goodput_lag_ms.is_some_and(|ms| !(ms > 0.0 && ms <= 60_000.0)) {
            let message = "must lie above 0 and not above 60,000";
            return Err(InputError::value(file, "runtimes.goodput_lag_ms", message));
        }
        if self.give_up_lag_ms == Some(0) {
            return Err(InputError::value(file, "runtimes.give_up_lag_ms", "must be above 0"));
        }
        if self.calls.is_some_and(|calls| !(1..=CALLS).contains(&calls)) {
            return Err(InputError::value(file, "runtimes.calls", "must be 1 or 2"));
        }
        let ingested = u64::from(self.ingest_files) * u64::from(self.ingest_file_bytes);
        if self.ingest_files > INGEST_FILES_MAX || ingested > INGEST_BYTES_MAX {
            let message = "at most 100,000 files, of 1 GiB together";
            return Err(InputError::value(file, "runtimes.ingest_files", message));
        }
        if self.servers == Servers::Given && self.time_scale != 1.0 {
            let message = "must be 1.0 on real servers: their time cannot be scaled";
            return Err(InputError::value(file, "runtimes.time_scale", message));
        }
        Ok(())
    }

    fn attachment(&self) -> Option<(&'static str, &str)> {
        Some((TABLE, &self.table))
    }

    fn attach(&mut self, text: &str) -> Result<(), InputError> {
        self.rows = Table::parse(&self.table, text)?;
        Ok(())
    }

    fn further_files(&self) -> Vec<(String, String)> {
        let named = |(name, row): (&String, &Row)| {
            Some((format!("config.{name}.trace"), row.trace.clone()?))
        };
        self.rows.config.iter().filter_map(named).collect()
    }

    fn take_file(&mut self, file: &str, text: &str) -> Result<(), InputError> {
        let replies = replay::parse(text);
        let named = |(_, row): &(&String, &mut Row)| row.trace.as_deref() == Some(file);
        for (name, row) in self.rows.config.iter_mut().filter(named) {
            let refuse = |why: &str| {
                let what = format!("{file}: {why}; record it with `lab sim record`");
                InputError::value(&self.table, &format!("config.{name}.trace"), what)
            };
            if self.servers == Servers::Given {
                return Err(refuse("only `servers = \"paced\"` replays a trace"));
            }
            row.replies = replies.clone().map_err(|why| refuse(&why))?;
        }
        Ok(())
    }

    fn needs(&self, cells: &[Cell]) -> Needs {
        let levels = cells.iter().filter_map(|cell| cell.get(SERVERS)?.parse().ok());
        let servers = ServersNeeded {
            given: self.servers == Servers::Given,
            count: if self.one_server { 1 } else { self.agents },
            different: levels.max().unwrap_or(1),
            model: self.model.clone(),
        };
        Needs {
            servers: Some(servers),
            text_files: Some((self.ingest_files, self.ingest_file_bytes)),
            startup_times: true,
            ..Needs::default()
        }
    }

    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError> {
        let level = |factor: &str| {
            at.cell.get(factor).map(String::as_str).ok_or_else(|| {
                InputError::value(file, "cells", format!("every cell needs the factor `{factor}`"))
            })
        };
        let config = level("config")?;
        let row = self.rows.config.get(config).ok_or_else(|| {
            let message = format!("`{config}` is not a row of {}", self.table);
            InputError::value(file, "cells.config", message)
        })?;
        level("arrangement")?;
        let arrangements = [("concurrent", Arrangement::Concurrent), ("solo", Arrangement::Solo)];
        let levels = Levels { file, section: "runtimes", cell: at.cell };
        let arrangement = levels.one_of("arrangement", &arrangements)?;
        let count = levels::agents(file, at, self.agents)?;
        if self.one_server && at.cell.contains_key(SERVERS) {
            let message = "leave the factor `servers` out: `one_server = true` says how many";
            return Err(InputError::value(file, "cells.servers", message));
        }
        let servers = levels::servers(file, at, count, if self.one_server { 1 } else { count })?;
        let is_shared = servers == 1 && count > 1 && !self.one_server;
        let unscaled = row.trace.is_some() || self.unscaled.iter().any(|name| name == config);
        let time_scale = if unscaled { 1.0 } else { self.time_scale };
        let is_full = prompts::are_full(file, at)?;
        let mut agents: Vec<Agent> =
            (0..count).map(|index| self.agent(row, at, index, is_full)).collect();
        self.vary(&levels, row, at, &mut agents)?;
        let takes_turns = is_shared || arrangement == Arrangement::Solo;
        let last_due_ms = agents.last().map_or(0, |agent| agent.start_after_ns / 1_000_000);
        let expected_ms = last_due_ms + expected_ms(row, takes_turns, &agents, time_scale);
        let stall_timeout_ms = self.stall_timeout_ms;
        let piece_bytes = levels::piece_bytes(file, at)?;
        let workload = Workload {
            arrangement,
            stall_timeout_ms,
            ingest_dir: None,
            piece_bytes,
            give_up_lag_ms: self.give_up_lag_ms,
            agents,
        };
        let calls = workload.agents.iter().flat_map(|agent| &agent.calls);
        let replies = calls.zip(row.replies.iter().cycle());
        let replies: Vec<Reply> =
            replies.map(|(call, reply)| reply.to(call.options.seed)).collect();
        let paced = (self.servers == Servers::Paced).then(|| match replies.is_empty() {
            true => self.paced(row, is_shared, time_scale),
            false => self.replaying(&replies),
        });
        let time_scale_ppm = (time_scale * 1e6).round() as u64;
        let deadline_ms = self.deadline_ms(expected_ms);
        let work = Arc::new(RuntimesWork {
            workload,
            servers,
            paced,
            replies,
            time_scale_ppm,
            neighbour_percent: levels::neighbour_percent(&levels)?,
        });
        Ok(Planned { work, expected_ms, deadline_ms })
    }
}

/// The agents of one run.
#[derive(Debug)]
struct RuntimesWork {
    workload: Workload,
    /// How many servers answer: the agents' calls go to them in turn.
    servers: usize,
    paced: Option<Value>,
    /// What the paced server replays.
    replies: Vec<Reply>,
    time_scale_ppm: u64,
    neighbour_percent: u64,
}

impl RuntimesWork {
    fn at(&self, at: &Places) -> Workload {
        let mut workload = self.workload.clone();
        workload.ingest_dir = Some(at.text_files.to_string_lossy().into_owned());
        for (index, agent) in workload.agents.iter_mut().enumerate() {
            if !at.servers.is_empty() {
                agent.server.clone_from(&at.servers[index % at.servers.len()]);
            }
        }
        workload
    }
}

impl Work for RuntimesWork {
    fn workload(&self, at: &Places) -> Value {
        json!(self.at(at))
    }

    fn servers(&self) -> usize {
        self.servers
    }

    fn paced(&self) -> Option<&Value> {
        self.paced.as_ref()
    }

    fn model_loads(&self, at: &Places) -> Vec<ModelLoad> {
        let agents = self.at(at).agents.into_iter();
        let load = |agent: Agent| {
            let options = runner_options(&agent.calls.first()?.options);
            Some(ModelLoad { server: agent.server, model: agent.model, options })
        };
        agents.filter_map(load).collect()
    }

    fn neighbour_percent(&self) -> u64 {
        self.neighbour_percent
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("server_time_scale_ppm", self.time_scale_ppm)]
    }

    fn check(&self, answer: &Answer<'_>, truth: &Truth<'_>) -> Result<Checked, String> {
        match truth {
            Truth::Served(served) => {
                replay::was_replayed(&self.replies, served)?;
                check::against_server(&self.workload, self.servers, answer.outcome, served)
            }
            _ => check::own_shape(&self.workload, answer.outcome).map(|()| Checked::plausible()),
        }
    }
}

/// The options with which a runner loads a model: another value of one of them reloads it.
fn runner_options(options: &Options) -> Value {
    let mut wanted = json!({});
    let named = [
        ("num_gpu", options.num_gpu),
        ("num_ctx", options.num_ctx),
        ("num_thread", options.num_thread),
    ];
    for (key, value) in named {
        if let Some(value) = value {
            wanted[key] = json!(value);
        }
    }
    wanted
}

/// A forecast for the progress bar, not a result: agents that overlap share the server for as long
/// as the shorter one runs; one server answers them in turn, as a solo run asks them.
fn expected_ms(row: &Row, takes_turns: bool, agents: &[Agent], time_scale: f64) -> u64 {
    let alone = row.rate_tokens_per_s[0];
    let shared = *row
        .rate_tokens_per_s
        .get(agents.len() - 1)
        .unwrap_or(row.rate_tokens_per_s.last().expect("check has seen at least one rate"));
    let agent_ms = |agent: &Agent, rate: f64| {
        let tokens: i64 = agent.calls.iter().map(|call| call.options.num_predict).sum();
        agent.calls.len() as f64 * row.ttft_ms.median + tokens as f64 / rate * 1e3
    };
    let total = if takes_turns {
        agents.iter().map(|agent| agent_ms(agent, alone)).sum()
    } else {
        agents.iter().map(|agent| agent_ms(agent, shared)).fold(0.0, f64::max)
    };
    (total * time_scale).ceil() as u64
}
