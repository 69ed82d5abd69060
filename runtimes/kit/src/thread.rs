//! Which thread an agent goes on.

use std::sync::atomic::{AtomicI64, Ordering};

static NEXT: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static NUMBER: i64 = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// A number for the thread that asks: 0 for the first one of the process that does, and so on.
pub(crate) fn thread_number() -> i64 {
    NUMBER.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_keeps_its_number_and_another_one_has_another() {
        let here = thread_number();
        let there = thread::spawn(thread_number).join().unwrap();
        assert_ne!(here, there);
        assert_eq!(here, thread_number());
    }
}
