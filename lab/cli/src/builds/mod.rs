//! Programs built from git revisions, kept by what they were built from.

mod args;
mod git;
mod store;

pub(crate) use self::{
    args::BuildArgs,
    git::{Git, Revision},
    store::{Built, Store, Unbuilt},
};
