//! Ctrl-C, and the signals that mean the same.

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use crate::{Exit, Failure};

/// A flag that the first signal sets; the second ends the program.
pub fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    // A terminal that is closed sends a hangup.
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let set = || Arc::clone(&interrupted);
        // Registered first, it acts only when the flag is up already: on the second signal.
        flag::register_conditional_shutdown(signal, i32::from(Exit::Interrupted.code()), set())
            .and_then(|_| flag::register(signal, set()))
            .map_err(|error| Failure::lab(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(interrupted)
}
