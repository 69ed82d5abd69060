//! What has no end, unpacks to gigabytes or is named a thousand times, given to every command that
//! reads it: one sentence, in bounded memory.

mod plain;
mod unchained;

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use lab_record::{Results, Run, RunFile, SCHEMA, Samples, Writer, sha256_hex};
use nix::{sys::stat::Mode, unistd::mkfifo};
use plain::unpack;
use proof_kit::Attack;
use serde_json::json;
use tempfile::TempDir;

/// Of the address space of a command, in KiB: far less than what is attacked with would take.
const MEMORY_KIB: u32 = 700_000;
/// The limit that is given, 4 MiB.
const MAX_BYTES: &str = "4194304";
const GIB: u64 = 1 << 30;

fn root() -> PathBuf {
    std::path::absolute(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The command in a folder, with so much memory and no more.
fn within(memory_kib: u32, folder: &Path, args: &[&str]) -> Command {
    let mut lab = Command::new("sh");
    lab.args(["-c", &format!("ulimit -v {memory_kib}; exec \"$0\" \"$@\"")]);
    lab.arg(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap()).args(args);
    lab.env_remove("BUILD_WORKSPACE_DIRECTORY").current_dir(folder).stdin(Stdio::null());
    lab
}

fn lab(folder: &Path, args: &[&str]) -> Output {
    within(MEMORY_KIB, folder, args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    unpack(to);
}

/// A report as it was committed, of less than 4 MiB a file.
fn committed(folder: &Path) -> PathBuf {
    let report = folder.join("r");
    copy(&root().join("reports/offload-wake"), &report);
    report
}

/// A frame of zstd that unpacks to so many bytes, all the same: four bytes for each 128 KiB.
fn bomb(byte: u8, bytes: u64) -> Vec<u8> {
    const BLOCK_BYTES: u32 = 1 << 17;
    // The magic, no checksum, a window of 128 KiB.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38];
    let blocks = bytes.div_ceil(u64::from(BLOCK_BYTES));
    for number in 1..=blocks {
        // A block that repeats one byte, and whether it is the last.
        let head = BLOCK_BYTES << 3 | 1 << 1 | u32::from(number == blocks);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(byte);
    }
    frame
}

fn replace(file: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(file);
    fs::write(file, bytes).unwrap();
}

/// So many bytes of nothing, which take no room on the disk.
fn hollow(file: &Path, bytes: u64) {
    let _ = fs::remove_file(file);
    File::create(file).unwrap().set_len(bytes).unwrap();
}

#[track_caller]
fn refused(output: &Output, code: i32, expected: &str) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(expected), "{said}");
    let errors = String::from_utf8_lossy(&output.stderr);
    let sentences = errors.lines().filter(|line| !line.contains(": unchained, "));
    assert_eq!(sentences.count(), 1, "{said}");
}

const READERS: [&[&str]; 4] = [
    &["report", "r", "--check", "--max-bytes", MAX_BYTES],
    &["report", "r", "--out", "out", "--max-bytes", MAX_BYTES],
    &["export", "r", "out", "--max-bytes", MAX_BYTES],
    &["export", "r", "--csv", "--max-bytes", MAX_BYTES],
];

#[test]
fn a_packed_file_is_not_unpacked_beyond_the_limit() {
    for (name, byte) in [
        ("rows.pack.zst", b' '),
        ("rows.pack.zst", b'['),
        ("samples.pack.zst", b' '),
        ("samples.pack.zst", b'0'),
    ] {
        let world = TempDir::new().unwrap();
        replace(&committed(world.path()).join(name), &bomb(byte, 2 * GIB));
        for reader in READERS {
            let what = format!("{reader:?}: {name} of 2 GiB of {:?}", char::from(byte));
            let _attack = Attack::on("memory", &what);
            refused(&lab(world.path(), reader), 4, "holds more than 4 MiB; it is not read");
            assert!(!world.path().join("out").exists());
        }
    }
    let _attack = Attack::on("memory", "a frame that asks for a window of terabytes");
    let world = TempDir::new().unwrap();
    let mut frame = bomb(b' ', GIB);
    frame[5] = 0xF8;
    replace(&committed(world.path()).join("samples.pack.zst"), &frame);
    refused(&lab(world.path(), READERS[0]), 4, "samples.pack.zst: Frame requires too much memory");
}

#[test]
fn no_file_of_a_record_is_read_beyond_the_limit() {
    for name in ["run.json", "runs.jsonl", "sessions.jsonl", "windows.jsonl"] {
        let world = TempDir::new().unwrap();
        hollow(&committed(world.path()).join(name), 64 * GIB);
        for reader in READERS {
            let _attack = Attack::on("memory", &format!("{reader:?}: {name} of 64 GiB"));
            let output = lab(world.path(), reader);
            refused(&output, 4, &format!("{name}: holds more than 4 MiB; it is not read"));
        }
    }
}

#[test]
fn a_line_and_a_depth_without_an_end_are_refused() {
    let line = [&b"{\"schema\":2,\"reason\":\""[..], &[b'x'; 8 << 20], b"\"}\n"].concat();
    let depth = [b'['; 1 << 20];
    for (name, bytes, expected) in [
        ("runs.jsonl", &line[..], "holds more than 4 MiB"),
        ("sessions.jsonl", &line, "holds more than 4 MiB"),
        ("run.json", &line, "holds more than 4 MiB"),
        ("run.json", &depth, "run.json, line 1: "),
        ("runs.jsonl", &[&depth[..], b"\n"].concat(), "runs.jsonl, line 1: "),
    ] {
        let world = TempDir::new().unwrap();
        replace(&committed(world.path()).join(name), bytes);
        for reader in READERS {
            let _attack = Attack::on("memory", &format!("{reader:?}: {name}, {expected}"));
            refused(&lab(world.path(), reader), 4, expected);
        }
    }
}

#[test]
fn a_report_is_not_read_beyond_the_limit_and_the_others_have_their_pages() {
    for name in ["report.md", "stalls.svg", "stalls.tsv", "details/x.md", "run.json"] {
        let _attack = Attack::on("memory", &format!("lab site: {name} of 64 GiB"));
        let world = TempDir::new().unwrap();
        let reports = world.path().join("reports");
        for report in ["bad", "good"] {
            copy(&root().join("reports/offload-wake"), &reports.join(report));
        }
        fs::create_dir(reports.join("bad/details")).unwrap();
        hollow(&reports.join("bad").join(name), 64 * GIB);
        let args = ["--root", ".", "site", "pages", "--reports", "reports", "--max-bytes"];
        let output = lab(world.path(), &[&args[..], &[MAX_BYTES]].concat());
        refused(&output, 4, &format!("{name}: holds more than 4 MiB"));
        assert!(world.path().join("pages/good.html").is_file());
    }
}

/// A record whose runs all name the same samples.
fn of_one_sample(folder: &Path, values: usize, runs: usize) {
    let machine =
        json!({"cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "a"});
    let analysis = json!({
        "reference": "a", "pairing": "paired", "alpha": 0.05, "comparisons": [],
    });
    let variant = json!({
        "variant": "v", "family": "f", "twin_of": null, "measures": "m", "version": "1",
        "features": [], "tags": [], "binary_sha256": "", "binary_bytes": 1,
    });
    let run_file: RunFile = serde_json::from_value(json!({
        "schema": SCHEMA, "experiment": "e", "experiment_toml": "", "attachments": {},
        "experiment_sha256": sha256_hex(b""), "arguments": [], "seed": 1, "blocks": 1,
        "analysis": analysis, "runs_planned": 3, "git": null, "variants": [variant],
        "machine": machine, "started_unix_s": 0,
    }))
    .unwrap();
    let run: Run = serde_json::from_value(json!({
        "schema": SCHEMA, "order": 0, "attempt": 0, "block": 1, "warmup": false, "family": "f",
        "variant": "v", "cell": {}, "status": "ok", "verification": "verified",
        "binary_sha256": "", "start_ns": 1, "process_ns": 1, "noise": {}, "counters": {},
    }))
    .unwrap();
    let samples = Samples::from_raw(BTreeMap::from([("a_ns".to_owned(), vec![1; values])]));
    let mut writer = Writer::create(&folder.join("taken"), &run_file).unwrap();
    writer.run(run, &samples).unwrap();
    fs::write(folder.join("taken/sessions.jsonl"), "").unwrap();
    let results = Results::load(&folder.join("taken")).unwrap();
    results.export(&folder.join("r"), |_, _, samples| samples).unwrap();
    unchained::unchain(&folder.join("r"));
    let line = fs::read_to_string(folder.join("r/runs.jsonl")).unwrap();
    fs::write(folder.join("r/runs.jsonl"), line.repeat(runs)).unwrap();
}

#[test]
fn samples_that_thousands_of_runs_name_count_each_time() {
    let world = TempDir::new().unwrap();
    // 800 KB in memory, 3000 times: 2.4 GB.
    of_one_sample(world.path(), 100_000, 3_000);
    for reader in READERS {
        let _attack = Attack::on("memory", &format!("{reader:?}: 3000 runs name one's samples"));
        let expected =
            "with the files of its record that were read before, it holds more than 16 MiB";
        refused(&lab(world.path(), reader), 4, expected);
    }
}

/// What the user names without knowing what it is.
#[test]
fn no_named_file_is_read_without_an_end() {
    let world = TempDir::new().unwrap();
    let file = |name: &str| world.path().join(name);
    fs::write(file("doc.md"), "# A report\n").unwrap();
    symlink("/dev/zero", file("e.toml")).unwrap();
    mkfifo(&file("pipe"), Mode::S_IRWXU).unwrap();
    let limit = ["--max-bytes", MAX_BYTES];
    let commands = ["compare", "true", "false", "--max-runs", "2"];
    let cases: [(&[&str], i32, &str); 13] = [
        (&["audit", "/dev/zero"], 2, "/dev/zero: holds more than"),
        (&["audit", "doc.md", "--raw", "/dev/zero"], 2, "/dev/zero: holds more than"),
        (&["audit", "doc.md", "--mapping", "/dev/zero"], 2, "/dev/zero: holds more than"),
        (&["audit", "doc.md", "--baseline", "/dev/zero"], 2, "/dev/zero: holds more than"),
        (&["import", "/dev/zero"], 4, "/dev/zero: holds more than"),
        (&["import", "doc.md", "--against", "/dev/zero"], 2, "is no result that can be imported"),
        (&["--root", ".", "plan", "/dev/zero"], 2, "is no regular file"),
        (&["--root", ".", "plan", "e.toml"], 2, "is no regular file"),
        (&["--root", ".", "run", "pipe"], 2, "is no regular file"),
        (
            &["watch", "--servers", "http://127.0.0.1:1", "--model", "m", "--rules", "/dev/zero"],
            2,
            "is no regular file",
        ),
        (&["--resume", "/dev/zero"], 4, "is no regular file"),
        (&["--resume", "pipe"], 4, "is no regular file"),
        (&["--spend", "pipe"], 4, "is no regular file"),
    ];
    for (args, code, expected) in cases {
        let _attack = Attack::on("memory", &format!("lab {args:?}"));
        let args = if args[0].starts_with("--re") || args[0].starts_with("--sp") {
            [&commands[..], args, &limit].concat()
        } else {
            [args, &limit].concat()
        };
        refused(&lab(world.path(), &args), code, expected);
    }
    for args in [&["audit", "-"][..], &["import", "/dev/stdin"]] {
        let _attack = Attack::on("memory", &format!("lab {args:?} of an input without an end"));
        let mut lab = within(MEMORY_KIB, world.path(), &[args, &limit].concat());
        let output = lab.stdin(File::open("/dev/zero").unwrap()).output().unwrap();
        assert!([2, 4].contains(&output.status.code().unwrap()), "{}", said(&output));
        assert!(said(&output).contains("holds more than 4 MiB"), "{}", said(&output));
    }
}

#[test]
fn the_limit_is_told_and_nothing_is_no_limit() {
    let world = TempDir::new().unwrap();
    for command in ["report", "serve", "site", "export", "import", "audit"] {
        let help = said(&lab(world.path(), &[command, "--help"]));
        assert!(help.contains("--max-bytes <N>") && help.contains("536870912"), "{help}");
    }
    refused_by_clap(&lab(world.path(), &["import", "x", "--max-bytes", "0"]));
}

fn refused_by_clap(output: &Output) {
    assert_eq!(output.status.code(), Some(2), "{}", said(output));
}

/// hyperfine's JSON of so many times.
fn hyperfine(file: &Path, times: usize) {
    let mut file = std::io::BufWriter::new(File::create(file).unwrap());
    write!(file, "{{\"results\":[{{\"command\":\"a\",\"times\":[1").unwrap();
    for number in 1..times {
        write!(file, ",1.{number:014}").unwrap();
    }
    write!(file, "]}}]}}").unwrap();
    file.flush().unwrap();
}

#[test]
fn an_import_takes_a_small_multiple_of_its_file() {
    let attack = Attack::on("memory", "results of two million times, 34 MB");
    let world = TempDir::new().unwrap();
    hyperfine(&world.path().join("h.json"), 2_000_000);
    // Seven times the file, with the program itself. It was nine times, without.
    let mut lab = within(250_000, world.path(), &["import", "h.json"]);
    let output = lab.stdout(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    drop(attack);
    let _attack = Attack::on("memory", "samples whose regroupings would take gigabytes");
    let output = self::lab(world.path(), &["import", "h.json", "--against", "h.json"]);
    assert_eq!(output.status.code(), Some(11), "{}", said(&output));
    let expected = "4000000 samples; 100000 are judged at the most: give fewer";
    assert!(said(&output).contains(expected), "{}", said(&output));
}

/// A server of these records, with little memory.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn of(folder: &Path) -> Self {
        let args = ["serve", "--listen", "127.0.0.1:0", "records", "--max-bytes", MAX_BYTES];
        let mut lab = within(MEMORY_KIB, folder, &args);
        let mut child = lab.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        Self { child, address }
    }

    fn ask(&self, target: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        write!(socket, "GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    /// In KiB, of what it holds at this moment.
    fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_record_that_is_too_large_is_one_page_of_a_server_and_its_memory_comes_back() {
    let world = TempDir::new().unwrap();
    let record = |name: &str| {
        let record = world.path().join("records").join(name);
        copy(&root().join("reports/offload-wake"), &record);
        record
    };
    record("good");
    fs::write(record("packed").join("samples.pack.zst"), bomb(b' ', 8 * GIB)).unwrap();
    fs::remove_file(world.path().join("records/packed/report.md")).unwrap();
    hollow(&record("page").join("report.md"), 64 * GIB);
    hollow(&record("sessions").join("sessions.jsonl"), 64 * GIB);
    let torn = record("torn");
    OpenOptions::new().write(true).open(torn.join("runs.jsonl")).unwrap().set_len(100).unwrap();
    fs::remove_file(torn.join("report.md")).unwrap();
    mkfifo(&record("pipe").join("stalls.svg.svg"), Mode::S_IRWXU).unwrap();
    let server = Server::of(world.path());
    for (name, expected) in [
        ("packed", "samples.pack.zst: holds more than 4 MiB"),
        ("page", "report.md: holds more than 4 MiB"),
        ("sessions", "sessions.jsonl: holds more than 4 MiB"),
        ("pipe", "stalls.svg.svg: is no regular file"),
        ("torn", ""),
    ] {
        let _attack = Attack::on("serve", &format!("a page of a record that is bad: {name}"));
        for _ in 0..3 {
            let page = server.ask(&format!("/r/0/{name}.html"));
            assert!(page.starts_with("HTTP/1.1 500") || page.starts_with("HTTP/1.1 400"), "{page}");
            assert!(page.contains(expected), "{page}");
            assert!(server.ask("/r/0/good.html").starts_with("HTTP/1.1 200"));
            assert!(server.ask("/").starts_with("HTTP/1.1 200"));
        }
        let resident_kib = server.resident_kib();
        assert!(resident_kib < 300_000, "{name}: {resident_kib} KiB");
    }
}
