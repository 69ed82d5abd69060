//! A program that reads what strangers wrote is held: it writes into one folder alone, opens no TCP
//! connection and starts no other program. The kernel sees to that, by Landlock, or bubblewrap
//! does; where there is neither, the program runs as it is, and `lab doctor` says so.

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt::{self, Display, Formatter},
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::{Answer, Limits, Run, Unfinished};

/// What is asked of the kernel; an older one sees to as much of it as it knows.
const RULES: ABI = ABI::V6;
/// The first one that knows of TCP.
const WITH_NETWORK: ABI = ABI::V4;
/// Headers and the name of a loader are no longer.
const LOADER_BYTES_MAX: u64 = 4096;

/// What holds a program here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// The kernel, connections included.
    Landlock,
    /// A kernel that knows of files alone.
    LandlockFiles,
    /// bubblewrap: a file system that cannot be written, and no network.
    Bubblewrap,
    /// Nobody.
    Nothing,
}

impl Display for Hold {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Landlock => {
                "gnuplot is held by Landlock: it writes into its own folder alone and opens no TCP \
                 connection"
            }
            Self::LandlockFiles => {
                "gnuplot is held by Landlock: it writes into its own folder alone; this kernel \
                 leaves it the network, bubblewrap would not"
            }
            Self::Bubblewrap => {
                "gnuplot is held by bubblewrap: it writes into its own folder alone and has no \
                 network"
            }
            Self::Nothing => {
                "gnuplot is not held: this kernel has no Landlock, and bubblewrap is not installed \
                 or does not work"
            }
        })
    }
}

impl Hold {
    /// What there is on this machine, tried once.
    pub fn here() -> Self {
        static HERE: OnceLock<Hold> = OnceLock::new();
        *HERE.get_or_init(|| match landlock() {
            Some(abi) if abi >= WITH_NETWORK => Self::Landlock,
            _ if has_bubblewrap() => Self::Bubblewrap,
            Some(_) => Self::LandlockFiles,
            None => Self::Nothing,
        })
    }

    /// Runs a command that may write into `folder` alone, which is its working directory.
    pub fn ask(self, run: Run, folder: &Path, limits: Limits) -> Result<Answer, Unfinished> {
        let run = Run { directory: Some(folder.to_owned()), ..run };
        match self {
            Self::Landlock | Self::LandlockFiles => ask_under_landlock(run, folder, limits),
            Self::Bubblewrap => in_bubblewrap(run, folder).ask(limits),
            Self::Nothing => run.ask(limits),
        }
    }
}

/// What of Landlock is in force where it is asked for; a thread tries that and is gone.
fn landlock() -> Option<ABI> {
    let tried = thread::spawn(|| restrict(Path::new("/"), &[PathBuf::from("/")])).join();
    let status = tried.ok()?.ok()?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if is_enforced(&status) => {
            Some(effective_abi)
        }
        _ => None,
    }
}

fn is_enforced(status: &RestrictionStatus) -> bool {
    status.ruleset != RulesetStatus::NotEnforced
}

/// The rules concern the thread that asks for them, and what it starts.
fn ask_under_landlock(run: Run, folder: &Path, limits: Limits) -> Result<Answer, Unfinished> {
    let programs = needed(Path::new(&run.argv[0]));
    let refused = |why: String| Unfinished::CannotStart(io::Error::other(why));
    let held = || match restrict(folder, &programs) {
        Ok(status) if is_enforced(&status) => run.ask(limits),
        Ok(_) => Err(refused("Landlock, which worked before, does nothing".to_owned())),
        Err(error) => Err(refused(format!("Landlock: {error}"))),
    };
    thread::scope(|scope| scope.spawn(held).join())
        .unwrap_or_else(|_| Err(refused("the thread that holds it failed".to_owned())))
}

