//! A recorded run of LLM clients, in the order of time.

use std::collections::BTreeMap;

use lab_family::InputError;
use lab_protocol::runtimes::names;
use lab_record::{RecordError, Results, Run, Samples, Status};

use crate::seen::{Call, Ending, Moment, Round, Seen};

/// Why a record cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// It holds something else.
    #[error(transparent)]
    Input(#[from] InputError),
    /// It cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// What a client says of a server that sent nothing for too long (`runtimes/kit/src/error.rs`).
const STALLED: &str = "stalled";
/// The factor whose level `solo` has agents run one after the other, and the one that says how many
/// servers there are: an agent that is alone has one to itself.
const ARRANGEMENT: (&str, &str) = ("arrangement", "solo");
const SERVERS: &str = "servers";
/// A run that only measured how long a program takes to start has this factor.
const PROBE: &str = "probe";
/// The paced server's time, in parts per million of real time. A real server does not say.
const TIME_SCALE_PPM: &str = "server_time_scale_ppm";

/// What was seen in each run at its end, by variant. Times of a paced server that ran faster than
/// real time are those of its own clock.
///
/// # Errors
/// Where the record is of something that calls no servers, or cannot be read.
pub fn recorded(results: &Results) -> Result<Vec<Moment>, WatchError> {
    let mut runs = Vec::new();
    for run in results.runs.iter().filter(|run| is_watched(run)) {
        runs.push((run, of_run(run, &results.samples(run)?)));
    }
    if !runs.iter().any(|(_, of_run)| of_run.is_some()) {
        let message = "no run holds calls to servers; name a record of LLM clients".to_owned();
        let file = results.run_file.experiment.clone();
        return Err(InputError::Text { file, message }.into());
    }
    let alone = alone_s(&runs);
    let mut clock = Clock::default();
    let moments = runs.iter().map(|(run, of_run)| {
        let at_ns = clock.at(run);
        let seen = match of_run {
            Some(of_run) => of_run.seen(run, alone.get(&partner(run))),
            None => vec![Seen::Call(failed(run))],
        };
        Moment { at_ns, seen: seen.into_iter().map(|seen| (run.variant.clone(), seen)).collect() }
    });
    Ok(moments.collect())
}

/// The end of each run since the start of the first. The lines of a record stand in the order of
/// time; the kernel's clock begins anew when a machine does, between two sessions of one record.
#[derive(Default)]
struct Clock {
    began_ns: Option<u64>,
    added_ns: u64,
    last_ns: u64,
}

impl Clock {
    fn at(&mut self, run: &Run) -> u64 {
        let began = *self.began_ns.get_or_insert(run.start_ns);
        let end = run.start_ns + run.process_ns + self.added_ns;
        let at = end.saturating_sub(began).max(self.last_ns);
        self.added_ns += (began + at).saturating_sub(end);
        self.last_ns = at;
        at
    }
}

fn is_watched(run: &Run) -> bool {
    !run.warmup && run.status != Status::Unsupported && !run.cell.contains_key(PROBE)
}

fn is_alone(run: &Run) -> bool {
    run.cell.get(ARRANGEMENT.0).is_some_and(|level| level == ARRANGEMENT.1)
}

fn failed(run: &Run) -> Call {
    let reason = run.reason.clone().unwrap_or_default();
    let outcome = match reason.contains(STALLED) {
        true => Ending::TimedOut,
        false => Ending::Failed,
    };
    Call::failed(outcome, reason)
}

/// What the samples of a run say.
struct OfRun {
    calls: Vec<Call>,
    agents_s: Vec<f64>,
    wall_s: f64,
}

fn of_run(run: &Run, samples: &Samples) -> Option<OfRun> {
    if run.status != Status::Ok {
        return None;
    }
    let scale = run.counters.get(TIME_SCALE_PPM).map_or(1.0, |&ppm| ppm as f64 / 1e6);
    let seconds = |ns: i64| ns as f64 / 1e9 / scale;
    let agents = pairs(samples, names::AGENT_START_NS, names::AGENT_END_NS)?;
    Some(OfRun {
        calls: calls(samples, &seconds)?,
        agents_s: agents.map(|(start, end)| seconds(end - start)).collect(),
        wall_s: seconds(i64::try_from(*run.counters.get(names::WALL_NS)?).ok()?),
    })
}

fn calls(samples: &Samples, seconds: &impl Fn(i64) -> f64) -> Option<Vec<Call>> {
    let to_first = pairs(samples, names::CALL_START_NS, names::CALL_FIRST_TOKEN_NS)?;
    let streaming = pairs(samples, names::CALL_FIRST_TOKEN_NS, names::CALL_LAST_TOKEN_NS)?;
    let tokens = samples.raw(names::CALL_TOKENS)?;
    // Of runs in scaled time a committed report keeps no single token.
    let mut received = samples.raw(names::TOKEN_RECEIVED_NS).unwrap_or_default();
    let mut calls = Vec::new();
    for (((start, first), (_, last)), &tokens) in to_first.zip(streaming).zip(tokens) {
        let tokens = usize::try_from(tokens).ok()?;
        let (own, rest) = received.split_at_checked(tokens).unwrap_or_default();
        received = rest;
        calls.push(Call {
            outcome: Ending::Answered,
            reason: None,
            first_token_s: Some(seconds(first - start)),
            // A record does not tell thoughts from answers.
            first_answer_s: None,
            thought: false,
            streaming_s: seconds(last - first),
            tokens: tokens as u64,
            prompt_tokens: None,
            cached_tokens: None,
            gaps_s: own.windows(2).map(|pair| seconds(pair[1] - pair[0])).collect(),
        });
    }
    Some(calls)
}

/// Two columns of equal length, row by row.
fn pairs<'a>(
    samples: &'a Samples,
    earlier: &str,
    later: &str,
) -> Option<impl Iterator<Item = (i64, i64)> + 'a> {
    let (earlier, later) = (samples.raw(earlier)?, samples.raw(later)?);
    let aligned = earlier.len() == later.len() && !earlier.is_empty();
    aligned.then(|| earlier.iter().copied().zip(later.iter().copied()))
}

