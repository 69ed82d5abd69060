//! What each agent of a run got: first tokens, rates, tokens.

use lab_family::Unit::{Ns, PerSecond};
use lab_report::Column::{Count, Number, Text, Words};
use lab_report::{Chapter, Measured, Page, Study, Table, number};
use lab_stats::describe::{median, quantile};

use super::groups::{Group, by_configuration};
use crate::runtimes::samples;

/// Of more, each is one of many: their lags and rates are a distribution.
const AGENTS_NAMED: usize = 10;

/// One agent over the runs of a group.
#[derive(Default)]
struct Agent {
    first_token_ns: Vec<f64>,
    stream: Vec<f64>,
    whole: Vec<f64>,
    tokens: Vec<f64>,
}

pub(crate) fn write(study: &Study, page: &mut Page) {
    let (groups, roles) = (by_configuration(study), roles(study));
    let named = groups.iter().flat_map(|group| {
        let agents = Some(agents(group)).filter(|agents| agents.len() <= AGENTS_NAMED);
        let agents = agents.into_iter().flatten().enumerate();
        agents.map(move |(index, agent)| (group, index, agent))
    });
    // In turn, as the plan gives them.
    let role = |index: usize| roles.get(index % roles.len().max(1)).cloned();
    let table = Table::over(
        named,
        &[
            Text("", "variant", &|(group, ..)| group.variant),
            Text("", "config", &|(group, ..)| &group.config),
            Words("", "agent", &|(_, index, _)| role(*index).unwrap_or_else(|| index.to_string())),
            Count("", "runs", &|(.., agent)| agent.tokens.len()),
            Number("", "ttft_p50_ns", Ns, &|(.., agent)| agent.first_token_ns(0.5)),
            Number("", "ttft_p95_ns", Ns, &|(.., agent)| agent.first_token_ns(0.95)),
            Number("", "tokens_per_s_stream", PerSecond, &|(.., agent)| median(&agent.stream)),
            Number("", "tokens_per_s", PerSecond, &|(.., agent)| median(&agent.whole)),
            number("tokens", &|(.., agent)| median(&agent.tokens)),
            Words("", "time_scale", &|(group, ..)| group.time_scale()),
        ],
    );
    let what = "Each agent's first tokens, tokens and rates";
    page.chapter(Chapter::beside("agents", what, table));
}

impl Agent {
    fn first_token_ns(&self, share: f64) -> Option<f64> {
        let mut sorted = self.first_token_ns.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, share)
    }
}

/// What the experiment says that agents are for.
fn roles(study: &Study) -> Vec<String> {
    let roles = study.section.get("roles").and_then(toml::Value::as_array);
    let names = roles.into_iter().flatten().filter_map(toml::Value::as_str);
    names.map(str::to_owned).collect()
}

fn agents(group: &Group) -> Vec<Agent> {
    let mut agents: Vec<Agent> = Vec::new();
    for one in &group.runs {
        let of_run = of_run(one).unwrap_or_default();
        agents.resize_with(agents.len().max(of_run.len()), Agent::default);
        for (agent, own) in agents.iter_mut().zip(of_run) {
            agent.first_token_ns.extend(own.first_token_ns);
            agent.stream.extend(own.stream);
            agent.whole.extend(own.whole);
            agent.tokens.extend(own.tokens);
        }
    }
    agents
}

/// The agents of one run; none where it has not what they need.
fn of_run(one: &Measured) -> Option<Vec<Agent>> {
    let samples = &one.row.samples;
    let first_tokens = samples::ttft_by_agent(samples)?;
    let rates = samples::stream_rates_per_agent(samples)?;
    let tokens = samples::tokens_per_agent(samples)?;
    let times = samples::agent_durations_ns(samples)?;
    let agent = |index: usize| {
        let (tokens, ns) = (*tokens.get(index)? as f64, *times.get(index)? as f64);
        Some(Agent {
            first_token_ns: first_tokens.get(index)?.iter().map(|ns| *ns as f64).collect(),
            stream: rates.get(index)?.iter().copied().collect(),
            whole: (ns > 0.0).then(|| tokens * 1e9 / ns).into_iter().collect(),
            tokens: vec![tokens],
        })
    };
    (0..times.len()).map(agent).collect()
}
