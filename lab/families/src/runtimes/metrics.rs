//! All metrics of all runs: each concurrent run beside its solo baseline of the same block.

use std::collections::BTreeMap;

use lab_family::Unit::{Bytes, Count, Ns, PerSecond, Share, Times};
use lab_family::Verb::Has;
use lab_family::{Metric, higher, lower, neither};
use lab_report::frame::{cell_but, is_gated};
use lab_report::{Distribution, Measured, Row};
use lab_stats::describe::median;

use crate::runtimes::cells::{UNSCALED_PPM, is_solo, time_scale_ppm};
use crate::runtimes::efficiency::{self, LossSplit};
use crate::runtimes::samples;

/// What is computed from a run, or counted by it. Shares of the loss are shares of agents times
/// wall time.
pub(crate) const METRICS: &[Metric] = &[
    lower(("wall_ns", "wall time"), Ns, "First agent's start to last agent's end."),
    higher(
        ("efficiency_as_published", "parallel efficiency as published"),
        Share,
        "Agents' times over agents × wall time.",
    ),
    higher(
        ("efficiency_true", "parallel efficiency"),
        Share,
        "Agents' solo times over agents × wall time.",
    ),
    higher(
        ("speed_up_as_published", "speed-up as published"),
        Times,
        "Agents' times over wall time.",
    ),
    higher(("speed_up_true", "speed-up"), Times, "Agents' solo times over wall time."),
    lower(("loss_share", "loss of efficiency"), Share, "1 minus `efficiency_true`."),
    lower(
        ("loss_imbalance_share", "loss by unequal agents"),
        Share,
        "Loss by agents of unequal length.",
    ),
    lower(
        ("loss_server_contention_share", "loss by a shared server"),
        Share,
        "Loss by a slower shared server.",
    ),
    lower(
        ("loss_client_remainder_share", "unexplained loss"),
        Share,
        "Loss that neither explains.",
    ),
    lower(
        ("wall_beyond_longest_agent_ns", "time beyond the longest agent"),
        Ns,
        "Wall time minus the longest agent's.",
    ),
    higher(
        ("agent_overlap_share", "overlap of agents"),
        Share,
        "Time of all agents at once over the shortest's.",
    ),
    higher(
        ("token_balance_share", "balance of tokens"),
        Share,
        "Mean tokens of an agent over the most of any.",
    ),
    neither(("tokens", "tokens"), Count, "Tokens of all replies."),
    lower(("ttft_p50_ns", "time to first token"), Ns, "Time to first token, median over calls."),
    lower(("ttft_p95_ns", "time to first token (P95)"), Ns, "The same, 95th percentile."),
    lower(
        ("late_first_token_share", "share of late first tokens"),
        Share,
        "Calls whose first token took over 3 s of server time.",
    ),
    neither(
        ("ttft_agents_apart_ns", "time between agents' first tokens"),
        Ns,
        "Slowest agent's median first token minus the fastest's.",
    ),
    neither(
        ("tokens_per_s_agents_apart", "gap between agents' rates"),
        PerSecond,
        "Fastest agent's rate minus the slowest's.",
    )
    .with(Has),
    lower(
        ("ttft_max_ns", "longest time to first token"),
        Ns,
        "Time to first token, longest of all calls.",
    ),
    lower(
        ("inter_token_p50_ns", "time between tokens"),
        Ns,
        "Time between tokens at the client, median.",
    ),
    lower(("inter_token_p99_ns", "time between tokens (P99)"), Ns, "The same, 99th percentile."),
    lower(
        ("delivery_lag_p50_ns", "delivery lag"),
        Ns,
        "Server's stamp to client's receipt, median.",
    )
    .with(Has),
    lower(("delivery_lag_p90_ns", "delivery lag (P90)"), Ns, "The same, 90th percentile.")
        .with(Has),
    lower(("delivery_lag_p99_ns", "delivery lag (P99)"), Ns, "The same, 99th percentile.")
        .with(Has),
    lower(("delivery_lag_p999_ns", "delivery lag (P99.9)"), Ns, "The same, 99.9th percentile.")
        .with(Has),
    lower(("delivery_lag_max_ns", "largest delivery lag"), Ns, "The same, largest.").with(Has),
    lower(
        ("ttft_due_p50_ns", "first token since the intended start"),
        Ns,
        "Agent's intended start to its first token, median.",
    ),
    lower(
        ("ttft_due_p99_ns", "first token since the intended start (P99)"),
        Ns,
        "The same, 99th percentile.",
    ),
    lower(
        ("release_p50_ns", "time to release a socket"),
        Ns,
        "Drop of a reply to the server's notice of it, median.",
    ),
    lower(("release_p99_ns", "time to release a socket (P99)"), Ns, "The same, 99th percentile."),
    lower(
        ("tokens_after_drop", "tokens after a drop"),
        Count,
        "Tokens that the server wrote between both, mean over dropped replies.",
    ),
    lower(
        ("leaked_sockets", "leaked sockets"),
        Count,
        "Dropped replies whose connection outlived them or the last agent.",
    ),
    lower(
        ("leaked_tasks", "leaked tasks"),
        Count,
        "Counter: the runtime's tasks that outlive the last agent, where replies are dropped.",
    ),
    lower(
        ("descriptors_left", "leaked descriptors"),
        Count,
        "Counter: open after the client's run and not before it.",
    ),
    lower(
        ("late_token_share", "share of late tokens"),
        Share,
        "Tokens whose delivery lag exceeds `goodput_lag_ms`.",
    ),
    higher(
        ("goodput_tokens_per_s", "goodput"),
        PerSecond,
        "Tokens within `goodput_lag_ms` over the wall time.",
    ),
    lower(
        ("cpu_per_token_ns", "CPU time per token"),
        Ns,
        "Client's CPU time while streaming, per token.",
    ),
    lower(
        ("context_switches", "context switches"),
        Count,
        "Voluntary and involuntary, of the client.",
    ),
    lower(
        ("switches_per_token", "context switches per token"),
        Count,
        "The same, over all tokens.",
    ),
    lower(
        ("rss_per_stream_bytes", "memory per stream"),
        Bytes,
        "Largest resident memory of the client over its agents.",
    ),
    neither(
        ("threads_busy_share", "busy share of threads"),
        Share,
        "Client's CPU time while streaming, of all threads'.",
    ),
    neither(
        ("migrations", "migrations between threads"),
        Count,
        "Times that an agent went on on another thread.",
    ),
    neither(
        ("queue_depth_mean", "tasks in the queue"),
        Count,
        "Tasks in the runtime's own queue when bytes come, mean.",
    ),
    neither(
        ("prompt_tokens", "prompt tokens"),
        Count,
        "Tokens of a call's prompt by the server's count, median.",
    ),
    higher(
        ("tokens_per_s_stream", "tokens per second of a stream"),
        PerSecond,
        "While a stream streams, at the client.",
    ),
    higher(
        ("tokens_per_s_server", "tokens per second at the server"),
        PerSecond,
        "The same, by the server's own account.",
    ),
    higher(
        ("tokens_per_s_pooled", "tokens per second"),
        PerSecond,
        "All tokens over the wall time.",
    ),
    lower(
        ("rss_high_water_bytes", "memory"),
        Bytes,
        "Counter: largest resident memory of the client.",
    ),
    lower(("threads", "threads"), Count, "Counter: threads of the client at the last token."),
    neither(
        ("queue_depth_max", "tasks in the fullest queue"),
        Count,
        "Counter: most tasks in the runtime's own queue.",
    ),
    lower(("cpu_total_ns", "CPU time"), Ns, "Counter: CPU time of the client."),
    lower(
        ("cpu_startup_ns", "CPU time before the first agent"),
        Ns,
        "Counter: CPU time of the client before its first agent.",
    ),
    neither(
        ("server_pacing_error_p50_ns", "pacing error"),
        Ns,
        "Counter: lateness of paced writes, median.",
    )
    .with(Has),
    neither(
        ("server_pacing_error_p99_ns", "pacing error (P99)"),
        Ns,
        "Counter: the same, 99th percentile.",
    )
    .with(Has),
];

