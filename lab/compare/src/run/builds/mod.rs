//! Programs built from git revisions, kept by what they were built from.

mod git;
mod store;

pub(crate) use self::{
    git::{Git, Revision},
    store::{Built, Store, Unbuilt},
};