/// Variant, cell and block: what a run has in common with the one in which its agents are alone.
type Partner = (String, BTreeMap<String, String>, u32);

fn partner(run: &Run) -> Partner {
    let mut cell = run.cell.clone();
    cell.remove(ARRANGEMENT.0);
    cell.remove(SERVERS);
    (run.variant.clone(), cell, run.block)
}

/// How long agents take alone. Of two attempts the undisturbed one counts.
fn alone_s(runs: &[(&Run, Option<OfRun>)]) -> BTreeMap<Partner, Vec<f64>> {
    let mut alone: BTreeMap<Partner, (bool, Vec<f64>)> = BTreeMap::new();
    for (run, of_run) in runs.iter().filter(|(run, _)| is_alone(run)) {
        let Some(of_run) = of_run else { continue };
        let found = (run.gated.is_empty(), of_run.agents_s.clone());
        let slot = alone.entry(partner(run)).or_insert_with(|| found.clone());
        if !slot.0 && found.0 {
            *slot = found;
        }
    }
    alone.into_iter().map(|(partner, (_, agents_s))| (partner, agents_s)).collect()
}

impl OfRun {
    /// Agents that run alone on purpose are no round.
    fn seen(&self, run: &Run, alone_s: Option<&Vec<f64>>) -> Vec<Seen> {
        let mut seen: Vec<Seen> = self.calls.iter().cloned().map(Seen::Call).collect();
        if !is_alone(run) {
            seen.push(Seen::Round(Round {
                together_s: self.agents_s.clone(),
                alone_s: alone_s.cloned(),
                wall_s: self.wall_s,
                late: self.calls.iter().any(Call::is_late),
            }));
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::LATE_S;

    fn run(order: u64, arrangement: &str, scale_ppm: u64) -> Run {
        let run = json!({
            "schema": 2, "order": order, "attempt": 0, "block": 1, "warmup": false,
            "family": "f", "variant": "v", "cell": { "arrangement": arrangement, "servers": "2" },
            "status": "ok", "verification": "verified", "binary_sha256": "",
            "start_ns": 100 * order, "process_ns": 50, "noise": {},
            "counters": { "wall_ns": 4_000_000_000_u64, "server_time_scale_ppm": scale_ppm },
        });
        serde_json::from_value(run).expect("a run")
    }

    /// Two agents, of 4 s and 2 s, with a call each.
    fn samples() -> Samples {
        let columns: [(&str, &[i64]); 7] = [
            ("agent_start_ns", &[0, 0]),
            ("agent_end_ns", &[4_000_000_000, 2_000_000_000]),
            ("call_start_ns", &[0, 0]),
            ("call_first_token_ns", &[3_500_000_000, 1_000_000_000]),
            ("call_last_token_ns", &[3_700_000_000, 2_000_000_000]),
            ("call_tokens", &[3, 2]),
            (
                "token_received_ns",
                &[3_500_000_000, 3_600_000_000, 3_700_000_000, 1_000_000_000, 2_000_000_000],
            ),
        ];
        Samples::from_raw(
            columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())).collect(),
        )
    }

