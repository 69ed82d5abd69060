//! A decision and its finish cost no memory. A program of its own, for its allocator counts.

#![expect(unsafe_code, reason = "an allocator is unsafe by its signature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use adaptive::{Config, Context, Cost, Key, Scheduler};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: it passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test alone in this program: a second one would be counted too.
#[test]
fn neither_a_new_site_nor_a_strike_nor_a_full_table_allocates() {
    let scheduler = Scheduler::new(Config { sites: 8, ..Config::default() }).unwrap();
    let context = Context { tokio_workers: 2, in_flight: 9, ..Context::default() };
    let round = |sites: u64| {
        for call in 0..2000_u64 {
            let decision = scheduler.choose(Key::new(call % sites), &context);
            let total_ns = if call % 500 == 0 { 5_000_000 } else { 20_000 + call };
            scheduler.finish(decision, Cost::total(total_ns));
        }
    };
    // The thread's own line of memory, and whatever the test harness still does.
    round(1);
    let fewest = (0..5)
        .map(|_| {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            round(20);
            ALLOCATIONS.load(Ordering::Relaxed) - before
        })
        .min();
    assert_eq!(fewest, Some(0));
    assert!(scheduler.counters().strikes > 0 && scheduler.counters().overflow > 0);
}
