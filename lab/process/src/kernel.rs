//! What the kernel knows of a process: two system calls that have no safe wrapper in our crates,
//! and `/proc`.

use std::{
    fs, io,
    mem::MaybeUninit,
    os::fd::{FromRawFd, OwnedFd, RawFd},
    time::Duration,
};

use nix::libc;

use crate::Ended;

/// What the kernel counted of a process and of its children that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// CPU time outside the kernel.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// The largest resident set of any of them. A process starts in its parent's memory, so that
    /// what the lab itself needs is the least that this can show.
    pub peak_rss_bytes: u64,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Times it waited for something.
    pub voluntary_switches: u64,
    /// Times it had to make room for another.
    pub involuntary_switches: u64,
    /// Blocks of 512 bytes read from disks.
    pub blocks_in: u64,
    /// Blocks of 512 bytes written to disks.
    pub blocks_out: u64,
}

/// Bytes that a process, and the children that it waited for, read and wrote: from files, pipes,
/// terminals and the page cache alike. What went to or came from disks is in [`Usage`]: the kernel
/// has one count for both of its names (`read_bytes`, and `ru_inblock` in blocks of 512 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfers {
    /// `rchar` of proc_pid_io(5).
    pub read: u64,
    /// `wchar` of proc_pid_io(5).
    pub written: u64,
}

/// Of a process that is running, or has ended and was not waited for yet; `None` where the kernel
/// does not tell (`CONFIG_TASK_IO_ACCOUNTING`).
pub fn transfers(process: u32) -> Option<Transfers> {
    let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    let field = |name: &str| {
        let mut values =
            text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        values.next()?.parse().ok()
    };
    Some(Transfers { read: field("rchar")?, written: field("wchar")? })
}

/// A descriptor that is readable when the process has ended.
pub(crate) fn descriptor(process: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers, and a descriptor that it gives is ours alone.
    #[expect(unsafe_code, reason = "a system call without a wrapper")]
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, process, 0);
        let fd = RawFd::try_from(fd).ok().filter(|fd| *fd >= 0);
        fd.map(|fd| OwnedFd::from_raw_fd(fd)).ok_or_else(io::Error::last_os_error)
    }
}

/// Waits for a child that has ended or has been told to.
pub(crate) fn wait(process: u32) -> io::Result<(Ended, Usage)> {
    wait_for(process, 0).map(|ended| ended.expect("it is waited for until it has ended"))
}

/// The same of a child that has ended; `None` of one that has not.
pub(crate) fn wait_if_ended(process: u32) -> io::Result<Option<(Ended, Usage)>> {
    wait_for(process, libc::WNOHANG)
}

fn wait_for(process: u32, how: libc::c_int) -> io::Result<Option<(Ended, Usage)>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live memory of the types that the call writes, and all
        // zeros are an rusage.
        #[expect(unsafe_code, reason = "nix has wait4 without its usage")]
        let (waited, usage) = unsafe {
            let waited =
                libc::wait4(process.cast_signed(), &raw mut status, how, usage.as_mut_ptr());
            (waited, usage.assume_init())
        };
        match waited {
            0 => return Ok(None),
            1.. => return Ok(Some((ended(status), read(&usage)))),
            _ => {}
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn ended(status: i32) -> Ended {
    match libc::WIFSIGNALED(status) {
        true => Ended::Signalled(libc::WTERMSIG(status)),
        false => Ended::Exited(libc::WEXITSTATUS(status)),
    }
}

fn read(usage: &libc::rusage) -> Usage {
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let time = |time: libc::timeval| {
        Duration::from_secs(count(time.tv_sec)) + Duration::from_micros(count(time.tv_usec))
    };
    Usage {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        peak_rss_bytes: count(usage.ru_maxrss) * 1024,
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        blocks_in: count(usage.ru_inblock),
        blocks_out: count(usage.ru_oublock),
    }
}
