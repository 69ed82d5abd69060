//! Server and client on their own CPUs, where there are enough.

use lab_record::SessionOf;

/// Below this many CPUs nothing is pinned: it would take from a multi-threaded client the very CPUs
/// it is about.
pub const CPUS_MIN: usize = 4;

/// Who runs where; everywhere, where nobody is pinned.
#[derive(Debug)]
pub(crate) struct Pinning {
    clients: Vec<usize>,
    server: Vec<usize>,
    /// For the session's record and the report.
    pub(crate) statement: String,
}

impl Pinning {
    /// Gives the server, where there is one, a CPU that this process may use and clients the
    /// others: the last one, and of several sessions each the one before.
    pub(crate) fn choose(server: bool, session: Option<SessionOf>) -> Self {
        let nobody =
            |statement: String| Self { clients: Vec::new(), server: Vec::new(), statement };
        if !server {
            return nobody("not pinned by the lab: there is no server beside a run".to_owned());
        }
        let mut clients = lab_process::cpus_by_core().unwrap_or_default();
        clients.sort_unstable();
        if clients.len() < CPUS_MIN {
            return nobody(format!(
                "not pinned: {} CPUs are too few to give server and client their own",
                clients.len()
            ));
        }
        let earlier = session.map_or(0, |session| session.number as usize - 1);
        let server = vec![clients.remove(clients.len() - 1 - earlier % clients.len())];
        let statement =
            format!("server pinned to CPU {}, clients to the other {}", server[0], clients.len());
        Self { clients, server, statement }
    }

    pub(crate) fn clients(&self) -> &[usize] {
        &self.clients
    }

    pub(crate) fn server(&self) -> &[usize] {
        &self.server
    }
}
