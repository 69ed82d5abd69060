//! Whatever a name may stand for: pipes, devices, sockets, compressed files, other encodings, and
//! more files than there are descriptors.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use program::{Finished, ask, program};
use serde_json::Value;

mod program;

fn line(text: &str) -> String {
    format!("{{\"type\":\"user\",\"message\":{{\"content\":{}}}}}\n", Value::from(text))
}

fn lines(count: usize) -> String {
    (0..count).map(|number| line(&format!("needle {number}"))).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 3).unwrap()
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Every message, one a line.
fn all(arguments: &[&str]) -> Finished {
    ask(&[arguments, &["--limit", "all", "--output", "jsonl"]].concat())
}

/// The offsets and texts of what was found.
fn found(finished: &Finished) -> Vec<(u64, String)> {
    let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let pair = |hit: Value| {
        (hit["offset_bytes"].as_u64().unwrap(), hit["text"].as_str().unwrap().to_owned())
    };
    finished.stdout.lines().map(|line| pair(value(line))).collect()
}

/// What the same lines are in a plain file.
fn expected(text: &str) -> Vec<(u64, String)> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jsonl"), text).unwrap();
    found(&all(&["needle", name(dir.path())]))
}

/// The program with this on its standard input.
fn given(input: &[u8], arguments: &[&str]) -> Finished {
    let mut command = program();
    command.args(arguments).args(["--limit", "all", "--output", "jsonl"]);
    let pipes = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [stdin, stdout, stderr] = pipes;
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // One that is refused is not read to its end.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let finished = child.wait_with_output().unwrap().into();
    writer.join().unwrap();
    finished
}

#[test]
fn compressed_files_are_found_and_read_as_what_they_hold() {
    let text = lines(30_000);
    let expected = expected(&text);
    assert_eq!(expected.len(), 30_000);
    let (half, rest) = text.split_at(text.len() / 2 + 7);
    let files = [
        ("a.jsonl.gz", gzip(&text)),
        ("b.jsonl.zst", zstd(&text)),
        ("parts.jsonl.gz", [gzip(half), gzip(""), gzip(rest)].concat()),
        ("parts.jsonl.zst", [zstd(half), zstd(rest)].concat()),
        ("named-otherwise.jsonl", zstd(&text)),
    ];
    for (file, bytes) in files {
        for read in ["auto", "buffered", "mmap"] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(file), &bytes).unwrap();
            let finished = all(&["needle", name(dir.path()), "--read", read]);
            assert_eq!((finished.code, &*finished.stderr), (Some(0), ""), "{file}");
            assert_eq!(found(&finished), expected, "{file}");
        }
        assert_eq!(found(&given(&bytes, &["needle", "-"])), expected, "{file} on standard input");
    }
}

#[test]
fn a_large_compressed_file_of_any_name_is_searched_once() {
    let dir = tempfile::tempdir().unwrap();
    // Random digits, so that the file is cut into several jobs by its size.
    let mut state = 1_u64;
    let mut digits = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        format!("{:016x}", state ^ state >> 29)
    };
    let mut long = |_| line(&format!("needle {}", (0..64).map(|_| digits()).collect::<String>()));
    let text: String = (0..12_000).map(&mut long).collect();
    let file = dir.path().join("backup");
    fs::write(&file, gzip(&text)).unwrap();
    assert!(fs::metadata(&file).unwrap().len() > 5 << 20, "two jobs");
    let finished = all(&["needle", name(&file)]);
    assert_eq!((finished.code, found(&finished).len()), (Some(0), 12_000), "{}", finished.stderr);
}

