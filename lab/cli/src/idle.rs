//! Whether the machine is idle enough to start a sweep.

use std::{thread, time::Duration};

use clap::Args;

/// The load above which the machine is busy. Half a CPU is taken from a sweep of one thread as from
/// one of 64.
pub(crate) const BUSY_LOAD: f64 = 0.5;
/// The kernel renews its averages this often.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How many looks pass between two sentences.
const LOOKS_A_SENTENCE: u32 = 6;

#[derive(Args, Clone)]
pub(crate) struct IdleArgs {
    /// Wait until the load is at most 0.5, but no longer than SECONDS (300 without a number)
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "300"
    )]
    wait_idle: Option<u64>,
}

/// Waits for an idle machine where that is wanted, and warns where the machine is busy.
pub(crate) fn before_start(args: &IdleArgs) {
    let limit = Duration::from_secs(args.wait_idle.unwrap_or(0));
    wait(limit, lab_driver::probe::load_1min, thread::sleep, |sentence| eprintln!("{sentence}"));
}

fn wait(
    limit: Duration,
    mut read: impl FnMut() -> Option<f64>,
    mut pause: impl FnMut(Duration),
    mut say: impl FnMut(&str),
) {
    let mut busy_load = || read().filter(|load| *load > BUSY_LOAD);
    let mut busy = busy_load();
    let mut left = limit;
    for look in 0.. {
        let Some(load) = busy.filter(|_| !left.is_zero()) else { break };
        if look % LOOKS_A_SENTENCE == 0 {
            let seconds = left.as_secs();
            say(&format!("load {load:.2}: waiting for {BUSY_LOAD} or less, {seconds} s at most"));
        }
        let time = left.min(LOOK_EVERY);
        pause(time);
        left -= time;
        busy = busy_load();
    }
    if let Some(load) = busy {
        say(&format!(
            "warning: the machine is busy (load {load:.2} over the last minute): other work \
             disturbs what is measured; stop it, or wait with --wait-idle=SECONDS"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said while the load goes through `loads`, and how many seconds it waited.
    fn said(seconds: u64, loads: &[f64]) -> (Vec<String>, u64) {
        let (mut sentences, mut waited) = (Vec::new(), Duration::ZERO);
        let mut loads = loads.iter().copied();
        let limit = Duration::from_secs(seconds);
        wait(limit, || loads.next(), |time| waited += time, |one| sentences.push(one.to_owned()));
        (sentences, waited.as_secs())
    }

    #[test]
    fn an_idle_machine_starts_at_once() {
        assert_eq!(said(0, &[0.5]), (vec![], 0));
        assert_eq!(said(60, &[0.1]), (vec![], 0));
        assert_eq!(said(60, &[]), (vec![], 0), "no load is known: there is nothing to wait for");
    }

    #[test]
    fn a_busy_machine_is_named_with_its_load_and_what_to_do() {
        let (sentences, waited) = said(0, &[8.591]);
        assert_eq!((sentences.len(), waited), (1, 0));
        assert!(sentences[0].contains("load 8.59") && sentences[0].contains("--wait-idle"));
    }

    #[test]
    fn it_waits_until_the_load_has_gone() {
        let (sentences, waited) = said(60, &[2.0, 1.0, 0.5, 7.0]);
        assert_eq!((sentences.len(), waited), (1, 10), "{sentences:?}");
        assert_eq!(sentences[0], "load 2.00: waiting for 0.5 or less, 60 s at most");
    }

    #[test]
    fn it_starts_with_the_warning_when_time_is_up() {
        let (sentences, waited) = said(61, &[1.0; 20]);
        assert_eq!(waited, 61);
        assert_eq!(sentences.len(), 4, "{sentences:?}");
        assert!(sentences[2].ends_with("1 s at most") && sentences[3].starts_with("warning"));
    }
}
