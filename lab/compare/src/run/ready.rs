//! Waiting until what was started answers: `--ready`.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs},
    path::PathBuf,
    slice,
    sync::{
        atomic::Ordering,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use lab_console::{Failure, plain, streams};
use lab_process::{Ended, Run};

use super::{
    commands::{Command, for_each, in_shell},
    failing::{NOT_FOUND, broken, excerpt, told},
    runner::{Runner, Stopped},
};

/// Without --timeout.
const WAITS_MOST: Duration = Duration::from_secs(30);
/// Once all that was started has ended: something else may have taken over.
const WAITS_FOR_NOTHING: Duration = Duration::from_secs(2);
/// After which --setup is said to run.
const SETUP_LONG: Duration = Duration::from_secs(10);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);
/// For one connection.
const CONNECTS_MOST: Duration = Duration::from_secs(1);

/// What has to answer.
enum Ready {
    /// By accepting a connection, at a port of this machine or at HOST:PORT.
    At(Vec<String>, u16),
    /// By ending with status 0.
    By(String),
}

impl Ready {
    fn named(text: &str) -> Result<Self, Failure> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_host = |host: &str| {
            let is_part = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
            !host.is_empty() && host.bytes().all(is_part)
        };
        let (hosts, port) = match text.rsplit_once(':') {
            _ if is_number(text) => {
                (vec![Ipv4Addr::LOCALHOST.to_string(), Ipv6Addr::LOCALHOST.to_string()], text)
            }
            Some((host, port)) if is_host(host) && is_number(port) => {
                (vec![host.trim_matches(['[', ']']).to_owned()], port)
            }
            _ => return Ok(Self::By(text.to_owned())),
        };
        match port.parse() {
            Ok(port) if port > 0 => Ok(Self::At(hosts, port)),
            _ => Err(Failure::input(format!("--ready {text}: give a port from 1 to 65535"))),
        }
    }

    /// Tries its addresses; `None` of a command.
    fn connect(&self) -> Option<io::Result<()>> {
        let Self::At(hosts, port) = self else { return None };
        let tries = || hosts.iter().map(|host| connect(host, *port));
        tries().find(Result::is_ok).or_else(|| tries().next())
    }
}

