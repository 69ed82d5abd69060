//! Inline or offload: decides per call site where work runs.

mod belief;
mod config;
mod context;
mod counters;
mod decision;
mod key;
mod scheduler;
mod site;
mod state;
mod stripe;
mod table;

pub use config::{Config, ConfigError};
pub use context::Context;
pub use counters::Counters;
pub use decision::{Arm, Cost, Decision, Reason};
pub use key::{Hint, Key};
pub use scheduler::{Estimate, Scheduler};
