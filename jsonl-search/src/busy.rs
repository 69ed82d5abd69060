//! How long each thread worked.

use std::cell::OnceCell;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// All threads that ever worked, and the most threads that the process had when one began to.
static WORKED: Mutex<(Vec<Arc<AtomicU64>>, u64)> = Mutex::new((Vec::new(), 0));

thread_local! {
    static MINE: OnceCell<Arc<AtomicU64>> = const { OnceCell::new() };
}

/// This thread worked so long.
pub(crate) fn add(busy_ns: u64) {
    MINE.with(|mine| {
        // Only this thread writes it.
        mine.get_or_init(register).fetch_add(busy_ns, Ordering::Relaxed);
    });
}

/// Nanoseconds by thread, and the most threads.
pub fn read() -> (Vec<u64>, u64) {
    let worked = WORKED.lock().unwrap_or_else(PoisonError::into_inner);
    (worked.0.iter().map(|busy| busy.load(Ordering::Relaxed)).collect(), worked.1)
}

fn register() -> Arc<AtomicU64> {
    let busy = Arc::new(AtomicU64::new(0));
    let mut worked = WORKED.lock().unwrap_or_else(PoisonError::into_inner);
    worked.0.push(Arc::clone(&busy));
    worked.1 = worked.1.max(threads());
    busy
}

/// The process's threads now: field 20 of `/proc/self/stat`, see proc(5).
fn threads() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name in parentheses, which may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().nth(17).and_then(|field| field.parse().ok()).unwrap_or(0)
}