#[test]
fn a_damaged_file_gives_what_stands_before_the_damage_and_is_named() {
    let text = lines(40_000);
    let expected = expected(&text);
    for (file, bytes) in [("a.jsonl.gz", gzip(&text)), ("a.jsonl.zst", zstd(&text))] {
        let end = bytes.len();
        let mut flipped = bytes.clone();
        flipped[end * 3 / 4..end * 3 / 4 + 16].fill(0xff);
        let cut = bytes[..end * 3 / 4].to_vec();
        let no_sum = bytes[..end - 2].to_vec();
        let trailing = [&bytes[..], b"no member"].concat();
        // Deflate has no sum before its end: what is flipped goes on as other letters for a while.
        let broken = [
            (flipped, 10_000, usize::MAX),
            (cut, 10_000, 2),
            (no_sum, 36_000, 2),
            (trailing, 39_998, 2),
        ];
        for (number, (broken, least, most)) in broken.into_iter().enumerate() {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(file), broken).unwrap();
            fs::write(dir.path().join("b.jsonl"), line("needle of another")).unwrap();
            let finished = all(&["needle", name(dir.path())]);
            assert_eq!(finished.code, Some(2), "{file} {number}");
            assert!(finished.stderr.contains(&format!("{file}: is damaged")), "{finished:?}");
            let found = found(&finished);
            let (mut whole, mut others) = (0, 0);
            for hit in &found {
                match expected.get(whole) {
                    Some(expected) if expected == hit => whole += 1,
                    _ => others += 1,
                }
            }
            // The last one before the damage may be half a line.
            assert!(whole >= least && others <= most, "{file} {number}: {whole} {others}");
        }
    }
}

#[test]
fn a_mark_and_windows_lines_hide_nothing_wherever_they_come_from() {
    let text = "\u{feff}".to_owned() + &line("needle one") + &line("needle two");
    let text = text.replace('\n', "\r\n");
    let second = text.find("\r\n").unwrap() as u64 + 2;
    let expected = [(0, "needle one".to_owned()), (second, "needle two".to_owned())];
    let dir = tempfile::tempdir().unwrap();
    for bytes in [text.clone().into_bytes(), gzip(&text), zstd(&text)] {
        let file = dir.path().join("a.jsonl");
        fs::write(&file, &bytes).unwrap();
        assert_eq!(found(&all(&["needle", name(&file)])), expected);
        let finished = given(&bytes, &["needle", "-"]);
        assert_eq!((found(&finished), finished.code), (expected.to_vec(), Some(0)));
    }
}

#[test]
fn a_line_of_a_compressed_file_that_cannot_be_read_is_named_by_its_number() {
    let text = lines(2) + "[needle, and no message\n" + &lines(1);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jsonl.gz"), gzip(&text)).unwrap();
    let finished = all(&["needle", name(dir.path())]);
    assert_eq!((found(&finished).len(), finished.code), (3, Some(2)), "{finished:?}");
    assert!(finished.stderr.contains("a.jsonl.gz:3: "), "{}", finished.stderr);
}

#[test]
fn sixteen_bits_are_refused_by_name_and_the_others_searched() {
    let text = line("needle \u{9580}");
    let utf16 = |bytes: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        (mark.to_owned() + &text).encode_utf16().flat_map(bytes).collect()
    };
    for (bytes, encoding) in [
        (utf16(u16::to_le_bytes, "\u{feff}"), "UTF-16"),
        (utf16(u16::to_be_bytes, "\u{feff}"), "UTF-16"),
        (utf16(u16::to_le_bytes, ""), "UTF-16LE"),
        (utf16(u16::to_be_bytes, ""), "UTF-16BE"),
    ] {
        let said = format!("is UTF-16; `iconv -f {encoding} -t UTF-8` makes it readable\n");
        for large in [1, 100_000] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("wide.jsonl"), bytes.repeat(large)).unwrap();
            fs::write(dir.path().join("a.jsonl"), line("needle")).unwrap();
            let finished = all(&["needle", name(dir.path())]);
            assert_eq!((found(&finished).len(), finished.code), (1, Some(2)));
            assert!(finished.stderr.ends_with(&format!("wide.jsonl: {said}")), "{finished:?}");
            assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
        }
        let finished = given(&bytes, &["needle", "-"]);
        assert!(finished.stderr.ends_with(&format!(" -: {said}")), "{finished:?}");
    }
}

