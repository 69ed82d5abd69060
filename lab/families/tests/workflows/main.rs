//! Plans and reports of the `workflows` family.

mod kept;
mod plan;
mod report;
