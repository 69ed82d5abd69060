//! What was published about versions and settings of Tokio, and whether our rounds show it.

use std::fmt;

use anyhow::{Context, Result};
use lab_compare::Estimate;

use super::{Record, recording::estimate};

const WALL: &str = "wall time";
const CPU: &str = "CPU time";
const SWITCHES: &str = "context switches";

/// The probability that one of all answers here is wrong.
const ALPHA: f64 = 0.01;

/// A statement of somebody's, and which of our programs it is about.
pub(super) struct Claim {
    pub(super) statement: &'static str,
    /// Where it stands, as GitHub abbreviates it.
    pub(super) source: &'static str,
    pub(super) said: Said,
    pub(super) metric: &'static str,
    pub(super) workload: &'static str,
    pub(super) candidate: &'static str,
    pub(super) reference: &'static str,
    /// The processors or threads that it was seen with; 0 where that is not said.
    pub(super) processors: u32,
}

/// What a metric of the candidate is said to be, in per cent of the reference's.
pub(super) enum Said {
    /// So much more. Throughput is turned round: 29 % less is 41 % more time.
    More(f64),
    /// The same, up to so much.
    Same(f64),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::More(percent) => write!(f, "{percent:+} %"),
            Self::Same(percent) => write!(f, "±{percent} %"),
        }
    }
}

pub(super) const CLAIMS: [Claim; 15] = [
    Claim {
        statement: "1.51.0 forwards 29 % fewer messages",
        source: "agntcy/slim#1603",
        said: Said::More(41.0),
        metric: WALL,
        workload: "messages",
        candidate: "1.51.0",
        reference: "1.50.0",
        // By DataDog/saluki#1417 it shows best from four on.
        processors: 4,
    },
    Claim {
        statement: "1.51.0 serves 23 % less",
        source: "DataDog/saluki#1417",
        said: Said::More(30.0),
        metric: WALL,
        workload: "chain",
        candidate: "1.51.0",
        reference: "1.50.0",
        processors: 4,
    },
    Claim {
        statement: "1.51.0 doubles switches",
        source: "tokio-rs/tokio#8065",
        said: Said::More(100.0),
        metric: SWITCHES,
        workload: "handlers",
        candidate: "1.51.0",
        reference: "1.50.0",
        processors: 16,
    },
    Claim {
        statement: "1.52.1 takes more CPU",
        source: "tokio-rs/tokio#8065",
        said: Said::More(8.5),
        metric: CPU,
        workload: "handlers",
        candidate: "1.52.1",
        reference: "1.50.0",
        processors: 4,
    },
    Claim {
        statement: "No LIFO slot: as much",
        source: "tokio-rs/tokio#8065",
        said: Said::Same(8.5),
        metric: CPU,
        workload: "handlers",
        candidate: "1.52.1, no LIFO slot",
        reference: "1.52.1, unstable",
        processors: 4,
    },
    Claim {
        statement: "1.52.2 is as 1.50.0 again",
        source: "tokio-rs/tokio#8100",
        said: Said::Same(5.0),
        metric: WALL,
        workload: "chain",
        candidate: "1.52.2",
        reference: "1.50.0",
        processors: 0,
    },
    Claim {
        statement: "1.51.0 frees who is woken",
        source: "tokio-rs/tokio#7431",
        said: Said::More(-50.0),
        metric: WALL,
        workload: "beside",
        candidate: "1.51.0",
        reference: "1.50.0",
        processors: 0,
    },
    Claim {
        statement: "1.52.2 does not",
        source: "tokio-rs/tokio#4941",
        said: Said::Same(5.0),
        metric: WALL,
        workload: "beside",
        candidate: "1.52.2",
        reference: "1.50.0",
        processors: 0,
    },
    Claim {
        statement: "No LIFO slot: free",
        source: "tokio-rs/tokio#4941",
        said: Said::More(-50.0),
        metric: WALL,
        workload: "beside",
        candidate: "1.54.1, no LIFO slot",
        reference: "1.54.1, unstable",
        processors: 0,
    },
    Claim {
        statement: "Stealing, unreleased again, helps",
        source: "tokio-rs/tokio#8120",
        said: Said::More(-17.0),
        metric: WALL,
        workload: "spawn",
        candidate: "1.51.0",
        reference: "1.50.0",
        processors: 24,
    },
    Claim {
        statement: "Alternative timer: 33 % more served",
        source: "scylladb/latte#152",
        said: Said::More(-25.0),
        metric: WALL,
        workload: "timers",
        candidate: "1.54.1, alternative timer",
        reference: "1.54.1, unstable",
        processors: 60,
    },
    Claim {
        statement: "io_uring reads 64 KiB",
        source: "tokio-rs/tokio#8063",
        said: Said::More(147.0),
        metric: WALL,
        workload: "read-64k",
        candidate: "1.54.1, io_uring",
        reference: "1.54.1, unstable",
        processors: 16,
    },
    Claim {
        statement: "io_uring reads 1 MiB",
        source: "tokio-rs/tokio#8063",
        said: Said::More(43.0),
        metric: WALL,
        workload: "read-1024k",
        candidate: "1.54.1, io_uring",
        reference: "1.54.1, unstable",
        processors: 16,
    },
    Claim {
        statement: "io_uring reads 16 MiB",
        source: "tokio-rs/tokio#8063",
        said: Said::More(-23.0),
        metric: WALL,
        workload: "read-16384k",
        candidate: "1.54.1, io_uring",
        reference: "1.54.1, unstable",
        processors: 16,
    },
    Claim {
        statement: "io_uring on one thread",
        source: "tokio-rs/tokio#8063",
        said: Said::More(-30.0),
        metric: WALL,
        workload: "read-64k-current-thread",
        candidate: "1.54.1, io_uring",
        reference: "1.54.1, unstable",
        processors: 0,
    },
];

