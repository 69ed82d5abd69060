//! Plans and reports of the `engines` family.

mod plan;
mod published;
mod report;
mod searches;
