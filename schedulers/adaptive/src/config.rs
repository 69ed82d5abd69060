//! The scheduler's settings.

use thiserror::Error;

/// Settings of a [`crate::Scheduler`]. The defaults suit a server whose polls should stay below
/// some hundred microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Seed of the draws. The decisions of one thread are a function of it and of the costs.
    /// Default 0.
    pub seed: u64,
    /// Places for sites, a size class counting as a site; rounded up to a power of two. Further
    /// sites share one place, and are counted. A place takes 256 bytes. Default 1024.
    pub sites: usize,
    /// Share of all cost that may be lost on samples of the arm that looks worse, in thousandths.
    /// The first two samples of either arm are not counted. Default 10.
    pub exploration_permille: u32,
    /// Observations that an estimate remembers: each has at least the weight 1/memory. Once there
    /// are so many, every fourth call is an observation. Default 16.
    pub memory: u32,
    /// Weight of the others' waiting in the cost of an inline call, in percent: 100 counts their
    /// time like the caller's own, 0 leaves it out. Default 100.
    pub pressure_percent: u32,
    /// The round trip to the pool that is assumed before one was measured; see
    /// [`crate::Scheduler::set_round_trip_ns`]. Default 20,000.
    pub round_trip_ns: u64,
    /// GR0: what a single worker may run inline. Default 50,000.
    pub single_worker_cap_ns: u64,
    /// GR1: what any worker may run inline. Default 250,000.
    pub inline_cap_ns: u64,
    /// GR2: what a worker may run inline while others wait. Default 100,000.
    pub pressure_cap_ns: u64,
    /// GR2: how many have to wait for each worker. Default 3.
    pub pressure_waiting: u32,
    /// GR3: an inline call of this length is a strike. Default 400,000.
    pub strike_ns: u64,
    /// GR3: offloaded calls after which a struck site may try one inline call, if its budget pays
    /// for it; doubled by every further strike up to 256 times as many. Default 16.
    pub forgive_after: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 0,
            sites: 1024,
            exploration_permille: 10,
            memory: 16,
            pressure_percent: 100,
            round_trip_ns: 20_000,
            single_worker_cap_ns: 50_000,
            inline_cap_ns: 250_000,
            pressure_cap_ns: 100_000,
            pressure_waiting: 3,
            strike_ns: 400_000,
            forgive_after: 16,
        }
    }
}

/// Settings that contradict themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no place for a site, or for more than 2^20.
    #[error("sites is {0}: give between 1 and 1048576")]
    Sites(usize),
    /// More than everything would be spent on exploration.
    #[error("exploration_permille is {0}: give at most 1000")]
    Exploration(u32),
    /// An estimate of fewer than two observations has no spread.
    #[error("memory is {0}: give at least 2")]
    Memory(u32),
}

impl Config {
    /// # Errors
    /// [`ConfigError`] names the setting and what it may be.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=1 << 20).contains(&self.sites) {
            return Err(ConfigError::Sites(self.sites));
        }
        if self.exploration_permille > 1000 {
            return Err(ConfigError::Exploration(self.exploration_permille));
        }
        if self.memory < 2 {
            return Err(ConfigError::Memory(self.memory));
        }
        Ok(())
    }
}
