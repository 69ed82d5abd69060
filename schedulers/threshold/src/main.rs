//! The static rule of many a style guide: what takes longer than 250 microseconds belongs on the
//! pool. A call site is measured once, inline, and what that says stays for good.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::{PoisonError, RwLock};

use schedulers_kit::{Arm, Ask, Cost, Identity, Policy, RunError, Setup, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// The bound of loom-rs's hard guardrail, so that what differs is learning.
const LONGEST_INLINE_NS: u64 = 250_000;

fn main() -> ExitCode {
    variant_main::<Threshold>(&IDENTITY)
}

/// Call sites that were measured, and where they run from then on. Decisions take the lock for
/// reading; it is taken for writing once a call site.
#[derive(Default)]
struct Threshold {
    sites: RwLock<HashMap<u32, Arm>>,
}

impl Policy for Threshold {
    type Asked = u32;
    /// The site, where its first call is being measured.
    type Pending = Option<u32>;

    fn new(_: &Setup) -> Result<Self, RunError> {
        Ok(Self::default())
    }

    fn ask(ask: &Ask) -> u32 {
        ask.site
    }

    fn choose(&self, site: &u32) -> (Arm, Option<u32>) {
        let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
        match sites.get(site) {
            Some(&arm) => (arm, None),
            None => (Arm::Inline, Some(*site)),
        }
    }

    fn finish(&self, first: Option<u32>, cost: Cost) {
        let Some(site) = first else { return };
        let long = cost.function_ns.unwrap_or(cost.total_ns) > LONGEST_INLINE_NS;
        let arm = if long { Arm::Offload } else { Arm::Inline };
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        sites.entry(site).or_insert(arm);
    }
}
