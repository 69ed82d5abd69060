//! A mapped file that somebody cuts short ends a process with SIGBUS; a person is told why.

use nix::libc::{_exit, c_int, write};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::show::TROUBLE;

const SENTENCE: &[u8] =
    b"a file was cut short while it was searched; nothing is shown: search again, \
                          or with --read buffered\n";

/// From now on the process ends with the exit code of trouble instead.
pub(crate) fn explain() {
    let flags = SaFlags::empty();
    let action = SigAction::new(SigHandler::Handler(end), flags, SigSet::empty());
    // SAFETY: the handler makes two system calls, which may be made at any moment.
    #[expect(unsafe_code, reason = "a handler of a signal")]
    let installed = unsafe { sigaction(Signal::SIGBUS, &action) };
    // Without it the process ends as well.
    let _ = installed;
}

#[expect(unsafe_code, reason = "nothing but system calls is allowed here")]
extern "C" fn end(_: c_int) {
    // SAFETY: the sentence is as long as is said; both calls are async-signal-safe.
    unsafe {
        write(2, SENTENCE.as_ptr().cast(), SENTENCE.len());
        _exit(c_int::from(TROUBLE))
    }
}
