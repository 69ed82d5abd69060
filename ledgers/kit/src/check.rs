//! Refusing a workload that no variant can run, and those that a variant without locks cannot.

use lab_protocol::ledgers::{Workers, Workload};
use lab_variant::at_least_one;

use crate::RunError;

/// Refuses a workload that no variant can run.
///
/// # Errors
/// A sentence that names the key.
pub(crate) fn workload(workload: &Workload) -> Result<(), String> {
    let data = &workload.data;
    at_least_one([
        ("data.streams", data.streams),
        ("data.transactions", data.transactions),
        ("repetitions", workload.repetitions),
    ])?;
    if data.streams.checked_mul(data.transactions).is_none() {
        return Err(format!(
            "data.streams times data.transactions is {} times {}, more than transaction ids \
             of 32 bits",
            data.streams, data.transactions
        ));
    }
    if workload.workers == Workers::Count(0) {
        return Err("workers.count is 0, write at least 1".to_owned());
    }
    match workload.shards {
        Some(shards) if !shards.is_power_of_two() => {
            Err(format!("shards is {shards}, write a power of two"))
        }
        _ => Ok(()),
    }
}

/// For a variant whose store has no shards and no locks.
///
/// # Errors
/// [`RunError::Unsupported`] where the workload asks for either.
pub fn without_locks(workload: &Workload) -> Result<(), RunError> {
    if workload.shards.is_some() {
        return Err(RunError::unsupported("this store has no shards, leave shards out"));
    }
    if workload.watch_locks {
        return Err(RunError::unsupported("there are no locks to watch, set watch_locks to false"));
    }
    Ok(())
}
