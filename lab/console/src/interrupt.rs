//! Ctrl-C, and the signals that mean the same.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};

use crate::{Exit, Failure};

/// A terminal that is closed sends a hangup.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// `timeout` sends its signal twice at once, to the program and to its group: signals so close
/// together are one.
const AT_ONCE: Duration = Duration::from_millis(300);

/// A flag that the first signal sets; one that comes while it is up ends the program.
pub fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let (interrupted, ends) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let failed = |error| Failure::lab(format!("cannot watch for Ctrl-C: {error}"));
    for signal in SIGNALS {
        let code = i32::from(Exit::Interrupted.code());
        flag::register_conditional_shutdown(signal, code, Arc::clone(&ends))
            .and_then(|_| flag::register(signal, Arc::clone(&interrupted)))
            .map_err(failed)?;
    }
    // Registered last, it hears of a signal when the flag is up.
    let mut signals = Signals::new(SIGNALS).map_err(failed)?;
    let flag = Arc::clone(&interrupted);
    thread::spawn(move || {
        for _ in &mut signals {
            while flag.load(Ordering::Relaxed) {
                thread::sleep(AT_ONCE);
                ends.store(true, Ordering::Relaxed);
            }
            // Who put it down goes on, and may be interrupted again.
            ends.store(false, Ordering::Relaxed);
        }
    });
    Ok(interrupted)
}
