//! A timer's ticks beside a load, on the workers that the load runs on.

use std::sync::Arc;

use lab_protocol::schedulers::names;
use lab_protocol::schedulers::{Load, Wake, Workload};

use crate::clock::{now_ns, sleep_until};
use crate::load::{Job, Jobs, Size, Times};
use crate::measure::{Decisions, Measured};
use crate::ticks::Ticks;
use crate::work::Work;
use crate::{Arm, Bench, Policy, RunError, Setup};

/// How long the policy learns from the same load before ticks and jobs count.
const WARM_UP_NS: u64 = 200_000_000;
/// Until the timer is registered and the load's thread sleeps.
const LEAD_NS: u64 = 5_000_000;

pub(crate) fn run<P: Policy>(workload: &Workload, wake: &Wake) -> Result<Measured, RunError> {
    let (work, work_ns) = Work::calibrate(work_ns(wake.load));
    let sizes = sizes(wake.load, Size { work, expected_ns: work_ns });
    let bench = Bench::new(workload)?;
    let setup = Setup { workload, offload_round_trip_ns: Some(bench.round_trip_ns()) };
    let policy = Arc::new(P::new(&setup)?);
    let jobs = Jobs { policy: Arc::clone(&policy), sizes };

    let from_ns = now_ns() + LEAD_NS;
    let counts_from_ns = from_ns + WARM_UP_NS;
    let until_ns = counts_from_ns + wake.duration_ms * 1_000_000;
    let ticks = (wake.duration_ms * 1_000 / wake.tick_us) as usize;
    let every_ns = wake.tick_us * 1_000;
    let probe = bench
        .handle()
        .spawn(async move { Ticks::new(counts_from_ns, every_ns)?.latencies(ticks).await });
    bench.machine().load_starts();
    let done = load(&jobs, &bench, Times { from_ns, until_ns }, wake.load)?;
    let latencies = bench.wait(probe).map_err(RunError::setup)?;

    let mut measured = Measured::default();
    measured.count(names::ELAPSED_NS, now_ns() - counts_from_ns);
    measured.count(names::TICKS_INTENDED, ticks as u64);
    measured.count(names::OFFLOAD_ROUND_TRIP_NS, bench.round_trip_ns());
    if wake.load != Load::Idle {
        measured.count(names::WORK_MEASURED_NS, work_ns);
    }
    measured.count_decisions(done.iter().map(|job| job.arm).collect::<Decisions>());
    measured.count_policy(&*policy);
    for (name, value) in bench.machine().pressure().counters() {
        measured.count(name, value);
    }
    measured.column(names::TICK_LATENCY_NS, latencies);
    let counted = done.into_iter().filter(|job| job.start_ns >= counts_from_ns).collect();
    write_jobs(&mut measured, counted);
    Ok(measured)
}

/// Of a job, or of a burst's mean one.
fn work_ns(load: Load) -> u64 {
    match load {
        Load::Idle => 0,
        Load::Open { work_ns, .. } | Load::Closed { work_ns, .. } => work_ns,
        Load::Bursts { low_ns, high_ns, .. } => u64::midpoint(low_ns, high_ns),
    }
}

/// Of the jobs that start together, out of that of the mean one.
fn sizes(load: Load, mean: Size) -> Vec<Size> {
    let Load::Bursts { low_ns, high_ns, jobs, .. } = load else { return vec![mean] };
    let mean_ns = work_ns(load);
    let size = |job: u64| {
        // In steps of five, so that the longest do not come together.
        let rank = job * 5 % u64::from(jobs);
        let ns = low_ns + (high_ns - low_ns) * rank / u64::from(jobs - 1);
        let expected_ns = mean.expected_ns * ns / mean_ns;
        Size { work: mean.work.scaled(ns, mean_ns), expected_ns }
    };
    (0..u64::from(jobs)).map(size).collect()
}

fn load<P: Policy>(
    jobs: &Jobs<P>,
    bench: &Bench,
    times: Times,
    load: Load,
) -> Result<Vec<Job>, RunError> {
    match load {
        Load::Idle => {
            sleep_until(times.until_ns);
            Ok(Vec::new())
        }
        Load::Open { every_us, .. } | Load::Bursts { every_us, .. } => {
            jobs.open(bench, times, every_us * 1_000)
        }
        Load::Closed { in_flight, .. } => Ok(jobs.closed(bench, times, in_flight)),
    }
}

fn write_jobs(measured: &mut Measured, jobs: Vec<Job>) {
    let inline = jobs.iter().filter(|job| job.arm == Arm::Inline);
    measured.count(names::BLOCK_LONGEST_NS, inline.map(|job| job.work_ns).max().unwrap_or(0));
    measured.count(names::JOBS_STARTED, jobs.len() as u64);
    measured.column(names::JOB_LATENCY_NS, jobs.iter().map(|job| job.end_ns - job.start_ns));
    measured.column(names::JOB_WORK_NS, jobs.iter().map(|job| job.work_ns));
    measured.column(names::JOB_ARM, jobs.iter().map(|job| job.arm));
}
