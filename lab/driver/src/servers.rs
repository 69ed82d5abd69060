//! The servers of a sweep: the embedded one, or those the user gave.

use lab_protocol::{RunOutcome, Status, agents::Workload};

use crate::{
    DriverError,
    given::GivenServers,
    paced::PacedServer,
    truth::{Columns, agents as truth},
};

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
        workload: &Workload,
        paced: Option<&serde_json::Value>,
    ) -> Result<Result<(), String>, DriverError> {
        match self {
            Self::Paced(server) => {
                let spec = paced.expect("a plan for the paced server says what it must be");
                server.begin(run, spec).map(Ok)
            }
            Self::Given(servers) => Ok(servers.prepare(&workload.agents)),
        }
    }

    pub(crate) fn truth(
        &mut self,
        run: &str,
        workload: &Workload,
        outcome: &RunOutcome,
    ) -> Result<Result<Columns, String>, DriverError> {
        match self {
            Self::Paced(server) => {
                let served = server.collect(run)?;
                Ok(match outcome.status {
                    Status::Ok => truth::against_ledger(workload, outcome, &served),
                    _ => Ok(Columns::new()),
                })
            }
            Self::Given(_) if outcome.status == Status::Ok => {
                Ok(truth::own_shape(workload, outcome).map(|()| Columns::new()))
            }
            Self::Given(_) => Ok(Ok(Columns::new())),
        }
    }
}
