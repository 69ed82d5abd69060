#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! [`Scheduler`] is the rule, without threads or clocks; [`Adaptive`] joins it to a Tokio runtime
//! and a Rayon pool; [`AdaptiveStreamExt`] maps streams; [`metrics`] registers what was counted
//! with a Prometheus registry. Spans and events go to the crate `tracing`.

#![forbid(unsafe_code)]

mod away;
mod belief;
mod config;
mod context;
mod counters;
mod decision;
mod key;
mod lease;
mod measure;
pub mod metrics;
mod pressure;
mod runtime;
mod scheduler;
mod site;
mod slot;
mod state;
mod stream;
mod stripe;
mod sync;
mod table;

pub use config::{Config, ConfigError};
pub use context::Context;
pub use counters::Counters;
pub use decision::{Arm, Cost, Decision, Reason};
pub use key::{Hint, Key};
pub use measure::Probe;
pub use pressure::PressureGauge;
pub use runtime::Adaptive;
pub use scheduler::{Estimate, Scheduler};
pub use stream::AdaptiveStreamExt;