/// What our rounds say of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The interval lies where more than half of what is said is.
    Reproduced,
    /// It lies where less than half is.
    Refuted,
    /// Neither.
    CannotTell,
    /// It would be refuted, and was seen with this many processors, which are more than ours.
    Needs(u32),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reproduced => write!(f, "reproduced"),
            Self::Refuted => write!(f, "refuted"),
            Self::CannotTell => write!(f, "cannot tell"),
            Self::Needs(processors) => write!(f, "needs {processors} processors"),
        }
    }
}

/// A statement and what is said of it here.
pub(super) struct Judged {
    pub(super) claim: &'static Claim,
    pub(super) estimate: Option<Estimate>,
    pub(super) answer: Answer,
}

impl Claim {
    pub(super) fn judge(&'static self, record: &Record) -> Result<Judged> {
        let recording = record.of(self.workload);
        let states =
            recording.against(self.reference, &[self.candidate], ALPHA / CLAIMS.len() as f64);
        let states = states.context(self.statement)?;
        let estimate = estimate(&states[0], self.metric).cloned();
        let interval = estimate.as_ref().and_then(|known| known.interval);
        let answer = interval
            .map_or(Answer::CannotTell, |interval| self.answer(interval, record.processors));
        Ok(Judged { claim: self, estimate, answer })
    }

    /// `interval` is of logarithms of candidate / reference.
    fn answer(&self, interval: [f64; 2], processors: u32) -> Answer {
        let (is_shown, is_not) = match self.said {
            Said::More(percent) => {
                let half = (percent / 100.0).ln_1p() / 2.0;
                let ends = interval.map(|end| end * half.signum());
                let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
                (low >= half.abs(), high < half.abs())
            }
            Said::Same(percent) => {
                let (margin, [low, high]) = ((percent / 100.0).ln_1p(), interval);
                (-margin <= low && high <= margin, high < -margin || margin < low)
            }
        };
        match (is_shown, is_not) {
            (true, _) => Answer::Reproduced,
            (_, true) if processors < self.processors => Answer::Needs(self.processors),
            (_, true) => Answer::Refuted,
            _ => Answer::CannotTell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, CLAIMS, Claim, Said};

    fn answer(said: Said, processors: u32, [low, high]: [f64; 2]) -> Answer {
        let [claim, ..] = CLAIMS;
        let claim = Claim { said, processors, ..claim };
        claim.answer([low, high].map(|percent: f64| (percent / 100.0).ln_1p()), 2)
    }

    #[test]
    fn more_than_half_of_what_is_said_reproduces_it() {
        let more = |ends| answer(Said::More(44.0), 2, ends);
        assert_eq!(more([21.0, 50.0]), Answer::Reproduced);
        assert_eq!(more([19.0, 50.0]), Answer::CannotTell);
        assert_eq!(more([1.0, 19.0]), Answer::Refuted);
        assert_eq!(more([-50.0, -30.0]), Answer::Refuted);
        let less = |ends| answer(Said::More(-36.0), 0, ends);
        assert_eq!(less([-50.0, -21.0]), Answer::Reproduced);
        assert_eq!(less([-50.0, -19.0]), Answer::CannotTell);
        assert_eq!(less([-19.0, 90.0]), Answer::Refuted);
    }

    #[test]
    fn what_is_the_same_lies_within_what_is_said() {
        let same = |ends| answer(Said::Same(5.0), 2, ends);
        assert_eq!(same([-4.0, 4.9]), Answer::Reproduced);
        assert_eq!(same([-4.0, 5.1]), Answer::CannotTell);
        assert_eq!(same([5.1, 9.0]), Answer::Refuted);
        assert_eq!(same([-20.0, -5.0]), Answer::Refuted);
    }

    #[test]
    fn what_more_processors_showed_is_not_refuted_by_fewer() {
        assert_eq!(answer(Said::More(44.0), 3, [1.0, 19.0]), Answer::Needs(3));
        assert_eq!(answer(Said::More(44.0), 3, [21.0, 50.0]), Answer::Reproduced);
        assert_eq!(answer(Said::More(44.0), 3, [1.0, 50.0]), Answer::CannotTell);
    }
}
