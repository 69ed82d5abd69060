//! What is measured beside the time, and what is varied or held fixed for it: the options and what
//! this machine has of it.

use std::collections::BTreeMap;

use lab_console::Failure;
use serde::{Deserialize, Serialize};

use super::{metric::Metric, options::Layouts, record::Round};
use crate::{LayoutShare, log_ratio};

/// Whether the kernel puts stack, heap and libraries of the commands at random addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    /// `/proc/sys/kernel/randomize_va_space`; `None` where the kernel does not say.
    randomize_va_space: Option<u8>,
    /// Whether the commands have the personality `ADDR_NO_RANDOMIZE`.
    fixed: bool,
}

/// Sets the addresses of all commands to come as the option says, and tells what holds.
pub(crate) fn addresses(layouts: Layouts) -> Result<Addresses, Failure> {
    let refused = |error| Failure::lab(format!("personality: {error}"));
    if layouts == Layouts::Fixed {
        lab_process::fix_addresses().map_err(|error| {
            Failure::input(format!("--fixed-layout: the system refuses fixed addresses: {error}"))
        })?;
    }
    let lab_process::Addresses { randomize_va_space, fixed } =
        lab_process::addresses().map_err(refused)?;
    Ok(Addresses { randomize_va_space, fixed })
}

/// The layout of the runs, and what of the difference's variance went with it.
#[derive(Debug, Serialize)]
pub(crate) struct LayoutReport {
    pub(crate) fixed: bool,
    pub(crate) addresses: Addresses,
    /// A candidate each.
    pub(crate) shares: Vec<Option<LayoutShare>>,
}

impl LayoutReport {
    /// A line for each candidate of which there is something to tell, of several for those alone
    /// whose difference goes with the layout.
    pub(crate) fn lines(&self, names: &[&str]) -> Vec<String> {
        let shares = self.shares.iter().zip(names);
        let shares = shares.filter_map(|(share, name)| Some((share.as_ref()?, name)));
        let told = shares.filter(|(share, _)| names.len() == 1 || !share.is_chance());
        told.map(|(share, name)| line(share, name)).collect()
    }
}

fn line(share: &LayoutShare, name: &str) -> String {
    if share.is_chance() {
        return format!("{name}: layout explains no more of the variance than chance");
    }
    let largest = share.factors.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let part = largest.map_or("", |(factor, _)| factor);
    let percent = 100.0 * share.beyond_chance();
    format!("{name}: layout explains {percent:.0} % of the variance, most of it {part}")
}

/// Of the primary metric of one candidate.
pub(crate) fn layout_share(rounds: &[Round], candidate: usize) -> Option<LayoutShare> {
    let difference = |round: &Round| {
        let value = round.runs[candidate].first()?;
        Some((round.layout, log_ratio(round.runs[0][0], *value)))
    };
    LayoutShare::of(&rounds.iter().filter_map(difference).collect::<Vec<_>>())
}

/// The metrics of this machine, the primary one first.
pub(crate) struct Measurable {
    pub(crate) metrics: Vec<Metric>,
    /// Why the others are not there, by their names.
    pub(crate) absent: BTreeMap<&'static str, String>,
}

impl Measurable {
    pub(crate) fn new(primary: Metric, duet: bool) -> Result<Self, Failure> {
        let no_counters = lab_process::no_counters();
        let no_transfers = lab_process::transfers(std::process::id()).is_none();
        let why_not = |metric: Metric| match metric {
            Metric::Instructions | Metric::Cycles if duet => {
                Some("the commands of a duet would be counted together".to_owned())
            }
            Metric::Instructions | Metric::Cycles => {
                let error = no_counters.as_ref()?;
                Some(format!("the kernel has no counters here ({error})"))
            }
            Metric::Read | Metric::Written if no_transfers => {
                Some("the kernel has no /proc/PID/io here".to_owned())
            }
            _ => None,
        };
        if let Some(why) = why_not(primary) {
            return Err(Failure::input(format!("--metric: {}: {why}", primary.label())));
        }
        let others = Metric::ALL.into_iter().filter(|other| *other != primary);
        let (metrics, absent): (Vec<_>, Vec<_>) =
            [primary].into_iter().chain(others).partition(|metric| why_not(*metric).is_none());
        let absent =
            absent.into_iter().filter_map(|metric| Some((metric.label(), why_not(metric)?)));
        Ok(Self { metrics, absent: absent.collect() })
    }

    pub(crate) fn labels(&self) -> Vec<&'static str> {
        self.metrics.iter().map(|metric| metric.label()).collect()
    }

    /// Keeps the metrics of a file that is gone on with, in its order.
    pub(crate) fn keep(&mut self, labels: &[String]) -> Result<(), String> {
        let kept = labels.iter().map(|label| {
            let found = self.metrics.iter().copied().find(|metric| metric.label() == label);
            found.ok_or_else(|| format!("has the metric {label}, which cannot be measured here"))
        });
        self.metrics = kept.collect::<Result<_, _>>()?;
        Ok(())
    }
}
