//! The least that this machine needs for what every variant does: a system call, a timer, a
//! wake-up, a byte over loopback and back.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::FileExt,
    thread,
    time::Duration,
};

use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::Serialize;

use lab_process::monotonic_ns;

const ROUNDS: usize = 200;

/// Medians and 99th percentiles of [`ROUNDS`] rounds.
#[derive(Debug, Clone, Serialize)]
pub struct Floors {
    /// `getppid`, mean of many.
    pub syscall_ns: u64,
    /// A sleep of 1 ms ends this much late.
    pub timer_overshoot_p50_ns: u64,
    /// The same, 99th percentile.
    pub timer_overshoot_p99_ns: u64,
    /// One byte to another thread over loopback and back.
    pub loopback_round_trip_p50_ns: u64,
    /// The same, 99th percentile.
    pub loopback_round_trip_p99_ns: u64,
    /// Reading memory that no cache holds, one thread per CPU, all together.
    pub memory_read_bytes_per_s: u64,
    /// Copying a file that the kernel holds in memory into buffers, one thread per CPU, all
    /// together: the limit of whoever reads files.
    pub page_cache_read_bytes_per_s: u64,
}

/// Measures the floors; takes about half a second.
///
/// # Errors
/// Where loopback sockets, or a file in memory, are not to be had.
pub fn measure_floors() -> io::Result<Floors> {
    let timer = timer_overshoots();
    let loopback = loopback_round_trips()?;
    Ok(Floors {
        syscall_ns: syscall_ns(),
        timer_overshoot_p50_ns: rank(&timer, 50),
        timer_overshoot_p99_ns: rank(&timer, 99),
        loopback_round_trip_p50_ns: rank(&loopback, 50),
        loopback_round_trip_p99_ns: rank(&loopback, 99),
        memory_read_bytes_per_s: memory_read_bytes_per_s(),
        page_cache_read_bytes_per_s: page_cache_read_bytes_per_s()?,
    })
}

fn syscall_ns() -> u64 {
    const CALLS: u64 = 10_000;
    let start = monotonic_ns();
    for _ in 0..CALLS {
        std::hint::black_box(nix::unistd::getppid());
    }
    (monotonic_ns() - start) / CALLS
}

/// The best of a few passes: whatever else runs can only slow one.
fn memory_read_bytes_per_s() -> u64 {
    // Far more than a last-level cache, far less than the memory of any machine that runs this.
    const WORDS: usize = 32 << 20;
    const PASSES: usize = 4;
    let words = vec![1u64; WORDS];
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let pass = || {
        let start = monotonic_ns();
        thread::scope(|scope| {
            for part in words.chunks(WORDS.div_ceil(cpus)) {
                scope.spawn(|| std::hint::black_box(part.iter().fold(0u64, |a, b| a ^ b)));
            }
        });
        monotonic_ns() - start
    };
    let best_ns = (0..PASSES).map(|_| pass()).min().unwrap_or(1).max(1);
    (WORDS as u64 * 8).saturating_mul(1_000_000_000) / best_ns
}

/// The best of a few passes over a file without a disk, larger than the last-level cache of a few
/// cores.
fn page_cache_read_bytes_per_s() -> io::Result<u64> {
    const PARTS: u64 = 64;
    const PASSES: usize = 3;
    let part = vec![1; 1 << 20];
    let mut file = File::from(memfd_create("page-cache", MFdFlags::MFD_CLOEXEC)?);
    (0..PARTS).try_for_each(|_| file.write_all(&part))?;
    let bytes = PARTS * part.len() as u64;
    let cpus = thread::available_parallelism().map_or(1, usize::from) as u64;
    let share = bytes.div_ceil(cpus);
    let file = &file;
    let pass = || -> io::Result<u64> {
        let start = monotonic_ns();
        thread::scope(|scope| {
            let read = |cpu: u64| {
                let (from, to) = (cpu * share, ((cpu + 1) * share).min(bytes));
                scope.spawn(move || copy(file, from, to))
            };
            let readers: Vec<_> = (0..cpus).map(read).collect();
            readers.into_iter().try_for_each(|reader| reader.join().expect("a reader's panic"))
        })?;
        Ok(monotonic_ns() - start)
    };
    let times = (0..PASSES).map(|_| pass()).collect::<io::Result<Vec<u64>>>()?;
    let best_ns = times.into_iter().min().unwrap_or(1).max(1);
    Ok(bytes.saturating_mul(1_000_000_000) / best_ns)
}

/// Copies a part of a file into one buffer, over and over.
fn copy(file: &File, from: u64, to: u64) -> io::Result<()> {
    let mut buffer = vec![0; 128 << 10];
    let mut at = from;
    while at < to {
        let most = buffer.len().min((to - at) as usize);
        match file.read_at(&mut buffer[..most], at)? {
            0 => break,
            read => at += read as u64,
        }
    }
    std::hint::black_box(&buffer);
    Ok(())
}

fn timer_overshoots() -> Vec<u64> {
    let sleep = Duration::from_millis(1);
    let overshoot = |_| {
        let due = monotonic_ns() + sleep.as_nanos() as u64;
        thread::sleep(sleep);
        monotonic_ns().saturating_sub(due)
    };
    sorted((0..ROUNDS).map(overshoot).collect())
}

fn loopback_round_trips() -> io::Result<Vec<u64>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut near = TcpStream::connect(listener.local_addr()?)?;
    let (mut far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let echo = thread::spawn(move || {
        let mut byte = [0];
        while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
    });
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = monotonic_ns();
        near.write_all(&[1])?;
        near.read_exact(&mut [0])?;
        times.push(monotonic_ns() - start);
    }
    drop(near);
    echo.join().expect("the echo thread does not panic");
    Ok(sorted(times))
}

fn sorted(mut times: Vec<u64>) -> Vec<u64> {
    times.sort_unstable();
    times
}

/// Nearest rank.
fn rank(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_nearest() {
        let values: Vec<u64> = (1..=200).collect();
        assert_eq!((rank(&values, 50), rank(&values, 99)), (100, 198));
    }

    #[test]
    fn floors_are_measured_on_any_machine() {
        let floors = measure_floors().unwrap();
        assert!(floors.loopback_round_trip_p99_ns >= floors.loopback_round_trip_p50_ns);
        assert!(floors.syscall_ns > 0 && floors.memory_read_bytes_per_s > 0);
        assert!(floors.page_cache_read_bytes_per_s > 0);
    }
}
