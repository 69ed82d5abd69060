//! How many streams this process can hold at once.

use anyhow::bail;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Descriptors that are not for connections: listeners, timers, pipes, and some for the system.
const DESCRIPTORS_KEPT: u64 = 64;
/// Each connection has a thread; more would not be served in time.
const CONNECTIONS_MAX: u64 = 16_384;
/// Where the limit cannot be read.
const DESCRIPTORS_UNKNOWN: u64 = 256;

/// Connections that one server takes: as many as there may be descriptors, whose limit is raised
/// to the hard one.
pub(crate) fn connections() -> usize {
    let descriptors = descriptors();
    descriptors.saturating_sub(DESCRIPTORS_KEPT).clamp(1, CONNECTIONS_MAX) as usize
}

/// Refuses, before anything is begun, to hold more streams than can be had. Each takes so many
/// descriptors of this process: one, or two where its client is here too.
pub(crate) fn check(streams: u32, descriptors_each: u64) -> anyhow::Result<()> {
    refuse(u64::from(streams), descriptors_each, descriptors())
}

fn refuse(streams: u64, descriptors_each: u64, descriptors: u64) -> anyhow::Result<()> {
    if streams > CONNECTIONS_MAX {
        bail!(
            "--streams {streams} cannot be had: a paced server holds {CONNECTIONS_MAX} at most; \
             start a second one for the rest"
        );
    }
    let needed = streams * descriptors_each + DESCRIPTORS_KEPT;
    if needed > descriptors {
        bail!(
            "--streams {streams} cannot be had: it takes {needed} open files and this process may \
             have {descriptors}; raise the hard limit (`ulimit -Hn {needed}` as root) or ask for \
             {} streams",
            descriptors.saturating_sub(DESCRIPTORS_KEPT) / descriptors_each
        );
    }
    Ok(())
}

/// The limit of open files, now that it is raised as far as this process may.
fn descriptors() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return DESCRIPTORS_UNKNOWN };
    let raised = soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    if raised { hard } else { soft }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_held_is_said_with_what_can() {
        let said = |streams, each, files| refuse(streams, each, files).map_err(|e| e.to_string());
        assert_eq!(said(10_000, 1, 10_064), Ok(()));
        let error = said(10_000, 2, 20_000).unwrap_err();
        assert!(error.contains("20064 open files") && error.contains("9968 streams"), "{error}");
        let error = said(20_000, 1, 1 << 30).unwrap_err();
        assert!(error.contains("16384 at most"), "{error}");
    }
}
