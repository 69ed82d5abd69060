//! Which of some commands is faster, by how much, and how sure one may be: `lab compare`.
//!
//! Two rooms. [`run`] is the engine: it starts the commands, keeps the rounds and prints. All the
//! rest is pure, needs no clock and no process, and knows nothing of [`run`]: lab/tidy holds that.
//!
//! [`Schedule`] draws the order of each round, [`Comparison`] takes the measurements of a finished
//! round and says after each whether to go on, and [`Comparison::state`] says what is known. One
//! may look at it at any time and stop at any look: `lab_stats::sequence` is what allows that.
//! [`bisect`] searches for the commit that changed the time with comparisons of the same kind.

#![forbid(unsafe_code)]

mod after_itself;
pub mod bisect;
mod blocks;
mod builds;
mod comparison;
mod endings;
mod layout;
mod outlook;
mod picture;
pub mod run;
mod schedule;
mod settings;
mod sittings;

pub use after_itself::{Ran, after_themselves};
pub use builds::{OverBuilds, over_builds};
use comparison::POWER;
pub use comparison::{
    CandidateState, Comparison, Estimate, MetricState, Next, RoundError, State, log_ratio,
};
pub use endings::Endings;
pub use lab_stats::tail_sequence::{TailSide, TailState};
pub use lab_stats::verdict::{Missing, Size, Verdict};
pub use layout::LayoutShare;
pub use picture::{Band, Histogram, Look, Picture, PictureError, TimedRound};
pub use schedule::{Design, FARTHEST, Layout, RoundPlan, Schedule};
pub use settings::{Question, Settings, SettingsError};
pub use sittings::{estimate_over, over_state};
