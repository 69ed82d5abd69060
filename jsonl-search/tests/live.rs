//! Folders as people have them: files come while they are searched, names are no UTF-8, messages
//! hold what a terminal obeys.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use std::thread::{self, sleep};
use std::time::Duration;

use program::{ask, program};
use proof_kit::engines::skipped;
use serde_json::Value;

mod program;

fn line(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("{{\"type\":\"user\",\"message\":{{\"content\":{text}}}}}\n")
}

/// What a program writes, as bytes.
fn bytes(arguments: &[&OsStr]) -> Vec<u8> {
    program().args(arguments).output().unwrap().stdout
}

/// Asserts that each hit's file has the line that is shown.
fn check_paths(shown: &str) -> usize {
    let hits = shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut texts = BTreeMap::new();
    let check = |hit: Value| {
        let path = hit["path"].as_str().unwrap().to_owned();
        let text = texts.entry(path).or_insert_with_key(|path| fs::read_to_string(path).unwrap());
        let offset = hit["offset_bytes"].as_u64().unwrap() as usize;
        let line = text[offset..].lines().next().unwrap();
        let found: Value = serde_json::from_str(line).unwrap();
        assert_eq!(found["message"]["content"], hit["text"], "{hit}");
    };
    hits.map(check).count()
}

/// A lease on a file: whoever opens it waits until the lease is given up (fcntl(2)).
struct Lease(File);

impl Lease {
    const SETLEASE: i32 = 1024;
    const GETLEASE: i32 = 1025;
    const SETSIG: i32 = 10;
    const WRITE: i32 = 1;
    /// A signal that does nothing where nobody handles it.
    const SIGURG: i32 = 23;
    const UNLOCK: i32 = 2;

    /// `None` where the file system has no leases.
    fn on(path: &Path) -> Option<Self> {
        let lease = Self(OpenOptions::new().read(true).write(true).open(path).unwrap());
        lease.fcntl(Self::SETSIG, Self::SIGURG);
        (lease.fcntl(Self::SETLEASE, Self::WRITE) == 0).then_some(lease)
    }

    /// Waits until somebody opens the file.
    fn wait(&self) {
        while self.fcntl(Self::GETLEASE, 0) == Self::WRITE {
            sleep(Duration::from_millis(1));
        }
    }

    fn give_up(self) {
        self.fcntl(Self::SETLEASE, Self::UNLOCK);
    }

    #[expect(unsafe_code, reason = "the C library knows leases, and Rust's does not")]
    fn fcntl(&self, command: i32, argument: i32) -> i32 {
        unsafe extern "C" {
            fn fcntl(file: i32, command: i32, ...) -> i32;
        }
        // SAFETY: the descriptor is open, and these commands take a number.
        unsafe { fcntl(self.0.as_raw_fd(), command, argument) }
    }
}

#[test]
fn a_file_that_comes_between_walk_and_read_shifts_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for number in 1..=4 {
        let text = (0..9).map(|word| line(&format!("needle {number} {word}")));
        fs::write(root.join(format!("{number}.jsonl")), text.collect::<String>()).unwrap();
    }
    let Some(lease) = Lease::on(&root.join("1.jsonl")) else {
        return skipped("the folder for temporary files knows no leases");
    };
    let searching = {
        let root = root.to_str().unwrap().to_owned();
        let arguments = ["needle", "--limit", "all", "--output", "jsonl"];
        thread::spawn(move || ask(&[&arguments[..], &[&root]].concat()))
    };
    // It has walked, and waits to open the first file.
    lease.wait();
    fs::write(root.join("0.jsonl"), line("needle that came late")).unwrap();
    fs::write(root.join("2-more.jsonl"), line("needle that came late")).unwrap();
    lease.give_up();
    let finished = searching.join().unwrap();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(check_paths(&finished.stdout), 36);
}

#[test]
fn a_name_that_is_no_utf8_is_shown_and_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let names: [&[u8]; 4] = [b"a\xff.jsonl", b"a\xfe.jsonl", b"a\x1b[31m.jsonl", b"$'a'.jsonl"];
    for name in names {
        fs::write(dir.path().join(OsStr::from_bytes(name)), line("a needle")).unwrap();
    }
    let root = dir.path().as_os_str();
    let shown = bytes(&["needle".as_ref(), root]);
    for file in names {
        let path = [root.as_bytes(), b"/", file, b":0\n"].concat();
        assert!(shown.windows(path.len()).any(|window| window == path), "{file:?}");
    }
    let always = ["needle".as_ref(), root, "--escape".as_ref(), "always".as_ref()];
    let shown = String::from_utf8(bytes(&always)).unwrap();
    for file in [r"/a\xff.jsonl'", r"/a\xfe.jsonl'", r"/a\x1b[31m.jsonl'", "/$'a'.jsonl:"] {
        assert!(shown.contains(file), "{file} {shown}");
    }
    assert!(!shown.contains('\x1b'), "{shown}");
    let json = ["needle".as_ref(), root, "--output".as_ref(), "json".as_ref()];
    let whole: Value = serde_json::from_slice(&bytes(&json)).unwrap();
    let hex = |one: &Value| one["path_hex"].as_str().map(str::to_owned);
    let found: Vec<_> = whole["messages"].as_array().unwrap().iter().filter_map(hex).collect();
    let is_named = |digits: &str| found.iter().any(|hex| hex.ends_with(digits));
    assert_eq!(found.len(), 2, "{whole}");
    assert!(is_named("61ff2e6a736f6e6c") && is_named("61fe2e6a736f6e6c"), "{found:?}");
}

/// What a program writes to a terminal.
fn on_a_terminal(arguments: &[&str]) -> String {
    on_a_terminal_of("dumb", arguments)
}

