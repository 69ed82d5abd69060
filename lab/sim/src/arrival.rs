//! When the bytes of a request were there: the kernel stamps them as they come, before any thread
//! of the server has been woken.

use std::io::{IoSliceMut, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::sys::socket::{
    Backlog, ControlMessageOwned, MsgFlags, listen, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use crate::clock::now_ns;

/// A connection that says nothing for this long is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// A request that has not arrived whole by then is given up.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The stamp is a date. One that is farther back than a request may wait tells that the date was
/// set meanwhile.
const STAMP_AGE_MAX: Duration = Duration::from_secs(60);

/// Readies a listener for many clients at once: as long a queue as the kernel allows, where the
/// standard library asks for 128, and stamps on what its connections receive.
///
/// # Errors
/// What the kernel says where it refuses the queue.
pub(crate) fn prepare(listener: &TcpListener) -> nix::Result<()> {
    // Connections inherit it.
    stamp(listener);
    listen(listener, Backlog::MAXALLOWABLE)
}

/// Has the kernel stamp what a socket receives. Without stamps the times are those of reading.
pub(crate) fn stamp(socket: &impl AsFd) {
    let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
}

/// The two clocks are read this often, and count where they were read closest together: a thread
/// may lose its processor in between.
const CLOCK_READINGS: usize = 3;

/// A socket of which a whole request must have come within [`REQUEST_TIMEOUT`] of its first byte,
/// however it drips.
pub(crate) struct Patient<'a> {
    socket: &'a TcpStream,
    /// When the request that is being read began.
    pub(crate) began: Option<Instant>,
    /// When the bytes that were read last had come, on [`now_ns`]'s clock.
    pub(crate) arrived_ns: u64,
}

impl<'a> Patient<'a> {
    pub(crate) fn new(socket: &'a TcpStream) -> Self {
        Self { socket, began: None, arrived_ns: now_ns() }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = match self.began {
            Some(began) => REQUEST_TIMEOUT.saturating_sub(began.elapsed()),
            None => IDLE_TIMEOUT,
        };
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.socket.set_read_timeout(Some(left))?;
        let mut space = nix::cmsg_space!(TimeSpec);
        let mut parts = [IoSliceMut::new(buffer)];
        let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::empty());
        let received = recvmsg::<()>(fd, &mut parts, Some(&mut space), flags)?;
        let mut notes = received.cmsgs()?;
        let stamp = notes.find_map(|note| match note {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
            _ => None,
        });
        self.arrived_ns = monotonic_ns(stamp);
        self.began.get_or_insert_with(Instant::now);
        Ok(received.bytes)
    }
}

/// A date on the other clock; now, where there is no date or it cannot be.
fn monotonic_ns(stamp: Option<Duration>) -> u64 {
    let Some(stamp) = stamp else { return now_ns() };
    let (now, date) = (0..CLOCK_READINGS)
        .map(|_| {
            let before = now_ns();
            let date = clock_gettime(ClockId::CLOCK_REALTIME).map_or(Duration::ZERO, Into::into);
            let after = now_ns();
            (after - before, before + (after - before) / 2, date)
        })
        .min_by_key(|(apart_ns, ..)| *apart_ns)
        .map_or((now_ns(), Duration::ZERO), |(_, now, date)| (now, date));
    match date.checked_sub(stamp) {
        Some(age) if age <= STAMP_AGE_MAX => now.saturating_sub(age.as_nanos() as u64),
        _ => now,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::Ipv4Addr;
    use std::thread;

    use super::*;

    #[test]
    fn hundreds_of_clients_connect_before_anybody_is_accepted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        prepare(&listener).unwrap();
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let clients = most.trim().parse::<usize>().unwrap().min(600);
        let address = listener.local_addr().unwrap();
        // The kernel drops what its queue does not hold, and the client would try for minutes.
        let patience = Duration::from_secs(20);
        let connect = |_| TcpStream::connect_timeout(&address, patience).unwrap();
        let connected: Vec<TcpStream> = (0..clients).map(connect).collect();
        assert_eq!(connected.len(), clients);
    }

    #[test]
    fn a_request_is_as_old_as_its_bytes_not_as_its_reading() {
        // The kernel begins to stamp a little after it was asked to.
        assert!((0..20).any(|_| is_as_old_as_its_bytes()), "reading was taken for coming");
    }

    fn is_as_old_as_its_bytes() -> bool {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        prepare(&listener).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let before = now_ns();
        client.write_all(b"hi").unwrap();
        let after = now_ns();
        // It is read much later than it came.
        thread::sleep(Duration::from_millis(400));
        let (socket, _) = listener.accept().unwrap();
        let mut patient = Patient::new(&socket);
        assert_eq!(patient.read(&mut [0; 8]).unwrap(), 2);
        let half_ns = (now_ns() - after) / 2;
        assert!(patient.arrived_ns > before.saturating_sub(half_ns), "{}", patient.arrived_ns);
        patient.arrived_ns < after + half_ns
    }

    #[test]
    fn a_date_that_cannot_be_counts_as_now() {
        let before = now_ns();
        assert!(monotonic_ns(None) >= before);
        assert!(monotonic_ns(Some(Duration::from_secs(1))) >= before);
        assert!(monotonic_ns(Some(Duration::from_secs(1 << 40))) >= before);
    }
}
