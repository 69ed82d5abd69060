//! A wall clock that steps while a sweep runs.
//!
//! This test's program has a `clock_gettime` of its own, which the standard library and the driver
//! call in the place of the C library's: where it is told to, each reading of the wall clock is a
//! day before the last one.

#![expect(unsafe_code, reason = "a function of the C library is replaced, and called")]

use std::{
    ffi::{c_char, c_int, c_long, c_void},
    mem, ptr,
    sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering::SeqCst},
};

use lab_record::{SessionEvent, Verification};

use crate::{
    checkout::{Checkout, alone, outcome},
    sixth_family::EXPERIMENT,
};

const DAY_S: i64 = 86_400;
const CLOCK_REALTIME: c_int = 0;
const CLOCK_MONOTONIC: c_int = 1;

/// Whether the wall clock goes back.
static STEPS: AtomicBool = AtomicBool::new(false);
/// Readings that went back.
static READINGS: AtomicI64 = AtomicI64::new(0);

/// As the C library has it, on machines of 64 bits.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: c_long,
}

type ClockGettime = unsafe extern "C" fn(c_int, *mut Timespec) -> c_int;

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The C library's own.
fn real() -> ClockGettime {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut address = REAL.load(SeqCst);
    if address.is_null() {
        // The library after this program is asked, which `<dlfcn.h>` calls RTLD_NEXT.
        let next = ptr::without_provenance_mut(usize::MAX);
        // SAFETY: the name ends with a zero.
        address = unsafe { dlsym(next, c"clock_gettime".as_ptr()) };
        assert!(!address.is_null(), "the C library has a clock");
        REAL.store(address, SeqCst);
    }
    // SAFETY: it is that function's address.
    unsafe { mem::transmute::<*mut c_void, ClockGettime>(address) }
}

/// In the place of the C library's.
///
/// # Safety
/// As that one: `time` points to room for an instant.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int {
    // SAFETY: the caller promises the room that the real one needs.
    let status = unsafe { real()(clock, time) };
    if status == 0 && clock == CLOCK_REALTIME && STEPS.load(SeqCst) {
        let days = READINGS.fetch_add(1, SeqCst) + 1;
        // SAFETY: the call was a success, so that an instant stands there.
        unsafe { (*time).seconds -= days * DAY_S };
    }
    status
}

/// The clock that durations have to come from, in nanoseconds.
fn monotonic_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: there is room for an instant.
    assert_eq!(unsafe { real()(CLOCK_MONOTONIC, &raw mut time) }, 0);
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

#[test]
fn a_step_of_the_wall_clock_changes_dates_and_no_duration() {
    let _alone = alone();
    let _attack = proof_kit::Attack::on("records", "a wall clock that steps back amid a sweep");
    let checkout = Checkout::of(EXPERIMENT, &["fast", "slow"]);
    let begun_ns = monotonic_ns();
    STEPS.store(true, SeqCst);
    assert!(!checkout.sweep(false, 20).finished);
    assert!(checkout.sweep(true, usize::MAX).finished);
    STEPS.store(false, SeqCst);
    let ended_ns = monotonic_ns();
    let (frame, report) = checkout.report();

    // The record shows the dates as the clock told them: each before the last one.
    let dates: Vec<u64> = frame.sessions.iter().map(|session| session.unix_s).collect();
    let events: Vec<SessionEvent> = frame.sessions.iter().map(|session| session.event).collect();
    assert!(events.contains(&SessionEvent::Resume), "{events:?}");
    assert!(dates.len() >= 3 && dates.is_sorted_by(|one, next| one > next), "{dates:?}");

    // No run begins before the one before it has ended, or outside of the sweep.
    let rows = frame.in_plan_order();
    assert_eq!(rows.len(), 3 + 8 * 2 * 3);
    let mut free_ns = begun_ns;
    for row in rows {
        let (start_ns, process_ns) = (row.run.start_ns, row.run.process_ns);
        assert!(free_ns <= start_ns && process_ns > 0, "{:?}", row.run);
        free_ns = start_ns + process_ns;
        assert_eq!(row.run.verification, Verification::Verified, "{:?}", row.run.reason);
    }
    assert!(free_ns <= ended_ns, "a run ends {free_ns}, the sweep {ended_ns}");
    assert_eq!(outcome(&report, "differences-1.tsv", "slow"), "slower");
}
