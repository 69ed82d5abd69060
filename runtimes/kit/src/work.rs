//! Work between tokens: what an agent computes from what it was told.

use lab_variant::thread_cpu_ns;

/// Spends `per_token_ns` of this thread's CPU time on each of `tokens`. Time in which the thread
/// waits for a core is not work: a variant whose threads are preempted does the same work later.
pub(crate) fn spend(per_token_ns: u64, tokens: usize) {
    let work_ns = per_token_ns.saturating_mul(tokens as u64);
    if work_ns == 0 {
        return;
    }
    let start_ns = thread_cpu_ns();
    while (thread_cpu_ns() - start_ns).cast_unsigned() < work_ns {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time_of_this_thread_by_the_token() {
        let start_ns = thread_cpu_ns();
        spend(200_000, 0);
        spend(0, 7);
        spend(200_000, 5);
        assert!(thread_cpu_ns() - start_ns >= 1_000_000);
    }
}
