//! What a published conclusion is judged by: declared contrasts by name, or the same runs.

use lab_record::Scale;
use lab_stats::verdict::Verdict;

use super::answers::published;
use super::sweep::{Cell, Sweep, with};
use crate::contrast::Contrasted;
use crate::effect::Effect;
use crate::measure::Unit;
use crate::study::word_of;
use crate::tables::show;

/// What one judgement reads.
pub(super) struct Evidence<'e, 'a> {
    pub(super) sweep: &'e Sweep<'a>,
    pub(super) contrasted: &'e [Contrasted<'a>],
}

/// Which of two levels is the faster one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Faster,
    Slower,
    Equal,
    Unknown,
}

impl Evidence<'_, '_> {
    pub(super) fn cpus(&self) -> u32 {
        self.sweep.cpus()
    }

    /// A judgement that only a machine with so many CPUs can give.
    pub(super) fn gated_by(&self, cpus: u32, verdict: &'static str) -> String {
        if self.cpus() < cpus {
            format!("not testable on {} cores", self.cpus())
        } else {
            verdict.to_owned()
        }
    }

    /// The reference's times in the published cell, one level of workers over another.
    pub(super) fn workers(&self, level: &str, against: &str) -> Option<Effect> {
        let rest = published(self.sweep)?;
        self.at(&rest, level, against)
    }

    pub(super) fn at(&self, rest: &Cell, level: &str, against: &str) -> Option<Effect> {
        let time = |level: &str| self.sweep.elapsed(self.sweep.reference(), rest, level);
        Effect::log_ratio(&time(level), &time(against))
    }

    /// The reference's published cell with another number of streams.
    pub(super) fn streams(&self, streams: &str, level: &str, against: &str) -> Option<Effect> {
        self.at(&with(&published(self.sweep)?, "streams", streams), level, against)
    }

    /// "`name`: −12 % (…, n = 12), slower", from the declared contrast, or from the same runs where
    /// the experiment declares none of that name.
    pub(super) fn say(&self, name: &str, own: Option<&Effect>) -> String {
        let declared = self.contrasted.iter().find(|one| one.contrast.name == name);
        let shift = declared.and_then(|one| Some((one, one.line.shift?)));
        match (shift, own) {
            (Some((one, shift)), _) => {
                let interval = shift.interval.map_or("no interval".to_owned(), |i| {
                    format!("{} … {}", one.show(i.low), one.show(i.high))
                });
                let verdict = one.line.verdict.as_ref().map_or("no verdict".to_owned(), word_of);
                let estimate = one.show(shift.estimate);
                let factor = match one.contrast.scale {
                    Scale::Ratio => format!(", {}", show(shift.estimate.exp(), Unit::Times)),
                    Scale::Difference => String::new(),
                };
                format!("`{name}`: {estimate}{factor} ({interval}, n = {}), {verdict}", one.line.n)
            }
            (None, Some(effect)) => format!("{name}, not declared: {}", effect.percent()),
            (None, None) => format!("{name}: not measured"),
        }
    }

    /// Where the level lies, by the declared contrast's verdict, which Holm corrected, or else by
    /// the interval.
    pub(super) fn side(&self, name: &str, own: Option<&Effect>) -> Side {
        let declared = self.contrasted.iter().find(|one| one.contrast.name == name);
        match (declared.map(|one| one.line.verdict.as_ref()), own) {
            (Some(Some(Verdict::Faster)), _) => Side::Faster,
            (Some(Some(Verdict::Slower)), _) => Side::Slower,
            (Some(Some(Verdict::Equivalent)), _) => Side::Equal,
            (Some(_), _) => Side::Unknown,
            (None, Some(effect)) if effect.surely_below(0.0) => Side::Faster,
            (None, Some(effect)) if effect.surely_above(0.0) => Side::Slower,
            (None, _) => Side::Unknown,
        }
    }
}
