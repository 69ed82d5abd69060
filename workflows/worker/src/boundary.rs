//! The worker for programs in other languages: five C functions, declared in
//! `include/workflows_worker.h`, which says what callers must keep to.
//!
//! The caller asks for steps and is never called back: that is the least that a foreign-function
//! library of a language has to be able to do.
#![expect(unsafe_code, reason = "a C interface takes and gives pointers")]

use std::ffi::c_int;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr;

use crate::{Hello, Worker};

/// A step as C sees it; `values` are the worker's until the next call.
#[repr(C)]
#[derive(Debug)]
pub struct ForeignStep {
    /// As [`crate::Step::operation`].
    pub operation: u64,
    /// As [`crate::Step::argument`].
    pub argument: u64,
    /// As [`crate::Step::part`].
    pub part: u64,
    /// How many values there are.
    pub count: u64,
    /// The first of them.
    pub values: *const u64,
}

/// Begins to work between two file descriptors, of which it makes duplicates. `ffi_call_ns` is what
/// the caller measured of [`workflows_worker_empty`]. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn workflows_worker_open(
    input: c_int,
    output: c_int,
    ffi_call_ns: u64,
) -> *mut Worker {
    let open = || -> io::Result<Worker> {
        let hello = Hello { ffi_call_ns: Some(ffi_call_ns.max(1)) };
        Worker::open(duplicate(input)?, duplicate(output)?, hello)
    };
    open().map_or(ptr::null_mut(), |worker| Box::into_raw(Box::new(worker)))
}

/// Waits for a step and writes it to `step`: 1; 0 when there is none any more, -1 when that fails.
///
/// # Safety
/// `worker` is from [`workflows_worker_open`] and not closed, `step` may be written, and no other
/// thread is in a call with this worker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn workflows_worker_next(
    worker: *mut Worker,
    step: *mut ForeignStep,
) -> c_int {
    // SAFETY: the caller keeps to what the documentation says.
    let (Some(worker), false) = (unsafe { worker.as_mut() }, step.is_null()) else { return -1 };
    match worker.next_step() {
        Ok(None) => 0,
        Ok(Some(next)) => {
            let foreign = ForeignStep {
                operation: next.operation,
                argument: next.argument,
                part: next.part,
                count: next.values.len() as u64,
                values: next.values.as_ptr(),
            };
            // SAFETY: it is not null, and the caller says that it may be written.
            unsafe { step.write(foreign) };
            1
        }
        Err(_) => -1,
    }
}

/// Gives the value of the last step: 0; -1 when that fails.
///
/// # Safety
/// As [`workflows_worker_next`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn workflows_worker_record(worker: *mut Worker, value: u64) -> c_int {
    // SAFETY: the caller keeps to what the documentation says.
    let worker = unsafe { worker.as_mut() };
    worker.map_or(-1, |worker| worker.record(value).map_or(-1, |()| 0))
}

/// Ends the worker; null is allowed.
///
/// # Safety
/// As [`workflows_worker_next`], and the worker is not used after this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn workflows_worker_close(worker: *mut Worker) {
    if !worker.is_null() {
        // SAFETY: it came from a box in `workflows_worker_open`, and nobody else has it.
        drop(unsafe { Box::from_raw(worker) });
    }
}

/// Does nothing: what remains is the boundary.
#[unsafe(no_mangle)]
pub extern "C" fn workflows_worker_empty() {}

fn duplicate(descriptor: RawFd) -> io::Result<std::os::fd::OwnedFd> {
    if descriptor < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: it is only borrowed to be duplicated, which fails if it is not open.
    unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::pipe;
    use std::os::fd::AsRawFd;

    use lab_protocol::workflows::Operation;

    use super::*;
    use crate::{Answer, Step};

    #[test]
    fn a_foreign_program_is_given_steps_and_gives_values() {
        let (steps, mut to_worker) = pipe().unwrap();
        let (mut from_worker, answers) = pipe().unwrap();
        Step::write(&mut to_worker, Operation::Sum, 2, &[3, 4]).unwrap();
        drop(to_worker);
        let worker = workflows_worker_open(steps.as_raw_fd(), answers.as_raw_fd(), 70);
        let mut step =
            ForeignStep { operation: 0, argument: 0, part: 0, count: 0, values: ptr::null() };
        // SAFETY: one thread, an open worker, and a step on the stack.
        unsafe {
            assert_eq!(workflows_worker_next(worker, &raw mut step), 1);
            assert_eq!((step.operation, step.part, step.count), (2, 2, 2));
            assert_eq!(std::slice::from_raw_parts(step.values, 2), [3, 4]);
            assert_eq!(workflows_worker_record(worker, 7), 0);
            assert_eq!(workflows_worker_next(worker, &raw mut step), 0);
            workflows_worker_close(worker);
        }
        let hello = Hello::read(&mut from_worker).unwrap().unwrap();
        assert_eq!(hello.ffi_call_ns, Some(70));
        let answer = Answer::read(&mut from_worker).unwrap().unwrap();
        assert!(answer.value == 7 && answer.started_ns <= answer.finished_ns, "{answer:?}");
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let null = File::open("/dev/null").unwrap();
        assert!(workflows_worker_open(-1, null.as_raw_fd(), 1).is_null());
        // It is open for reading only, so hello cannot be said.
        assert!(workflows_worker_open(null.as_raw_fd(), null.as_raw_fd(), 1).is_null());
        // SAFETY: null is allowed.
        unsafe {
            assert_eq!(workflows_worker_next(ptr::null_mut(), ptr::null_mut()), -1);
            assert_eq!(workflows_worker_record(ptr::null_mut(), 1), -1);
            workflows_worker_close(ptr::null_mut());
        }
    }
}
