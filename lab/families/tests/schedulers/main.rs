//! Plans and reports of the `schedulers` family.

mod made_up;
mod plan;
mod report;
