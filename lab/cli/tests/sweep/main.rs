//! Whole sweeps through the `lab` program. The good variant of a family is its floor; the bad ones
//! are scripts around it.

mod cards;
mod chained;
mod changed;
mod damage;
mod edited;
mod engines;
mod installed;
mod kept;
mod laws;
mod ledgers;
mod left_behind;
mod noise;
mod over;
mod plan;
mod replay;
mod runtimes;
mod sayings;
mod schedulers;
mod screen;
mod shards;
#[path = "../unchained/mod.rs"]
mod unchained;
mod workflows;
mod world;