fn on_a_terminal_of(kind: &str, arguments: &[&str]) -> String {
    let (mut screen, terminal) = pty();
    let output = Stdio::from(terminal);
    let mut command = program();
    command.env("TERM", kind).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    let mut child = command.args(arguments).stdout(output).spawn().unwrap();
    // The command holds the terminal's last handle, and the screen ends with it.
    drop(command);
    let mut bytes = Vec::new();
    // At the end Linux says EIO.
    let _ = screen.read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap()
}

#[expect(unsafe_code, reason = "the C library opens terminals, and Rust's does not")]
fn pty() -> (File, File) {
    unsafe extern "C" {
        fn openpty(
            screen: *mut i32,
            terminal: *mut i32,
            name: *mut u8,
            modes: *const u8,
            size: *const u8,
        ) -> i32;
    }
    let (mut screen, mut terminal) = (0, 0);
    let none = std::ptr::null();
    // SAFETY: both numbers are written where this is 0, and what is null is left out.
    let opened = unsafe { openpty(&mut screen, &mut terminal, std::ptr::null_mut(), none, none) };
    assert_eq!(opened, 0, "this machine has pseudo-terminals");
    // SAFETY: they are open, and nobody else has them.
    unsafe { (File::from_raw_fd(screen), File::from_raw_fd(terminal)) }
}

#[test]
fn a_terminal_is_shown_no_escape_sequences_and_a_pipe_gets_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let evil = "needle \x1b]0;title\x07 \u{9b}31m \u{202e}txt.exe\rover \u{7f}\tend";
    fs::write(dir.path().join("a\x1b[2J.jsonl"), line(evil)).unwrap();
    let root = dir.path().to_str().unwrap();
    let is_obeyed = |letter: char| letter.is_control() && !"\n\t".contains(letter);
    let shown = on_a_terminal(&["needle", root]);
    // The terminal itself writes lines' ends as two.
    let shown = shown.replace("\r\n", "\n");
    assert!(!shown.contains(is_obeyed) && !shown.contains('\u{202e}'), "{shown:?}");
    assert!(shown.contains(r"needle \u{1b}]0;title\u{7} \u{9b}31m"), "{shown:?}");
    assert!(shown.contains(r"/a\x1b[2J.jsonl':0"), "{shown:?}");
    let piped = ask(&["needle", root]).stdout;
    assert!(piped.contains(evil) && piped.contains("/a\x1b[2J.jsonl:0"), "{piped:?}");
    assert!(on_a_terminal(&["needle", root, "--escape", "never"]).contains('\x1b'));
    for output in ["json", "jsonl"] {
        let json = ask(&["needle", root, "--output", output]).stdout;
        assert!(!json.trim_end().contains(is_obeyed), "{json:?}");
        let value: Value = serde_json::from_str(&json).unwrap();
        let message = if output == "json" { &value["messages"][0] } else { &value };
        assert_eq!(message["text"], evil);
    }
}

#[test]
fn a_terminal_that_is_not_dumb_has_colours_and_links() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jsonl"), line("needle \x1b[5m")).unwrap();
    let root = dir.path().to_str().unwrap();
    let shown = on_a_terminal_of("xterm-256color", &["needle", root]);
    assert!(shown.contains("\x1b[1;31mneedle\x1b[0m \\u{1b}[5m"), "{shown:?}");
    assert!(shown.contains("\x1b]8;;file://") && shown.contains("\x1b[35m"), "{shown:?}");
}

#[test]
fn a_byte_order_mark_hides_no_message() {
    let dir = tempfile::tempdir().unwrap();
    let text = "\u{feff}".to_owned() + &line("needle one") + &line("needle two");
    fs::write(dir.path().join("a.jsonl"), text).unwrap();
    let root = dir.path().to_str().unwrap();
    let arguments = ["needle", root, "--output", "json"];
    let whole: Value = serde_json::from_str(&ask(&arguments).stdout).unwrap();
    assert_eq!(whole["matches"], 2, "{whole}");
    assert_eq!(whole["messages"][0]["text"], "needle one");
    assert_eq!(whole["lines_unreadable"], 0);
    assert_eq!(whole["lines_repaired"], 0);
}

#[test]
fn a_path_that_is_not_there_is_named_and_the_others_are_searched() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jsonl"), line("needle")).unwrap();
    let root = dir.path().to_str().unwrap();
    let finished = ask(&["needle", "no/such/folder", root]);
    assert_eq!(finished.code, Some(2));
    assert!(finished.stdout.contains("a.jsonl:0\n  needle\n"));
    let named = "no/such/folder: No such file or directory";
    assert!(finished.stderr.contains(named), "{}", finished.stderr);
}

#[test]
fn threads_and_reads_change_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let lines: String = (0..40_000).map(|number| line(&format!("needle {number}"))).collect();
    assert!(lines.len() > 2 << 20, "large enough to be mapped");
    fs::write(dir.path().join("a.jsonl"), &lines).unwrap();
    fs::write(dir.path().join("b.jsonl"), line("needle last")).unwrap();
    let root = dir.path().to_str().unwrap();
    let all = ["needle", root, "--limit", "all", "--output", "jsonl", "--threads", "1"];
    let expected = ask(&all);
    assert_eq!(check_paths(&expected.stdout), 40_001, "{}", expected.stderr);
    for read in ["auto", "buffered", "mmap"] {
        let finished = ask(&[&all[..], &["--read", read]].concat());
        assert_eq!(finished.stdout, expected.stdout, "{read}");
    }
    // As many as its command line lets it keep as lines, and as it then shows.
    let few = ask(&[&all[..3], &["100"], &all[4..]].concat());
    assert!(expected.stdout.starts_with(&few.stdout) && few.stdout.lines().count() == 100);
}
