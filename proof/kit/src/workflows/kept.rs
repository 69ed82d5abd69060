//! A server that a variant's program keeps up, as the lab has it do.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lab_protocol::kept;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::under_way::below;
use super::{Finished, Variant, skipped};

/// None takes a quarter of it to start or to end.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A server of this name, and the program that keeps it up. Dropped, both are ended.
#[derive(Debug)]
pub struct Kept {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    offer: String,
}

impl Kept {
    /// Has a variant's program start a server in an empty folder. `None` where the machine does not
    /// have it, which the test says.
    ///
    /// # Panics
    /// When it does not start for another reason.
    pub fn start(variant: &Variant, name: &str, folder: &Path) -> Option<Self> {
        let mut command = variant.command();
        command.args([kept::ARGUMENT, name]).current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a built program can be started");
        let input = child.stdin.take();
        let mut offer = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        output.read_line(&mut offer).expect("an offer is text");
        let server = Self { name: name.to_owned(), child, input, offer };
        if server.offer.ends_with('\n') {
            return Some(server);
        }
        let said = server.finish().stderr;
        assert!(said.starts_with("there is no "), "{} {name}: {said}", variant.name);
        skipped(said.trim());
        None
    }

    /// All that a variant names, each below this folder.
    ///
    /// # Panics
    /// As [`Self::start`].
    pub fn all(variant: &Variant, folder: &Path) -> Option<Vec<Self>> {
        let start = |name: &String| {
            let folder = folder.join(name);
            std::fs::create_dir(&folder).expect("a temporary folder can be filled");
            Self::start(variant, name, &folder)
        };
        variant.keep_up.iter().map(start).collect()
    }

    /// The variant, told where the server is.
    #[must_use]
    pub fn offered_to(&self, variant: Variant) -> Variant {
        variant.with(&kept::variable(&self.name), Some(self.offer.trim_end()))
    }

    /// The server's process.
    ///
    /// # Panics
    /// When it has ended, or is not the only child of the program that keeps it up.
    pub fn server(&self) -> Pid {
        let process = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        let children = children.expect("the kernel lists children");
        Pid::from_raw(children.trim().parse().expect("one child"))
    }

    /// The server's process, and all below it.
    ///
    /// # Panics
    /// As [`Self::server`].
    pub fn processes(&self) -> Vec<Pid> {
        let server = self.server();
        [vec![server], below(server)].concat()
    }

    /// Ends at once the program that keeps it up.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn kill(mut self) {
        self.child.kill().expect("it has not been waited for");
        self.child.wait().expect("a child can be waited for");
    }

    /// Waits for the end of the program, whose input stays open.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn finish(mut self) -> Finished {
        let end = Instant::now() + TIME_LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            assert!(Instant::now() < end, "{} does not end", self.name);
            sleep(Duration::from_millis(5));
        };
        let mut stderr = String::new();
        let pipe = self.child.stderr.as_mut().expect("standard error is a pipe");
        pipe.read_to_string(&mut stderr).expect("messages are text");
        Finished { code: status.code(), stdout: self.offer.clone(), stderr }
    }

    /// Says that nobody wants it any more, and waits for the end of the program.
    ///
    /// # Panics
    /// As [`Self::finish`].
    pub fn end(mut self) -> Finished {
        self.input = None;
        self.finish()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.input = None;
        let end = Instant::now() + TIME_LIMIT;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
            sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a process is no more.
///
/// # Panics
/// When it still is after a minute.
pub fn gone(process: Pid) {
    let end = Instant::now() + TIME_LIMIT;
    while kill(process, None::<Signal>).is_ok() {
        assert!(Instant::now() < end, "{process} lives");
        sleep(Duration::from_millis(5));
    }
}
