//! Files that change while they are searched, and a search that is interrupted.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::Value;

fn line(text: &str) -> String {
    format!("{{\"type\":\"user\",\"message\":{{\"content\":{}}}}}\n", Value::from(text))
}

/// A text whose lines have the word where their number is even.
fn large(bytes: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        let word = if number % 2 == 0 { "needle" } else { "straw" };
        text += &line(&format!("{number} {word} {}", "and so on ".repeat(number % 60)));
        if text.len() >= bytes {
            break;
        }
    }
    text
}

/// The lines with the word, by offset: where each ends, and its text.
fn lines_with_word(text: &str) -> BTreeMap<u64, (u64, String)> {
    let mut offset = 0;
    let mut lines = BTreeMap::new();
    for line in text.split_inclusive('\n') {
        let end = offset + line.len() as u64;
        if line.contains("needle") {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = value["message"]["content"].as_str().unwrap().to_owned();
            lines.insert(offset, (end, text));
        }
        offset = end;
    }
    lines
}

fn start(path: &Path, options: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jsonl-search"));
    command.args(["needle", path.to_str().unwrap(), "--limit", "all", "--output", "jsonl"]);
    command.args(options).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn hits(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Asserts that each hit is a line of the text or, repaired, the beginning of one, and that those
/// before `cut` are there; returns how many there are behind it.
fn check(output: &Output, lines: &BTreeMap<u64, (u64, String)>, cut: u64) -> usize {
    let mut left: BTreeMap<_, _> = lines.range(..).collect();
    let mut behind = 0;
    for hit in hits(output) {
        let offset = hit["offset_bytes"].as_u64().unwrap();
        let (end, text) = left.remove(&offset).unwrap_or_else(|| panic!("no such line: {hit}"));
        let found = hit["text"].as_str().unwrap();
        let is_whole = found == text && hit["repaired"] == false;
        assert!(is_whole || hit["repaired"] == true && text.starts_with(found), "{hit}");
        behind += usize::from(*end > cut);
    }
    let missed = left.iter().find(|(_, (end, _))| *end <= cut);
    assert!(missed.is_none(), "of {cut} bytes, this was missed: {missed:?}");
    behind
}

#[test]
fn a_file_that_is_cut_short_is_searched_up_to_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let text = large(12 << 20);
    let lines = lines_with_word(&text);
    let mut behind = 0;
    for round in 0..120_u64 {
        fs::write(&path, &text).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let cut = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) % text.len() as u64;
        let read = ["auto", "auto", "buffered"][round as usize % 3];
        let child = start(&path, &["--read", read]);
        sleep(Duration::from_micros(500 + round * 97 % 12_000));
        file.set_len(cut).unwrap();
        let output = child.wait_with_output().unwrap();
        // The half of a line at the end may hold the word where it can be read no more.
        let code = output.status.code();
        assert!(code.is_some_and(|code| code <= 2), "{round}: {:?}", output.status);
        behind += check(&output, &lines, cut);
    }
    println!("{behind} lines were found behind where the files were cut");
}

#[test]
fn of_a_file_that_grows_every_line_that_was_there_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let text = large(8 << 20);
    let lines = lines_with_word(&text);
    let (before, rest) = text.as_bytes().split_at(3 << 20);
    fs::write(&path, before).unwrap();
    let written = AtomicUsize::new(before.len());
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            // Of no line's length, so that the last one is half written most of the time.
            for piece in rest.chunks(1009) {
                file.write_all(piece).unwrap();
                written.fetch_add(piece.len(), Ordering::SeqCst);
                sleep(Duration::from_micros(100));
            }
            is_done.store(true, Ordering::SeqCst);
        });
        let mut rounds = 0;
        while !is_done.load(Ordering::SeqCst) || rounds == 0 {
            let there = written.load(Ordering::SeqCst) as u64;
            let read = ["auto", "mmap", "buffered"][rounds % 3];
            let output = start(&path, &["--read", read]).wait_with_output().unwrap();
            assert!(output.status.code().is_some(), "{:?}", output.status);
            check(&output, &lines, there);
            rounds += 1;
        }
    });
}

#[test]
fn a_file_that_is_replaced_is_searched_as_the_one_or_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let version = |name: &str| -> String {
        (0..60_000)
            .map(|number| line(&format!("needle {name} {number} {}", "-".repeat(99))))
            .collect()
    };
    let versions = [version("first"), version("second one")];
    fs::write(&path, &versions[0]).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1.. {
                let next = dir.path().join("next");
                fs::write(&next, &versions[number % 2]).unwrap();
                fs::rename(&next, &path).unwrap();
                if is_done.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        for round in 0..15 {
            let read = ["auto", "mmap", "buffered"][round % 3];
            let output = start(&path, &["--read", read]).wait_with_output().unwrap();
            let hits = hits(&output);
            let first = hits.iter().filter(|hit| hit["text"].as_str().unwrap().contains("first"));
            let first = first.count();
            let is_one = first == 0 || first == hits.len();
            if !(hits.len() == 60_000 && is_one && output.status.code() == Some(0)) {
                is_done.store(true, Ordering::SeqCst);
                panic!("{first} of {} {:?}", hits.len(), output.status);
            }
        }
        is_done.store(true, Ordering::SeqCst);
    });
}

/// Interrupts it once it is where it is to be, and says how long it lived on.
fn interrupt(mut child: Child, state: &str) {
    sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "{state}: ended by itself");
    let start = Instant::now();
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let status = child.wait().unwrap();
    let took = start.elapsed();
    println!("{state}: dead {:.1} ms after the signal", took.as_secs_f64() * 1e3);
    assert_eq!(status.signal(), Some(Signal::SIGINT as i32), "{state}");
    assert!(took < Duration::from_secs(3), "{state}: {took:?}");
}

#[test]
fn an_interrupt_ends_it_at_once_whatever_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    interrupt(start(&pipe, &[]), "waiting for a writer");
    let endless = {
        let pipe = pipe.clone();
        thread::spawn(move || {
            let mut file = File::create(pipe).unwrap();
            let lines = line("needle").repeat(1000);
            while file.write_all(lines.as_bytes()).is_ok() {}
        })
    };
    interrupt(start(&pipe, &[]), "reading what never ends");
    endless.join().unwrap();
    let file = dir.path().join("a.jsonl");
    fs::write(&file, large(16 << 20)).unwrap();
    interrupt(start(&file, &[]), "writing to a pipe that nobody reads");
    interrupt(start(&file, &["--sort", "path"]), "writing there while it searches");
}
