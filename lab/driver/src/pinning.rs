//! Server and client on their own CPUs, where there are enough.

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// Below this many CPUs nothing is pinned: it would take from a multi-threaded client the very CPUs
/// it is about.
pub const CPUS_MIN: usize = 4;

/// Who runs where.
#[derive(Debug)]
pub(crate) struct Pinning {
    sets: Option<(CpuSet, CpuSet)>,
    /// For the session's record and the report.
    pub(crate) statement: String,
}

/// Restores this process's CPUs when dropped.
#[derive(Debug)]
pub(crate) struct Pinned(Option<CpuSet>);

impl Pinning {
    /// Gives the server, where there is one, the last CPU that this process may use and clients the
    /// others.
    pub(crate) fn choose(server: bool) -> Self {
        if !server {
            let statement = "not pinned by the lab: there is no server beside a run".to_owned();
            return Self { sets: None, statement };
        }
        let this = Pid::from_raw(0);
        let all = sched_getaffinity(this).unwrap_or_default();
        let mine: Vec<usize> =
            (0..CpuSet::count()).filter(|&cpu| all.is_set(cpu).unwrap_or(false)).collect();
        let Some((&last, rest)) = mine.split_last().filter(|_| mine.len() >= CPUS_MIN) else {
            let statement = format!(
                "not pinned: {} CPUs are too few to give server and client their own",
                mine.len()
            );
            return Self { sets: None, statement };
        };
        let set = |cpus: &[usize]| {
            let mut set = CpuSet::new();
            cpus.iter().for_each(|&cpu| set.set(cpu).expect("the kernel named this CPU"));
            set
        };
        let statement = format!("server pinned to CPU {last}, clients to the other {}", rest.len());
        Self { sets: Some((set(rest), set(&[last]))), statement }
    }

    /// Children started while the guard lives inherit the clients' CPUs.
    pub(crate) fn for_client(&self) -> Pinned {
        self.enter(|(client, _)| client)
    }

    /// Children started while the guard lives inherit the server's CPU.
    pub(crate) fn for_server(&self) -> Pinned {
        self.enter(|(_, server)| server)
    }

    fn enter(&self, pick: impl Fn(&(CpuSet, CpuSet)) -> &CpuSet) -> Pinned {
        let this = Pid::from_raw(0);
        let Some(sets) = &self.sets else { return Pinned(None) };
        let before = sched_getaffinity(this).ok();
        // A machine that refuses runs unpinned; the affinity is a refinement, not a need.
        let _ = sched_setaffinity(this, pick(sets));
        Pinned(before)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = sched_setaffinity(Pid::from_raw(0), before);
        }
    }
}
