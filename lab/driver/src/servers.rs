//! The servers of a sweep: the embedded one, or those the user gave.

use std::sync::atomic::AtomicBool;

use lab_family::{Places, ServedCall, Work};

use crate::{DriverError, given::GivenServers, paced::PacedServer};

/// Who answers.
#[derive(Debug)]
pub(crate) enum Servers {
    /// Our own process.
    Paced(PacedServer),
    /// Somebody else's.
    Given(GivenServers),
}

impl Servers {
    /// So many of them, or all where there are fewer.
    pub(crate) fn first(&self, count: usize) -> &[String] {
        let addresses = match self {
            Self::Paced(server) => &server.addresses,
            Self::Given(servers) => &servers.addresses,
        };
        &addresses[..count.min(addresses.len())]
    }

    pub(crate) fn pids(&self) -> Vec<u32> {
        match self {
            Self::Paced(server) => vec![server.pid()],
            Self::Given(_) => Vec::new(),
        }
    }

    /// The outer error is the lab's own; the inner one is a failed run's reason.
    pub(crate) fn begin(
        &mut self,
        run: &str,
        work: &dyn Work,
        at: &Places,
        interrupt: &AtomicBool,
    ) -> Result<Result<(), String>, DriverError> {
        match self {
            Self::Paced(server) => {
                let spec = work.paced().expect("a plan for the paced server says what it must be");
                server.begin(run, spec).map(Ok)
            }
            Self::Given(servers) => {
                servers.same(&at.servers)?;
                Ok(servers.prepare(&work.model_loads(at), interrupt))
            }
        }
    }

    /// What the server knows of the run; a given one keeps no account.
    pub(crate) fn served(
        &mut self,
        run: &str,
        at: &Places,
    ) -> Result<Option<Vec<ServedCall>>, DriverError> {
        match self {
            Self::Paced(server) => server.collect(run).map(Some),
            Self::Given(servers) => servers.same(&at.servers).map(|()| None),
        }
    }
}
