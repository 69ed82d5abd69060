//! The server's own pacing error, measured over sockets, beside what the machine's timer does.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use nix::sys::time::TimeSpec;
use nix::sys::timer::{Expiration, TimerSetTimeFlags};
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};

use crate::args::bind;
use crate::clock::now_ns;
use crate::server::Server;
use crate::spec::{LogNormalMs, Mode, ServerSpec};

/// What the median over the runs of the 99th percentile is held against.
const TARGET_P99_NS: i64 = 200_000;
const RUN_SECONDS: f64 = 3.0;
const TIMER_WAKES: usize = 300;
const TIMER_STEP_NS: u64 = 1_000_000;
const MODEL: &str = "measured";
/// There may be thousands of clients.
const CLIENT_STACK_BYTES: usize = 128 * 1024;

/// What the server is asked to pace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Concurrent streams.
    pub streams: u32,
    /// Tokens per second of each.
    pub rate_tokens_per_s: f64,
}

/// One run's percentiles, and those of the timer just before it, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measurement {
    /// Tokens that were sent.
    pub tokens: usize,
    /// Median of stamp minus due time.
    pub pacing_p50_ns: i64,
    /// 99th percentile of it.
    pub pacing_p99_ns: i64,
    /// The worst of it.
    pub pacing_max_ns: i64,
    /// Median lateness of 300 wake-ups of an absolute timer, 1 ms apart.
    pub timer_p50_ns: i64,
    /// 99th percentile of it.
    pub timer_p99_ns: i64,
}

/// Measures once: a server in this process, plain clients that read and discard.
///
/// # Errors
/// When a socket or timer fails, or a client does not get its whole reply.
pub fn measure(load: Load) -> anyhow::Result<Measurement> {
    let mut timer = timer_overshoot_ns()?;
    let server = Server::start(bind(Ipv4Addr::LOCALHOST.into(), &[0])?)?;
    server.begin("measure", spec(load))?;
    let port = server.ports()[0];
    let tokens = (load.rate_tokens_per_s * RUN_SECONDS).ceil() as u64;
    let read = |seed| move || read_reply(port, seed, tokens);
    let client = |seed| thread::Builder::new().stack_size(CLIENT_STACK_BYTES).spawn(read(seed));
    let clients: Vec<_> = (0..load.streams).map(client).collect::<Result<_, _>>()?;
    for client in clients {
        client.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
    }
    let ledger = server.collect("measure")?;
    server.stop()?;
    let complete = ledger.calls.iter().filter(|call| call.complete).count();
    ensure!(complete == load.streams as usize, "{complete} of {} replies came whole", load.streams);
    let mut errors: Vec<i64> =
        ledger.calls.into_iter().flat_map(|call| call.pacing_error_ns).collect();
    Ok(Measurement {
        tokens: errors.len(),
        pacing_p50_ns: percentile(&mut errors, 50),
        pacing_p99_ns: percentile(&mut errors, 99),
        pacing_max_ns: percentile(&mut errors, 100),
        timer_p50_ns: percentile(&mut timer, 50),
        timer_p99_ns: percentile(&mut timer, 99),
    })
}

/// Measures `runs` times and prints each, then the median against the target.
pub(crate) fn print(runs: u32, load: Load, out: &mut impl Write) -> anyhow::Result<()> {
    ensure!(runs > 0 && load.streams > 0, "--measure and --streams must be 1 or more");
    let Load { streams, rate_tokens_per_s } = load;
    writeln!(out, "{streams} streams of {rate_tokens_per_s} tokens/s, all times in µs")?;
    writeln!(out, "run  tokens  pacing p50     p99      max  timer p50     p99")?;
    let mut p99s = Vec::new();
    for run in 1..=runs {
        let m = measure(load)?;
        p99s.push(m.pacing_p99_ns);
        let [p50, p99, max, timer_p50, timer_p99] =
            [m.pacing_p50_ns, m.pacing_p99_ns, m.pacing_max_ns, m.timer_p50_ns, m.timer_p99_ns]
                .map(microseconds);
        writeln!(
            out,
            "{run:>3}  {:>6}  {p50:>10.1}  {p99:>6.1}  {max:>7.1}  \
             {timer_p50:>9.1}  {timer_p99:>6.1}",
            m.tokens
        )?;
    }
    let median_ns = median(&mut p99s);
    let met = if median_ns <= TARGET_P99_NS { "met" } else { "missed" };
    writeln!(
        out,
        "median p99 of {runs} runs: measured {:.1}, target {:.1}: {met}",
        microseconds(median_ns),
        microseconds(TARGET_P99_NS)
    )?;
    Ok(())
}

fn spec(load: Load) -> ServerSpec {
    ServerSpec {
        mode: Mode::Free,
        model: MODEL.into(),
        ttft_ms: LogNormalMs { median: 50.0, sigma_log: 0.0 },
        rate_tokens_per_s: vec![load.rate_tokens_per_s],
        // Without jitter the streams would keep one phase for the whole run.
        itl_sigma_log: 0.2,
        time_scale: 1.0,
        default_seed: Some(0),
        thinking_tokens: 0,
        tool_call: false,
        tokens_per_chunk: 1,
        trace: Vec::new(),
        faults: Vec::new(),
    }
}

fn read_reply(port: u16, seed: u32, tokens: u64) -> anyhow::Result<()> {
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    socket.set_read_timeout(Some(Duration::from_secs(60)))?;
    let body = serde_json::json!({
        "model": MODEL, "prompt": "measure", "options": {"seed": seed, "num_predict": tokens},
    })
    .to_string();
    write!(
        socket,
        "POST /api/generate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut bytes = [0; 4 * 1024];
    while socket.read(&mut bytes).context("a reply stalled")? > 0 {}
    Ok(())
}

/// How late an idle thread wakes up by the same kind of timer that paces the tokens.
fn timer_overshoot_ns() -> anyhow::Result<Vec<i64>> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
    (0..TIMER_WAKES)
        .map(|_| {
            let wake_ns = now_ns() + TIMER_STEP_NS;
            let wake = TimeSpec::from_duration(Duration::from_nanos(wake_ns));
            timer.set(Expiration::OneShot(wake), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            timer.wait()?;
            Ok(now_ns() as i64 - wake_ns as i64)
        })
        .collect()
}

/// The smallest sample that at least `percent` of the samples do not exceed (nearest rank).
fn percentile(samples: &mut [i64], percent: usize) -> i64 {
    samples.sort_unstable();
    let rank = (samples.len() * percent).div_ceil(100).max(1);
    samples.get(rank - 1).copied().unwrap_or(0)
}

/// The middle sample, or the mean of the middle pair: of few runs the lower one would flatter.
fn median(samples: &mut [i64]) -> i64 {
    samples.sort_unstable();
    let middle = samples.len() / 2;
    match samples.len() % 2 {
        0 => (samples[middle - 1] + samples[middle]) / 2,
        _ => samples[middle],
    }
}

fn microseconds(ns: i64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_nearest_rank() {
        let mut samples: Vec<i64> = (1..=200).rev().collect();
        assert_eq!([50, 99, 100].map(|p| percentile(&mut samples, p)), [100, 198, 200]);
        assert_eq!(percentile(&mut [7], 1), 7);
        assert_eq!((median(&mut [9, 1, 5]), median(&mut [9, 1, 5, 7])), (5, 6));
    }
}