#[test]
fn what_is_no_file_is_left_out_of_a_folder_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = |file: &str| dir.path().join(file);
    mkfifo(&path("a.jsonl"), Mode::S_IRWXU).unwrap();
    let _listener = UnixListener::bind(path("b.jsonl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("c.jsonl")).unwrap();
    fs::create_dir(path("d.jsonl")).unwrap();
    std::os::unix::fs::symlink("nothing", path("e.jsonl")).unwrap();
    fs::write(path("f.jsonl"), line("needle")).unwrap();
    let finished = all(&["needle", name(dir.path())]);
    assert_eq!((found(&finished).len(), finished.code), (1, Some(2)), "{}", finished.stderr);
    let said: Vec<_> = finished.stderr.lines().map(|line| line.split('/').next_back()).collect();
    let expected = [
        "a.jsonl: is a FIFO and was left out",
        "b.jsonl: is a socket and was left out",
        "zero",
        "d.jsonl: not a regular file",
        "e.jsonl: No such file or directory (os error 2)",
    ];
    assert_eq!(said[..2], expected.map(Some)[..2]);
    assert!(finished.stderr.contains("c.jsonl: is a device and was left out"));
    assert_eq!(said[3..], expected.map(Some)[3..]);
    // A socket has no text for whoever opens it, also where it is named.
    let finished = all(&["needle", name(&path("b.jsonl"))]);
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("b.jsonl: is a socket"), "{}", finished.stderr);
}

#[test]
fn a_pipe_that_is_named_is_read_to_its_end() {
    let text = lines(30_000);
    let expected = expected(&text);
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    for bytes in [text.clone().into_bytes(), gzip(&text), zstd(&text)] {
        let writer = {
            let (pipe, bytes) = (pipe.clone(), bytes.clone());
            thread::spawn(move || File::create(pipe).unwrap().write_all(&bytes).unwrap())
        };
        let finished = all(&["needle", name(&pipe)]);
        assert_eq!((finished.code, &*finished.stderr), (Some(0), ""));
        assert_eq!(found(&finished), expected);
        writer.join().unwrap();
        for input in ["-", "/dev/stdin", "/dev/fd/0"] {
            let finished = given(&bytes, &["needle", input]);
            assert_eq!(found(&finished), expected, "{input} {}", finished.stderr);
        }
    }
    let few = given(text.as_bytes(), &["needle", "-", "--limit", "3"]);
    assert!(few.code == Some(0), "{}", few.stderr);
    // A file on standard input is read from where it is, and a path may be given beside it.
    let file = dir.path().join("a.jsonl");
    fs::write(&file, &text).unwrap();
    let mut command = program();
    command.args(["needle", "-", name(&file), "--limit", "1", "--output", "json"]);
    let output = command.stdin(File::open(&file).unwrap()).output().unwrap();
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(whole["matches"], 60_000);
}

/// So many files, in 300 folders and one.
fn many(root: &Path) -> usize {
    for folder in 0..300 {
        let folder = root.join(format!("{folder}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..10 {
            fs::write(folder.join(format!("{file}.jsonl")), lines(1)).unwrap();
        }
    }
    let folder = root.join("many");
    fs::create_dir(&folder).unwrap();
    for file in 0..20_000 {
        fs::write(folder.join(format!("{file}.jsonl")), lines(1)).unwrap();
    }
    23_000
}

#[test]
fn more_files_than_descriptors_are_all_searched() {
    let dir = tempfile::tempdir().unwrap();
    let count = many(dir.path());
    for options in [&[][..], &["--read", "mmap"], &["--threads", "64"]] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 256 && exec \"$0\" \"$@\""]);
        command.arg(program().get_program()).args(["needle", name(dir.path())]);
        command.args(["--output", "json", "--limit", "5"]).args(options).arg0("sh");
        let finished = Finished::from(command.output().unwrap());
        assert_eq!((finished.code, &*finished.stderr), (Some(0), ""), "{options:?}");
        let whole: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((&whole["matches"], &whole["files"]), (&count.into(), &count.into()));
    }
}