/// Measures runs of a sweep. A solo baseline that is not among them takes its part of the
/// concurrent run's metrics with it.
pub(crate) fn measure<'a>(section: &toml::Table, rows: &[&'a Row]) -> Vec<Measured<'a>> {
    let limit_ns = goodput_lag_ns(section);
    let mut baselines: BTreeMap<(String, String, u32), &Row> = BTreeMap::new();
    for row in rows.iter().filter(|row| is_solo(&row.run)) {
        let slot = baselines.entry(partner(row)).or_insert(row);
        // Of two attempts the undisturbed one is the better baseline.
        if is_gated(&slot.run) && !is_gated(&row.run) {
            *slot = row;
        }
    }
    let measured = |row: &&'a Row| {
        let solo = (!is_solo(&row.run)).then(|| baselines.get(&partner(row))).flatten();
        Measured::new(row, values(row, solo.copied(), limit_ns))
    };
    rows.iter().map(measured).collect()
}

/// The lag beyond which a token is no goodput, where the experiment has one.
fn goodput_lag_ns(section: &toml::Table) -> Option<f64> {
    let said = section.get("goodput_lag_ms")?;
    let ms = said.as_float().or_else(|| said.as_integer().map(|ms| ms as f64))?;
    Some(ms * 1e6)
}

