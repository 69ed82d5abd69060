//! Servers, or a recorded run, held against thresholds over sliding windows.
//!
//! What was seen comes from a source, [`Live`] or [`recorded`], as [`Moment`]s in the order of
//! time. A [`Watch`] holds each moment against its [`Rule`]s and says what changed. An
//! [`Exposition`] shows all of it to Prometheus, an [`Endpoint`] serves that, and [`OnAlert`] tells
//! a command of the user's.
//!
//! The rules that nobody wrote are those that TR115 publishes, and a few of ours ([`PUBLISHED`]).

#![forbid(unsafe_code)]

mod alert;
mod api;
mod ask;
mod endpoint;
mod exposition;
mod live;
mod metric;
mod on_alert;
mod openai;
mod recorded;
mod reply;
mod rules;
mod seen;
mod watch;

pub use alert::{Change, Event, State};
pub use api::{Api, check_openai, only_model};
pub use endpoint::Endpoint;
pub use exposition::{Exposition, Origin};
pub use live::{ALL, Asking, Live};
pub use metric::{METRICS, Metric, Unit};
pub use on_alert::OnAlert;
pub use recorded::{WatchError, recorded};
pub use rules::{PUBLISHED, Rule, Severity, Side, published, rules};
pub use seen::{Call, Ending, LATE_S, Moment, Round, Seen};
pub use watch::{NotJudged, Reading, Watch};

/// Of the lines of JSON.
pub const SCHEMA: &str = "lab-watch-1";
