//! Which tries the proof needs.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A program of 5 ms with itself, always to the last pair, without a control.
    Same,
    /// A program of 30 ms with one that does more, until the comparison stops.
    Planted,
}

/// A try before it is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// What is tried.
    pub kind: Kind,
    /// How much more work the second program does, in thousandths.
    pub more_permille: u32,
    /// Whether another program loads the machine by turns.
    pub neighbour: bool,
    /// The number of the try, and its seed.
    pub number: usize,
    /// Pairs at most.
    pub pairs: usize,
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, more_permille, number, .. } = self;
        let beside = if self.neighbour { ", beside a neighbour" } else { "" };
        match kind {
            Kind::Same => write!(f, "A/A {number}{beside}"),
            Kind::Planted => {
                write!(f, "+{:.1} % {number}{beside}", f64::from(*more_permille) / 10.0)
            }
        }
    }
}

/// The part of the proof that one call makes.
pub struct Part {
    /// Kinds, or all.
    pub only: Vec<Kind>,
    /// More work in thousandths, or all there is.
    pub more: Vec<u32>,
    /// With a neighbour, without, or both.
    pub neighbour: Option<bool>,
    /// Fewer tries than the proof has.
    pub tries: Option<usize>,
    /// Pairs of an A/A.
    pub pairs: usize,
}

/// Kind, more work in thousandths, tries with and without a neighbour. What takes longest is last.
const PROOF: [(Kind, u32, usize); 5] = [
    (Kind::Same, 0, 150),
    (Kind::Planted, 50, 40),
    (Kind::Planted, 20, 40),
    (Kind::Planted, 10, 40),
    (Kind::Planted, 3, 40),
];
/// Pairs of a planted difference at most, whatever its seconds.
const PLANTED_PAIRS: usize = 20_000;

/// What the proof plants, in thousandths, the least first, with the tries of each.
pub fn planted() -> Vec<(u32, usize)> {
    let planted = PROOF.into_iter().filter(|(kind, ..)| *kind == Kind::Planted);
    let mut planted: Vec<_> = planted.map(|(_, more, tries)| (more, tries)).collect();
    planted.sort_unstable();
    planted
}

/// The tries of the part that have not been made, those without a neighbour first.
pub fn missing(part: &Part, done: &[super::trial::Try]) -> Vec<Planned> {
    let wanted = |kind: &Kind, more: &u32| {
        (part.only.is_empty() || part.only.contains(kind))
            && (part.more.is_empty() || part.more.contains(more))
    };
    let mut all = Vec::new();
    for neighbour in [false, true] {
        if part.neighbour.is_some_and(|only| only != neighbour) {
            continue;
        }
        let proof = PROOF.into_iter().filter(|(kind, more, _)| wanted(kind, more));
        for (kind, more_permille, tries) in proof {
            let pairs = match kind {
                Kind::Same => part.pairs,
                Kind::Planted => PLANTED_PAIRS,
            };
            let tries = part.tries.map_or(tries, |most| most.min(tries));
            all.extend((0..tries).map(|number| Planned {
                kind,
                more_permille,
                neighbour,
                number,
                pairs,
            }));
        }
    }
    all.retain(|planned| !done.iter().any(|done| done.planned == *planned));
    all
}
