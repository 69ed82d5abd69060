//! Whole sweeps through the `lab` program. The good variant of a family is its floor; the bad ones
//! are scripts around it.

mod agents;
mod cards;
mod laws;
mod ledgers;
mod noise;
mod policies;
mod tasks;
mod world;