/// An agent that is alone has a server to itself, however many there are.
fn partner(row: &Row) -> (String, String, u32) {
    (row.run.variant.clone(), cell_but(&row.run, &["arrangement", "servers"]), row.run.block)
}

/// Every metric that the samples and counters of a run give.
fn values(
    row: &Row,
    solo: Option<&Row>,
    goodput_lag_ns: Option<f64>,
) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    per_token(row, &mut put);
    goodput(row, goodput_lag_ns, &mut put);
    per_agent(row, solo, &mut put);
    values
}

fn per_token(row: &Row, put: &mut impl FnMut(&'static str, Option<f64>)) {
    let (run, samples) = (&row.run, &row.samples);
    let wall = samples::wall_ns(run);
    let tokens = samples::tokens(samples).map(|tokens| tokens as f64);
    put("tokens", tokens);
    let ttft = samples::ttft(samples);
    let gaps = samples::inter_token_ns(samples);
    let lag = samples::delivery_lag_ns(samples);
    let at = |of: &Option<Distribution>, p| of.as_ref().map(|of| of.quantile(p) as f64);
    put("ttft_p50_ns", at(&ttft, 0.5));
    put("ttft_p95_ns", at(&ttft, 0.95));
    put("late_first_token_share", late_share(row));
    put("ttft_max_ns", ttft.as_ref().map(|ttft| ttft.max() as f64));
    put("inter_token_p50_ns", at(&gaps, 0.5));
    put("inter_token_p99_ns", at(&gaps, 0.99));
    put("delivery_lag_p50_ns", at(&lag, 0.5));
    put("delivery_lag_p90_ns", at(&lag, 0.9));
    put("delivery_lag_p99_ns", at(&lag, 0.99));
    put("delivery_lag_p999_ns", at(&lag, 0.999));
    put("delivery_lag_max_ns", lag.as_ref().map(|lag| lag.max() as f64));
    let due = samples::ttft_due(samples);
    put("ttft_due_p50_ns", at(&due, 0.5));
    put("ttft_due_p99_ns", at(&due, 0.99));
    let release = samples::release_ns(samples);
    put("release_p50_ns", at(&release, 0.5));
    put("release_p99_ns", at(&release, 0.99));
    put("tokens_after_drop", samples::tokens_after_drop(samples));
    put("leaked_sockets", samples::leaked_sockets(samples).map(|sockets| sockets as f64));
    put("cpu_per_token_ns", samples::cpu_per_token_ns(run, samples));
    put("threads_busy_share", samples::threads_busy_share(run, samples));
    put("migrations", samples::migrations(samples));
    put("queue_depth_mean", samples::queue_depth_mean(run));
    put("prompt_tokens", samples::prompt_tokens(samples).and_then(|counts| median(&counts)));
    put("tokens_per_s_stream", samples::tokens_per_s_client(samples));
    put("tokens_per_s_server", samples::tokens_per_s_server(samples));
    put("tokens_per_s_pooled", tokens.zip(wall).map(|(tokens, wall)| tokens * 1e9 / wall));
    let switches = |name: &str| run.counters.get(name).map(|&count| count as f64);
    let both = switches("voluntary_switches").zip(switches("involuntary_switches"));
    let both = both.map(|(voluntary, involuntary)| voluntary + involuntary);
    put("context_switches", both);
    put("switches_per_token", both.zip(tokens).map(|(switches, tokens)| switches / tokens));
    let streams = samples.raw("call_agent").and_then(|agents| agents.iter().max());
    let streams = streams.map(|last| (last + 1) as f64);
    let memory = run.counters.get("rss_high_water_bytes").map(|&bytes| bytes as f64);
    put("rss_per_stream_bytes", memory.zip(streams).map(|(bytes, streams)| bytes / streams));
}

fn goodput(
    row: &Row,
    limit_ns: Option<f64>,
    put: &mut impl FnMut(&'static str, Option<f64>),
) -> Option<()> {
    let share = samples::delivery_lag_ns(&row.samples)?.share_at_most(limit_ns?);
    put("late_token_share", Some(1.0 - share));
    let tokens = samples::tokens(&row.samples)? as f64;
    put("goodput_tokens_per_s", Some(share * tokens * 1e9 / samples::wall_ns(&row.run)?));
    Some(())
}

/// What needs the agents' durations; all of it only for a run in which they were to overlap.
fn per_agent(
    row: &Row,
    solo: Option<&Row>,
    put: &mut impl FnMut(&'static str, Option<f64>),
) -> Option<()> {
    let samples = &row.samples;
    let wall = samples::wall_ns(&row.run)?;
    put("wall_ns", Some(wall));
    if is_solo(&row.run) {
        return None;
    }
    let concurrent = samples::agent_durations_ns(samples)?;
    let agents = concurrent.len() as f64;
    let published = efficiency::as_published(&concurrent, wall as i64);
    put("efficiency_as_published", published);
    put("speed_up_as_published", published.map(|share| share * agents));
    put("agent_overlap_share", samples::overlap(samples));
    let longest = concurrent.iter().max().map(|&ns| ns as f64);
    put("wall_beyond_longest_agent_ns", longest.map(|longest| wall - longest));
    let tokens = samples::tokens_per_agent(samples);
    let rates = tokens.as_deref().map(|tokens| rates(tokens, &concurrent));
    put("tokens_per_s_agents_apart", rates.as_deref().and_then(apart));
    put("ttft_agents_apart_ns", samples::ttft_per_agent(samples).as_deref().and_then(apart));
    put("token_balance_share", tokens.as_deref().and_then(balance));

    let alone = samples::agent_durations_ns(&solo?.samples)?;
    let against_solo = efficiency::against_solo(&alone, wall as i64);
    put("efficiency_true", against_solo);
    put("speed_up_true", against_solo.map(|share| share * agents));
    let server = samples::server_durations_ns(samples)?;
    let server_alone = samples::server_durations_ns(&solo?.samples)?;
    let split = LossSplit::of(wall as i64, &concurrent, &alone, &server, &server_alone)?;
    let names = [
        "loss_share",
        "loss_imbalance_share",
        "loss_server_contention_share",
        "loss_client_remainder_share",
    ];
    for (name, share) in names.into_iter().zip(split.shares()) {
        put(name, Some(share));
    }
    Some(())
}

/// TR115's rule: a first token after 3 s stands for contention. On a scaled server, of its time.
fn late_share(row: &Row) -> Option<f64> {
    let limit = LATE_NS * time_scale_ppm(&row.run) as f64 / UNSCALED_PPM as f64;
    let calls = samples::ttft_ns(&row.samples);
    let late = calls.iter().filter(|ns| **ns as f64 > limit).count();
    (!calls.is_empty()).then(|| late as f64 / calls.len() as f64)
}

const LATE_NS: f64 = 3e9;

/// Tokens a second of each agent.
fn rates(tokens: &[i64], durations_ns: &[i64]) -> Vec<f64> {
    let pairs = tokens.iter().zip(durations_ns).filter(|(_, ns)| **ns > 0);
    pairs.map(|(tokens, ns)| *tokens as f64 * 1e9 / *ns as f64).collect()
}

/// The largest minus the smallest, of two or more.
fn apart(values: &[f64]) -> Option<f64> {
    let most = values.iter().copied().reduce(f64::max)?;
    let least = values.iter().copied().reduce(f64::min)?;
    (values.len() > 1).then_some(most - least)
}

/// Mean over maximum: the form that the published efficiency has in durations, in tokens.
fn balance(tokens: &[i64]) -> Option<f64> {
    let longest = *tokens.iter().max()?;
    let total: i64 = tokens.iter().sum();
    (longest > 0).then(|| total as f64 / (tokens.len() as f64 * longest as f64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Two agents, and the counters that the metrics above need.
    fn row() -> Row {
        let run = json!({
            "schema": 1, "order": 1, "attempt": 0, "block": 1, "warmup": false,
            "family": "runtimes", "variant": "v", "cell": { "arrangement": "concurrent" },
            "status": "ok", "verified": true, "binary_sha256": "", "start_ns": 0,
            "process_ns": 2_000, "noise": {},
            "counters": {
                "wall_ns": 1_000, "cpu_streaming_ns": 50, "threads": 2,
                "voluntary_switches": 3, "involuntary_switches": 4,
                "queue_depth_sum": 6, "queue_depth_samples": 4, "rss_high_water_bytes": 4_096,
            },
        });
        let run = serde_json::from_value(run).expect("a run");
        Row { run, samples: samples::tests::samples() }
    }

    #[test]
    fn the_table_has_every_metric_and_no_other() {
        let row = row();
        let computed: Vec<&str> = values(&row, Some(&row), Some(30.0)).into_keys().collect();
        for name in &computed {
            assert!(
                METRICS.iter().any(|metric| metric.name == *name),
                "{name} is not in the table"
            );
        }
        for metric in METRICS.iter().filter(|metric| !computed.contains(&metric.name)) {
            assert!(metric.says.starts_with("Counter"), "{} is never computed", metric.name);
        }
    }

    #[test]
    fn lengths_and_switches_are_counted_over_both_agents() {
        let row = row();
        let values = values(&row, Some(&row), Some(30.0));
        // 3 and 2 tokens: the mean is 2.5, the most is 3.
        assert!((values["token_balance_share"] - 2.5 / 3.0).abs() < 1e-12);
        assert_eq!((values["context_switches"], values["cpu_per_token_ns"]), (7.0, 10.0));
        // Both agents take 1000 and 500 ns, together and alone.
        assert_eq!(values["late_first_token_share"], 0.0);
        // 3 tokens in 1000 ns and 2 in 500.
        assert!((values["tokens_per_s_agents_apart"] - 1e6).abs() < 1e-6, "{values:?}");
        assert_eq!(values["ttft_agents_apart_ns"], 50.0);
        assert_eq!((values["efficiency_true"], values["speed_up_true"]), (0.75, 1.5));
        // Tokens come for 640 ns, to two threads.
        assert_eq!(values["threads_busy_share"], 50.0 / 1_280.0);
        assert_eq!((values["migrations"], values["queue_depth_mean"]), (4.0, 1.5));
        assert_eq!(values["prompt_tokens"], 25.0);
        assert_eq!((values["switches_per_token"], values["rss_per_stream_bytes"]), (1.4, 2_048.0));
    }

    #[test]
    fn tokens_beyond_the_limit_are_no_goodput() {
        let row = row();
        // Lags of 10, 20, 30, 40 and 50 ns, in a wall time of 1000.
        let values = |limit_ns| values(&row, None, limit_ns);
        let told = values(Some(30.0));
        assert!((told["late_token_share"] - 0.4).abs() < 1e-12);
        assert!((told["goodput_tokens_per_s"] - 3e6).abs() < 1e-3);
        assert!(!values(None).contains_key("goodput_tokens_per_s"));
        let of = |toml: &str| goodput_lag_ns(&toml.parse().expect("a section"));
        assert_eq!(of("goodput_lag_ms = 5"), Some(5e6));
        assert_eq!((of("goodput_lag_ms = 0.5"), of("")), (Some(5e5), None));
    }
}