    #[test]
    fn a_run_is_its_calls_and_a_round_against_the_same_agents_alone() {
        let (together, solo) = (run(1, "concurrent", 1_000_000), run(2, "solo", 1_000_000));
        let runs = [(&together, of_run(&together, &samples())), (&solo, of_run(&solo, &samples()))];
        let alone = alone_s(&runs);
        let seen = runs[0].1.as_ref().unwrap().seen(&together, alone.get(&partner(&together)));
        let Seen::Round(round) = &seen[2] else { panic!("{seen:?}") };
        assert_eq!(round.efficiency_true(), Some(6.0 / 8.0));
        assert!(round.late, "3.5 s");
        let Seen::Call(call) = &seen[0] else { panic!("{seen:?}") };
        assert_eq!((call.tokens, call.gaps_s.len()), (3, 2));
        assert!((call.tokens_per_s().unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(runs[1].1.as_ref().unwrap().seen(&solo, None).len(), 2, "no round");
    }

    #[test]
    fn scaled_times_are_the_servers_own() {
        let run = run(1, "concurrent", 100_000);
        let of_run = of_run(&run, &samples()).unwrap();
        assert_eq!(of_run.calls[1].first_token_s, Some(10.0));
        assert_eq!(of_run.wall_s, 40.0);
        assert!(LATE_S < 10.0 && of_run.calls[1].is_late());
    }

    #[test]
    fn time_goes_on_where_a_machine_was_started_anew() {
        let mut clock = Clock::default();
        let at =
            |clock: &mut Clock, start_ns| clock.at(&Run { start_ns, ..run(0, "solo", 1_000_000) });
        // The process takes 50 ns each time.
        assert_eq!([1_000, 2_000].map(|start| at(&mut clock, start)), [50, 1_050]);
        assert_eq!([10, 110].map(|start| at(&mut clock, start)), [1_050, 1_150]);
    }

    #[test]
    fn a_failed_run_is_a_failed_call() {
        let reason = |text: &str| Some(text.to_owned());
        let stalled = "agent 1, call 0: stalled: the server sent nothing";
        let run = Run { reason: reason(stalled), ..run(1, "solo", 1_000_000) };
        assert_eq!(failed(&run).outcome, Ending::TimedOut);
        let run = Run { reason: reason("connection refused"), ..run };
        assert_eq!(failed(&run).outcome, Ending::Failed);
    }
}