/// From here on this thread and what it starts write into `folder` alone, open no TCP connection
/// and start no program but these files, or those below these folders.
fn restrict(folder: &Path, programs: &[PathBuf]) -> Result<RestrictionStatus, RulesetError> {
    let writing = AccessFs::from_write(RULES);
    Ruleset::default()
        .handle_access(writing | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(RULES))?
        .scope(Scope::from_all(RULES))?
        .create()?
        .add_rules(path_beneath_rules([folder], writing))?
        .add_rules(path_beneath_rules(["/dev/null"], AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(programs, AccessFs::Execute))?
        .restrict_self()
}

/// The program with its loader. Where it is a script, as Nix makes it, it needs others, and may
/// start all.
fn needed(program: &Path) -> Vec<PathBuf> {
    match loader(program) {
        Some(loader) => vec![program.to_owned(), loader],
        None => vec![PathBuf::from("/")],
    }
}

/// The loader that a 64-bit ELF program names in its headers, in the order of bytes of all machines
/// that the lab runs on.
fn loader(program: &Path) -> Option<PathBuf> {
    const INTERPRETER: u64 = 3;
    let file = File::open(program).ok()?;
    let number = |at: u64, bytes: usize| {
        let mut all = [0; 8];
        file.read_exact_at(all.get_mut(..bytes)?, at).ok()?;
        Some(u64::from_le_bytes(all))
    };
    // The magic number, then 64 bits, then little-endian.
    if number(0, 6)? != u64::from_le_bytes(*b"\x7fELF\x02\x01\0\0") {
        return None;
    }
    let (headers, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    let mut starts = (0..count).filter_map(|header| headers.checked_add(header * size));
    let header = starts.find(|start| number(*start, 4) == Some(INTERPRETER))?;
    let (at, length) = (number(header.checked_add(8)?, 8)?, number(header.checked_add(32)?, 8)?);
    let mut name = vec![0; usize::try_from(length.min(LOADER_BYTES_MAX)).ok()?];
    file.read_exact_at(&mut name, at).ok()?;
    let name = String::from_utf8(name).ok()?;
    Some(PathBuf::from(name.trim_end_matches('\0')))
}

fn has_bubblewrap() -> bool {
    let Some(nothing) = found("true") else { return false };
    let run = in_bubblewrap(Run::of(nothing, [""; 0]), Path::new("/tmp"));
    run.ask(Limits::QUESTION).is_ok_and(|answer| answer.status.success())
}

/// The command in a file system that is this one, read-only but for the folder, without a network.
fn in_bubblewrap(run: Run, folder: &Path) -> Run {
    let folder = folder.as_os_str();
    let before = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind"];
    let places = [folder, folder, OsStr::new("--chdir"), folder];
    let after = ["--unshare-net", "--unshare-pid", "--new-session", "--die-with-parent", "--"];
    let held = before.map(OsStr::new).into_iter().chain(places).chain(after.map(OsStr::new));
    let Run { argv, .. } = Run::of("bwrap", held.chain(run.argv.iter().map(OsString::as_os_str)));
    Run { argv, ..run }
}

/// The file that the shell would start by this name.
pub fn found(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let file =
        env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file());
    std::path::absolute(file?).ok()
}

#[cfg(test)]
mod tests {
    use std::{fs, net::TcpListener, time::Duration};

    use proof_kit::Attack;

    use super::*;

    const LIMITS: Limits = Limits { time: Duration::from_secs(60), output_bytes: 1 << 16 };

    /// What can hold a program here, whatever the lab prefers.
    fn holds() -> Vec<Hold> {
        let landlock = landlock().map(|abi| match abi >= WITH_NETWORK {
            true => Hold::Landlock,
            false => Hold::LandlockFiles,
        });
        let bubblewrap = has_bubblewrap().then_some(Hold::Bubblewrap);
        let holds: Vec<Hold> = landlock.into_iter().chain(bubblewrap).collect();
        if holds.is_empty() {
            eprintln!("SKIPPED: {}", Hold::Nothing);
        }
        holds
    }

    /// A shell that may start every program, as a script that Nix makes has to.
    fn shell(hold: Hold, script: &str, folder: &Path) -> Answer {
        let file = folder.join("script");
        fs::write(&file, format!("{script}\n")).unwrap();
        let run = Run::of(found("bash").unwrap(), [&file]);
        let run = Run { directory: Some(folder.to_owned()), ..run };
        let held = || {
            if hold == Hold::Bubblewrap {
                return hold.ask(run, folder, LIMITS);
            }
            restrict(folder, &[PathBuf::from("/")]).unwrap();
            run.ask(LIMITS)
        };
        thread::scope(|scope| scope.spawn(held).join()).unwrap().unwrap()
    }

    #[test]
    fn what_is_held_writes_into_its_folder_alone() {
        let world = tempfile::tempdir().unwrap();
        let (own, outside) = (world.path().join("own"), world.path().join("outside"));
        for folder in [&own, &outside] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(outside.join("theirs"), "theirs").unwrap();
        let out = outside.display();
        for script in [
            format!("echo >{out}/made"),
            format!("echo >>{out}/theirs"),
            format!("mkdir {out}/made"),
            format!("rm -f {out}/theirs"),
            format!("mv {out}/theirs {out}/moved"),
            format!("ln -s theirs {out}/link"),
            format!("ln {out}/theirs {out}/hard"),
            format!("mkfifo {out}/pipe"),
            format!("ln -s {out}/made link; echo >link"),
            format!("ln -s {out} below; echo >below/made"),
            format!("(setsid bash -c 'echo >{out}/made') & wait"),
            format!("cp script {out}/made"),
            "echo >../outside/made".to_owned(),
            "echo >/proc/self/cwd/../outside/made".to_owned(),
        ] {
            for hold in holds() {
                let shown = script.replace(&out.to_string(), "OUT");
                let _attack = Attack::on("programs", &format!("{hold:?}, outside: {shown}"));
                shell(hold, &script, &own);
                let left: Vec<_> = fs::read_dir(&outside).unwrap().map(Result::unwrap).collect();
                assert_eq!(left.len(), 1, "{script}: {left:?}");
                let theirs = fs::read_to_string(outside.join("theirs")).unwrap();
                assert_eq!(theirs, "theirs", "{script}");
            }
        }
        for hold in holds() {
            let script = "echo 1 >made && mkdir -p a && cat script >a/b && cat made";
            assert_eq!(shell(hold, script, &own).stdout, b"1\n", "{hold:?}");
        }
    }

    #[test]
    fn what_is_held_reaches_nobody_by_tcp() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        for script in [
            format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"),
            format!("setsid bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached'"),
        ] {
            for hold in holds().into_iter().filter(|hold| *hold != Hold::LandlockFiles) {
                let shown = script.replace(&port.to_string(), "PORT");
                let _attack = Attack::on("programs", &format!("{hold:?}, a connection: {shown}"));
                assert_eq!(shell(hold, &script, folder.path()).stdout, b"", "{script}");
                assert!(listener.accept().is_err(), "{script}");
            }
        }
    }

    #[test]
    fn a_program_starts_no_other_one() {
        let folder = tempfile::tempdir().unwrap();
        let hold = Hold::here();
        if !matches!(hold, Hold::Landlock | Hold::LandlockFiles) {
            return eprintln!("SKIPPED: {hold}");
        }
        let bash = found("bash").unwrap();
        for script in ["/bin/echo started", "exec /bin/echo started", "$(type -P env) echo started"]
        {
            let _attack = Attack::on("programs", &format!("another program: {script}"));
            let run = Run::of(&bash, ["-c", script]);
            let said = hold.ask(run, folder.path(), LIMITS).unwrap();
            assert!(!said.status.success() && said.stdout.is_empty(), "{script}: {said:?}");
        }
        let run = Run::of(&bash, ["-c", "echo itself >file; pwd -P"]);
        let said = hold.ask(run, folder.path(), LIMITS).unwrap();
        assert!(said.status.success() && folder.path().join("file").exists(), "{said:?}");
    }

    #[test]
    fn loaders_are_read_from_headers() {
        let folder = tempfile::tempdir().unwrap();
        let loader_of = |bytes: &[u8]| {
            let file = folder.path().join("program");
            fs::write(&file, bytes).unwrap();
            loader(&file)
        };
        let bash = fs::read(found("bash").unwrap()).unwrap();
        assert!(loader_of(&bash).unwrap().is_file());
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF\x02\x01", &[b'\x7f'; 64]] {
            assert_eq!(loader_of(bytes), None, "{bytes:?}");
        }
        // Headers that lie somewhere else, or are many and long.
        for (at, with) in [(0x20, [0xff; 8]), (0x36, [0xff; 8]), (0x20, [0; 8])] {
            let mut bytes = bash[..4096].to_vec();
            bytes[at..at + 8].copy_from_slice(&with);
            assert_eq!(loader_of(&bytes), None, "{at:x}");
        }
    }
}