#[test]
fn large_files_among_many_small_ones_are_searched_once() {
    let dir = tempfile::tempdir().unwrap();
    let (large, middle) = (lines(200_000), lines(6_000));
    assert!(large.len() > 8 << 20 && middle.len() > 256 << 10);
    for file in 0..500 {
        let text = match file % 50 {
            0 => &large,
            1 | 2 => &middle,
            _ => "{\"type\":\"user\",\"message\":{\"content\":\"a needle\"}}\n",
        };
        fs::write(dir.path().join(format!("{file}.jsonl")), text).unwrap();
    }
    fs::write(dir.path().join("packed.jsonl.gz"), gzip(&large)).unwrap();
    let count = 11 * 200_000 + 20 * 6_000 + 470;
    for options in [&[][..], &["--threads", "1"], &["--read", "mmap"], &["--read", "buffered"]] {
        let arguments = [&["needle", name(dir.path()), "--output", "json"], options].concat();
        let finished = ask(&arguments);
        assert_eq!((finished.code, &*finished.stderr), (Some(0), ""), "{options:?}");
        let whole: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((&whole["matches"], &whole["files"]), (&count.into(), &501.into()));
    }
}

#[test]
fn what_surrounds_a_message_and_its_number_are_found_in_any_text() {
    let text: String = (0..9).map(|number| line(&format!("word{number}"))).collect();
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("a.jsonl");
    fs::write(&plain, &text).unwrap();
    let options = ["-n", "-C", "1"];
    let expected = ask(&[&["word5", name(&plain)], &options[..]].concat()).stdout;
    assert!(expected.contains("word4") && expected.contains(":6") && expected.contains("word6"));
    for (end, bytes) in [("gz", gzip(&text)), ("zst", zstd(&text)), ("", text.clone().into())] {
        let file = dir.path().join(format!("a.jsonl.{end}"));
        fs::write(&file, &bytes).unwrap();
        let shown = ask(&[&["word5", name(&file)], &options[..]].concat());
        assert_eq!(shown.stdout.replace(name(&file), name(&plain)), expected, "{}", shown.stderr);
        let mut command = program();
        command.args(["word5", "-"]).args(options).stdin(File::open(&file).unwrap());
        let shown = Finished::from(command.output().unwrap());
        assert_eq!(shown.stdout.replace("user - -", &format!("user - {}", name(&plain))), expected);
    }
}

#[test]
fn links_to_folders_are_followed_where_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    fs::write(dir.path().join("a/b/1.jsonl"), line("needle")).unwrap();
    std::os::unix::fs::symlink("..", dir.path().join("a/up")).unwrap();
    std::os::unix::fs::symlink("a/b", dir.path().join("c")).unwrap();
    let root = name(dir.path());
    let finished = all(&["needle", root]);
    assert_eq!((found(&finished).len(), finished.code), (1, Some(0)));
    let finished = all(&["needle", root, "--follow"]);
    assert_eq!((found(&finished).len(), finished.code), (2, Some(2)));
    let said = format!("{root}/a/up: is a loop: a link to a folder above it, and was left out\n");
    assert!(finished.stderr.ends_with(&said), "{}", finished.stderr);
}

#[test]
fn who_needs_one_message_waits_for_no_end() {
    let mut command = Command::new("sh");
    let endless =
        "while echo '{\"type\":\"user\",\"message\":{\"content\":\"needle\"}}'; do :; done";
    command.args(["-c", &format!("{endless} 2>&- | \"$0\" -q needle -")]);
    assert_eq!(command.arg(program().get_program()).status().unwrap().code(), Some(0));
}