/// What was not done, and why, where something was not.
type WhyNot = Option<(&'static str, String)>;

impl Runner<'_> {
    /// Runs --setup, and says after a while that it still runs: a server that is not left in the
    /// background never ends.
    pub(super) fn set_up_by(&self, text: &str) -> Result<(), Stopped> {
        let (ended, waits) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                if waits.recv_timeout(SETUP_LONG) == Err(RecvTimeoutError::Timeout) {
                    let text = named(text);
                    streams::tell(format_args!(
                        "note: --setup {text} still runs; a server needs & after it"
                    ));
                }
            });
            let ran = self.helper("--setup", text);
            drop(ended);
            ran
        })
    }

    /// Looks before --setup: refuses what cannot be waited for, and returns sentences about ports
    /// at which another program answers already.
    pub(super) fn ready_before(&self) -> Result<Vec<String>, Failure> {
        let mut sentences = Vec::new();
        for text in self.waited_for(&self.commands) {
            let ready = Ready::named(&text)?;
            if self.options.setup.is_some() && ready.connect().is_some_and(|it| it.is_ok()) {
                sentences.push(format!("{text} answered before --setup: another program has it"));
            }
        }
        Ok(sentences)
    }

    fn waited_for(&self, commands: &[Command]) -> Vec<String> {
        self.options.ready.iter().flat_map(|text| for_each(text, commands)).collect()
    }

    /// Waits after --setup, or where there is nothing to wait after.
    pub(super) fn ready_once(&self) -> Result<(), Stopped> {
        let is_once = self.options.setup.is_some() || self.options.prepare.is_empty();
        if is_once { self.wait("--setup", &self.commands) } else { Ok(()) }
    }

    /// Waits after --prepare, where no --setup has started what answers.
    pub(super) fn ready_each(&self, command: &Command) -> Result<(), Stopped> {
        match self.options.setup {
            Some(_) => Ok(()),
            None => self.wait("--prepare", slice::from_ref(command)),
        }
    }

    fn wait(&self, after: &str, commands: &[Command]) -> Result<(), Stopped> {
        let waited_for = self.waited_for(commands);
        waited_for.iter().try_for_each(|text| self.wait_for(text, after))
    }

    fn wait_for(&self, text: &str, after: &str) -> Result<(), Stopped> {
        let (ready, start) = (Ready::named(text)?, Instant::now());
        let most = self.timeout().unwrap_or(WAITS_MOST);
        let (mut nothing_since, mut last): (Option<Instant>, _) = (None, String::new());
        loop {
            let left = most.saturating_sub(start.elapsed());
            let Some((what, why)) = self.why_not(&ready, left)? else { return Ok(()) };
            // The last try may be cut off before it says anything.
            last = if why.is_empty() { last } else { why };
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(Stopped::Interrupted);
            }
            nothing_since = match self.orphans.have_ended() {
                true => nothing_since.or_else(|| Some(Instant::now())),
                false => None,
            };
            let is_dead = nothing_since.is_some_and(|since| since.elapsed() > WAITS_FOR_NOTHING);
            if is_dead || start.elapsed() >= most {
                let (text, s) = (named(text), start.elapsed().as_secs_f64());
                let rest = nothing_since.map_or_else(String::new, |_| self.last_of(after));
                let sentence = format!("--ready {text} {what} within {s:.1} s{last}{rest}");
                return Err(Failure::failed(sentence).into());
            }
            thread::sleep(PAUSE);
        }
    }

    /// What it did not do, and why; `None` where it answers.
    fn why_not(&self, ready: &Ready, left: Duration) -> Result<WhyNot, Stopped> {
        match (ready, ready.connect()) {
            (Ready::By(text), _) => self.why_status(text, left),
            (Ready::At(..), Some(Err(error))) => {
                Ok(Some(("accepted no connection", format!(": {error}"))))
            }
            (Ready::At(..), _) => Ok(None),
        }
    }

    fn why_status(&self, text: &str, left: Duration) -> Result<WhyNot, Stopped> {
        let errors = self.errors_of("--ready");
        let argv = in_shell(text, self.options.shell.name());
        let run = Run { argv, errors: Some(errors.clone()), timeout: Some(left), ..Run::default() };
        match run.execute(self.interrupted).map_err(broken)?.ended {
            Ended::Exited(0) => Ok(None),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended @ Ended::Exited(NOT_FOUND) => {
                let (told, last) = (told(ended, None), excerpt(&errors));
                Err(Failure::input(format!("--ready {} {told}{last}", named(text))).into())
            }
            _ => Ok(Some(("did not end with status 0", excerpt(&errors)))),
        }
    }

    /// Where an option's command complains. Each has its own: a server may still write to it.
    pub(super) fn errors_of(&self, option: &str) -> PathBuf {
        self.folder.join(format!("errors{option}"))
    }

    /// That nothing is left that could answer, with its last words.
    fn last_of(&self, after: &str) -> String {
        let last = excerpt(&self.errors_of(after));
        format!("; what {after} left running has ended{last}")
    }
}

/// In a sentence.
fn named(text: &str) -> String {
    format!("`{}`", plain::line(text))
}

fn connect(host: &str, port: u16) -> io::Result<()> {
    let mut last = io::Error::other("the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match connect_to(address) {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn connect_to(address: SocketAddr) -> io::Result<()> {
    let stream = TcpStream::connect_timeout(&address, CONNECTS_MOST)?;
    // Where nobody listens, the port that the system draws for our end may be the same.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_hosts_are_told_from_commands() {
        let read = |text: &str| match Ready::named(text) {
            Ok(Ready::At(hosts, port)) => format!("{} {port}", hosts.join(" ")),
            Ok(Ready::By(command)) => command,
            Err(failure) => failure.sentence,
        };
        assert_eq!(read("8080"), "127.0.0.1 ::1 8080");
        assert_eq!(read("localhost:80"), "localhost 80");
        assert_eq!(read("[::1]:80"), "::1 80");
        for command in ["curl -f http://localhost:80", "./up.sh", "true", "a b:80", ":80", "a:"] {
            assert_eq!(read(command), command);
        }
        for text in ["0", "65536", "localhost:0"] {
            assert_eq!(read(text), format!("--ready {text}: give a port from 1 to 65535"));
        }
    }
}
