//! What raw data say: facts, derived by what a claim file declares, stored in place of the data.

mod derive;
mod kinds;
mod statistics;
mod store;

pub use derive::{FactsError, derive};
pub use store::{Facts, Group, Number};
