//! Experiments and manifests in, an ordered list of runs out.
//!
//! Pure: text and values come in, values go out. This crate reads no file, knows no clock and
//! starts nothing; the same text and the same seed give the same plan on every machine.

#![forbid(unsafe_code)]

mod begin;
mod cells;
mod contrasts;
mod declared;
mod experiment;
mod extends;
mod manifest;
mod order;
mod rounds;
mod schema;

pub use begin::begun;
pub use experiment::{Experiment, Selection, Starter};
pub use extends::{extended_file, merged};
pub use lab_family::InputError;
pub use manifest::Manifest;
pub use order::{Entrant, Plan, PlannedRun, light_checks, plan};
pub use rounds::{Asked, Round};
pub use schema::{experiment_schema, schema_of, variant_schema};
