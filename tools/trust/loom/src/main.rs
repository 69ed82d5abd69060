//! Tries all orders of what threads do with the atomics of `schedulers/adaptive`.
//!
//! The scheduler's own files are compiled here, with loom's atomics in the place of the standard
//! library's. Without an argument the models' names are listed; with a name that model is run, and
//! a line says how many orders were tried and what was found. `./run` runs all of them.

#![forbid(unsafe_code)]
// What the models do not use of the scheduler's files is used there.
#![allow(dead_code)]

#[path = "../../../../schedulers/adaptive/src/away.rs"]
mod away;
#[path = "../../../../schedulers/adaptive/src/belief.rs"]
mod belief;
#[path = "../../../../schedulers/adaptive/src/config.rs"]
mod config;
#[path = "../../../../schedulers/adaptive/src/context.rs"]
mod context;
#[path = "../../../../schedulers/adaptive/src/decision.rs"]
mod decision;
#[path = "../../../../schedulers/adaptive/src/key.rs"]
mod key;
#[path = "../../../../schedulers/adaptive/src/lease.rs"]
mod lease;
mod models;
#[path = "../../../../schedulers/adaptive/src/pressure.rs"]
mod pressure;
#[path = "../../../../schedulers/adaptive/src/site.rs"]
mod site;
#[path = "../../../../schedulers/adaptive/src/state.rs"]
mod state;
#[path = "../../../../schedulers/adaptive/src/stripe.rs"]
mod stripe;
#[path = "../../../../schedulers/adaptive/src/table.rs"]
mod table;

/// In the place of `schedulers/adaptive/src/sync.rs`.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
}

use std::{
    env, panic, process,
    sync::atomic::{AtomicU64, Ordering},
};

use models::MODELS;

/// Orders begun.
static ORDERS: AtomicU64 = AtomicU64::new(0);

/// Accesses of one order; a model that has more would end in an error.
const ACCESSES_MAX: usize = 100_000;

fn main() {
    let Some(name) = env::args().nth(1) else {
        MODELS.iter().for_each(|model| println!("{}", model.name));
        return;
    };
    let Some(model) = MODELS.iter().find(|model| model.name == name) else {
        eprintln!("there is no model {name}");
        process::exit(2);
    };
    // A panic may unwind through threads that loom holds: so it is told here, and is the end.
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("a panic without a text");
        tell(&message.lines().next().unwrap_or_default().replace('\t', " "));
        process::exit(1);
    }));
    let mut builder = loom::model::Builder::new();
    builder.max_branches = ACCESSES_MAX;
    builder.check(|| {
        ORDERS.fetch_add(1, Ordering::Relaxed);
        (model.run)();
    });
    tell("-");
}

fn tell(found: &str) {
    println!("{}\t{found}", ORDERS.load(Ordering::Relaxed));
}
