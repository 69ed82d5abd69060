//! All metrics of all runs: each concurrent run beside its solo baseline of the same block.

use std::collections::BTreeMap;

use crate::efficiency::{self, LossSplit};
use crate::frame::{Row, cell_but, is_analysed, is_gated, is_solo};
use crate::measure::Measured;
use crate::metrics;

/// The metrics that are computed from samples. Every counter of a run is a metric too, by its name.
pub const METRICS: [&str; 26] = [
    "wall_ns",
    "efficiency_as_published",
    "efficiency_true",
    "speed_up_as_published",
    "speed_up_true",
    "loss_share",
    "loss_imbalance_share",
    "loss_server_contention_share",
    "loss_client_remainder_share",
    "wall_beyond_longest_agent_ns",
    "agent_overlap_share",
    "token_balance_share",
    "tokens",
    "ttft_p50_ns",
    "ttft_max_ns",
    "inter_token_p50_ns",
    "inter_token_p99_ns",
    "delivery_lag_p50_ns",
    "delivery_lag_p90_ns",
    "delivery_lag_p99_ns",
    "delivery_lag_max_ns",
    "cpu_per_token_ns",
    "context_switches",
    "tokens_per_s_stream",
    "tokens_per_s_server",
    "tokens_per_s_pooled",
];

/// Measures every run that enters the analysis and that `keep` lets through. A solo baseline that
/// `keep` refuses takes its part of the concurrent run's metrics with it.
pub(super) fn measure<'a>(rows: &[&'a Row], keep: impl Fn(&Row) -> bool) -> Vec<Measured<'a>> {
    let kept = || rows.iter().copied().filter(|row| is_analysed(&row.run) && keep(row));
    let mut baselines: BTreeMap<(String, String, u32), &Row> = BTreeMap::new();
    for row in kept().filter(|row| is_solo(&row.run)) {
        let slot = baselines.entry(partner(row)).or_insert(row);
        // Of two attempts the undisturbed one is the better baseline.
        if is_gated(&slot.run) && !is_gated(&row.run) {
            *slot = row;
        }
    }
    kept()
        .map(|row| {
            let solo = (!is_solo(&row.run)).then(|| baselines.get(&partner(row))).flatten();
            of_run(row, solo.copied())
        })
        .collect()
}

/// An agent that is alone has a server to itself, however many there are.
fn partner(row: &Row) -> (String, String, u32) {
    (row.run.variant.clone(), cell_but(&row.run, &["arrangement", "servers"]), row.run.block)
}

fn of_run<'a>(row: &'a Row, solo: Option<&Row>) -> Measured<'a> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    per_token(row, &mut put);
    per_agent(row, solo, &mut put);
    Measured::new(row, values)
}

fn per_token(row: &Row, put: &mut impl FnMut(&'static str, Option<f64>)) {
    let (run, samples) = (&row.run, &row.samples);
    let wall = metrics::wall_ns(run);
    let tokens = metrics::tokens(samples).map(|tokens| tokens as f64);
    put("tokens", tokens);
    let ttft = metrics::Distribution::of(metrics::ttft_ns(samples));
    let gaps = metrics::inter_token_ns(samples);
    let lag = metrics::delivery_lag_ns(samples);
    let at = |of: &Option<metrics::Distribution>, p| of.as_ref().map(|of| of.quantile(p) as f64);
    put("ttft_p50_ns", at(&ttft, 0.5));
    put("ttft_max_ns", ttft.as_ref().map(|ttft| ttft.max() as f64));
    put("inter_token_p50_ns", at(&gaps, 0.5));
    put("inter_token_p99_ns", at(&gaps, 0.99));
    put("delivery_lag_p50_ns", at(&lag, 0.5));
    put("delivery_lag_p90_ns", at(&lag, 0.9));
    put("delivery_lag_p99_ns", at(&lag, 0.99));
    put("delivery_lag_max_ns", lag.as_ref().map(|lag| lag.max() as f64));
    put("cpu_per_token_ns", metrics::cpu_per_token_ns(run, samples));
    put("tokens_per_s_stream", metrics::tokens_per_s_client(samples));
    put("tokens_per_s_server", metrics::tokens_per_s_server(samples));
    put("tokens_per_s_pooled", tokens.zip(wall).map(|(tokens, wall)| tokens * 1e9 / wall));
    let switches = |name: &str| run.counters.get(name).map(|&count| count as f64);
    let both = switches("voluntary_switches").zip(switches("involuntary_switches"));
    put("context_switches", both.map(|(voluntary, involuntary)| voluntary + involuntary));
}

/// What needs the agents' durations; all of it only for a run in which they were to overlap.
fn per_agent(
    row: &Row,
    solo: Option<&Row>,
    put: &mut impl FnMut(&'static str, Option<f64>),
) -> Option<()> {
    let samples = &row.samples;
    let wall = metrics::wall_ns(&row.run)?;
    put("wall_ns", Some(wall));
    if is_solo(&row.run) {
        return None;
    }
    let concurrent = metrics::agent_durations_ns(samples)?;
    let agents = concurrent.len() as f64;
    let published = efficiency::as_published(&concurrent, wall as i64);
    put("efficiency_as_published", published);
    put("speed_up_as_published", published.map(|share| share * agents));
    put("agent_overlap_share", metrics::overlap(samples));
    let longest = concurrent.iter().max().map(|&ns| ns as f64);
    put("wall_beyond_longest_agent_ns", longest.map(|longest| wall - longest));
    let tokens = metrics::tokens_per_agent(samples);
    put("token_balance_share", tokens.as_deref().and_then(balance));

    let alone = metrics::agent_durations_ns(&solo?.samples)?;
    let against_solo = efficiency::against_solo(&alone, wall as i64);
    put("efficiency_true", against_solo);
    put("speed_up_true", against_solo.map(|share| share * agents));
    let server = metrics::server_durations_ns(samples)?;
    let server_alone = metrics::server_durations_ns(&solo?.samples)?;
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

/// Mean over maximum: the form that the published efficiency has in durations, in tokens.
fn balance(tokens: &[i64]) -> Option<f64> {
    let longest = *tokens.iter().max()?;
    let total: i64 = tokens.iter().sum();
    (longest > 0).then(|| total as f64 / (tokens.len() as f64 * longest as f64))
}
