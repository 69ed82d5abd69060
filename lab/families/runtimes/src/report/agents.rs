//! What each agent of a run got: first tokens, rates, tokens.

use lab_family::Unit;
use lab_report::{Entry, Measured, Page, Study, Table};
use lab_stats::describe::{median, quantile};

use super::groups::{Group, by_configuration, time_scale_of};
use crate::samples;

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
    let roles = roles(study);
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("configuration", "config"),
        ("agent", "agent"),
        ("runs", "runs"),
        ("first token", "ttft_p50_ns"),
        ("P95", "ttft_p95_ns"),
        ("per stream", "tokens_per_s_stream"),
        ("over its time", "tokens_per_s"),
        ("tokens", "tokens"),
        ("time scale", "time_scale"),
    ]);
    for group in by_configuration(study) {
        let named = Some(agents(&group)).filter(|agents| agents.len() <= AGENTS_NAMED);
        for (index, agent) in named.iter().flatten().enumerate() {
            // In turn, as the plan gives them.
            let role = roles.get(index % roles.len().max(1)).cloned();
            let mut first = agent.first_token_ns.clone();
            first.sort_by(f64::total_cmp);
            let rate = |rates: &[f64]| Entry::value(median(rates), Unit::PerSecond);
            table.row(vec![
                Entry::text(group.variant),
                Entry::text(&group.config),
                Entry::text(role.unwrap_or_else(|| index.to_string())),
                Entry::count(agent.tokens.len()),
                Entry::value(quantile(&first, 0.5), Unit::Ns),
                Entry::value(quantile(&first, 0.95), Unit::Ns),
                rate(&agent.stream),
                rate(&agent.whole),
                Entry::value(median(&agent.tokens), Unit::Count),
                Entry::text(time_scale_of(group.runs.iter().copied())),
            ]);
        }
    }
    if !table.is_empty() {
        page.beside("agents", "Each agent's first tokens, tokens and rates", &table);
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
