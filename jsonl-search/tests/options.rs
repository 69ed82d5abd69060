//! Options as grep and ripgrep have them.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use folders::{asked, folder, line, root, texts};
use program::{Finished, ask, program};
use serde_json::{Value, json};
use tempfile::TempDir;

mod folders;
mod program;

/// The texts of what is found, in the order of the file.
fn found(dir: &TempDir, arguments: &[&str]) -> Vec<String> {
    let finished = asked(dir, &[arguments, &["--output", "jsonl", "--sort", "path"]].concat());
    assert_eq!(finished.code, Some(i32::from(finished.stdout.is_empty())), "{finished:?}");
    let text = |line: &str| serde_json::from_str::<Value>(line).unwrap()["text"].clone();
    finished.stdout.lines().map(|line| text(line).as_str().unwrap().to_owned()).collect()
}

#[test]
fn case_is_told_by_options_and_the_last_one_counts() {
    let dir = texts(&["Error", "error", "ÄRGER", "ärger"]);
    let all = ["Error", "error", "ÄRGER", "ärger"];
    for (arguments, expected) in [
        (&["error OR ärger"][..], &all[..]),
        (&["error OR ärger", "-i"], &all),
        (&["error OR Ärger", "-s"], &["error"]),
        (&["Error OR ärger", "-S"], &["Error", "ÄRGER", "ärger"]),
        (&["/error/"], &["error"]),
        (&["/Error/", "--ignore-case"], &["Error", "error"]),
        (&["/error/", "--smart-case"], &["Error", "error"]),
        (&["/Error/", "--smart-case"], &["Error"]),
        (&["ERROR", "-is"], &[]),
        (&["ERROR", "-si"], &["Error", "error"]),
        (&["ERROR", "-iS", "--case-sensitive", "-i"], &["Error", "error"]),
    ] {
        assert_eq!(found(&dir, arguments), expected, "{arguments:?}");
    }
}

#[test]
fn whole_words_have_no_letter_digit_or_underscore_beside_them() {
    let dir = texts(&[
        "a cat.",
        "cats",
        "cat_1",
        "(Cat)",
        "écat",
        "concat cat",
        "\ncat",
        "größe",
        "größen",
    ]);
    for (query, expected) in [
        ("cat", &["a cat.", "(Cat)", "concat cat", "\ncat"][..]),
        ("größe", &["größe"]),
        ("/ca./", &["a cat.", "concat cat", "\ncat"]),
        ("/cat|cats/", &["a cat.", "cats", "concat cat", "\ncat"]),
        ("'a cat' OR cats", &["a cat.", "cats"]),
        ("/(?x) cat # a comment\n/", &["a cat.", "concat cat", "\ncat"]),
    ] {
        assert_eq!(found(&dir, &[query, "-w"]), expected, "{query}");
    }
    // As JSON may spell it.
    let escaped = r#"{"type":"user","message":{"content":"a c\u0061t\nand \ud83dcat"}}"#;
    let dir = folder(&[("a.jsonl", escaped.to_owned())]);
    assert_eq!(found(&dir, &["cat", "--word-regexp"]).len(), 1);
}

#[test]
fn what_does_not_match_is_what_filters_leave() {
    let lines = line("user", 0, "one") + &line("user", 1, "two") + &line("assistant", 2, "three");
    let dir = folder(&[("a.jsonl", lines)]);
    assert_eq!(found(&dir, &["one", "-v"]), ["two", "three"]);
    assert_eq!(found(&dir, &["one", "--invert-match", "--role", "user"]), ["two"]);
    assert_eq!(found(&dir, &["-v", "NOT o"]), ["one", "two"]);
    assert_eq!(
        found(&dir, &["", "--role", "user", "--role", "assistant"]),
        ["one", "two", "three"]
    );
    assert_eq!(found(&dir, &["o", "--session", "s-x", "--session", "s-user"]), ["one", "two"]);
}

/// Without what the query asks of a line's bytes, for `-v` asks nothing of them.
#[test]
fn what_matches_and_what_does_not_are_all() {
    let words =
        ["cat", "Cat.", "a concat", "cats_", "größe", "GRÖẞE!", "a \"cat\" / b", "", "kat\ncat"];
    let spelled = |text: &str, how: usize| {
        let mut json = json!(text).to_string();
        for letter in ["a", "C", "ö", "ß", "/"].iter().skip(how % 3).step_by(how) {
            json = json
                .replace(letter, &format!("\\u{:04x}", u32::from(letter.chars().next().unwrap())));
        }
        format!("{{\"role\":\"user\",\"content\":{json}}}\n")
    };
    let lines = (1..4).flat_map(|how| words.iter().map(move |word| spelled(word, how)));
    let dir = folder(&[("a.jsonl", lines.collect())]);
    let (mut most, all) = (0, found(&dir, &[""]));
    assert_eq!(all.len(), 3 * words.len());
    for query in
        ["cat", "Größe", "/c.t/", "cat OR größe", "\"cat\" NOT kat", "'\"cat\"'", "/^(Cat|kat)/"]
    {
        for flags in ["-i", "-s", "-S", "-wi", "-ws", "-wS", "-F", "-Fw"] {
            let matching = found(&dir, &[query, flags]);
            let mut both = [matching.clone(), found(&dir, &[query, flags, "-v"])].concat();
            let mut expected = all.clone();
            both.sort_unstable();
            expected.sort_unstable();
            assert_eq!(both, expected, "{query} {flags}");
            most = most.max(matching.len());
            // However a text is spelled, it is the same text.
            assert!(
                words.iter().all(|word| matching.iter().filter(|one| one == word).count() % 3 == 0)
            );
        }
    }
    assert_eq!(most, 24);
}

#[test]
fn a_literal_has_no_operators_and_several_queries_are_alternatives() {
    let dir = texts(&["a OR b", "a", "-x \"q\"", "c"]);
    for (arguments, expected) in [
        (&["-F", "a OR b"][..], &["a OR b"][..]),
        (&["-F", "-e", "-x \"q"], &["-x \"q\""]),
        (&["-e", "-x", "-e", "c"], &["-x \"q\"", "c"]),
        (&["--query=a b", "-e", "'b'"], &["a OR b"]),
        (&["--fixed-strings", "/a/"], &[]),
        (&["-F", ""], &["a OR b", "a", "-x \"q\"", "c"]),
    ] {
        assert_eq!(found(&dir, arguments), expected, "{arguments:?}");
    }
    let wrong = asked(&dir, &["-e", "a", "-e", "x (y"]);
    let at = "jsonl-search: column 3: this parenthesis is never closed\n  x (y\n    ^\n";
    assert_eq!((wrong.stderr.as_str(), wrong.code), (at, Some(2)));
}

#[test]
fn counts_files_and_nothing_are_shown_in_place_of_messages() {
    let dir = folder(&[
        ("a.jsonl", (0..60).map(|second| line("user", second, "hit")).collect()),
        ("b.jsonl", line("user", 0, "nothing")),
        ("c.jsonl", line("user", 0, "a hit")),
    ]);
    let root = root(&dir);
    let shown = |arguments: &[&str]| asked(&dir, &[&["hit"], arguments].concat()).stdout;
    assert_eq!(shown(&["-c"]), format!("{root}/a.jsonl:60\n{root}/c.jsonl:1\n"));
    assert_eq!(shown(&["-c", "-v"]), format!("{root}/b.jsonl:1\n"));
    assert_eq!(shown(&["-l"]), format!("{root}/a.jsonl\n{root}/c.jsonl\n"));
    assert_eq!(shown(&["-l", "-m1"]), format!("{root}/a.jsonl\n"));
    assert_eq!(shown(&["-cl"]), shown(&["--files-with-matches"]));
    assert_eq!(shown(&["-lc"]), shown(&["--count"]));
    let whole: Value = serde_json::from_str(&shown(&["-c", "--json"])).unwrap();
    let counts = json!([
        {"path": format!("{root}/a.jsonl"), "matches": 60},
        {"path": format!("{root}/c.jsonl"), "matches": 1},
    ]);
    assert_eq!((&whole["counts"], &whole["matches"]), (&counts, &61.into()));
    assert_eq!(whole.get("messages"), None);
    assert_eq!(shown(&["-l", "--output", "jsonl"]).lines().count(), 2);
    let quiet = asked(&dir, &["hit", "-q"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str(), quiet.code), ("", "", Some(0)));
    assert_eq!(asked(&dir, &["absent", "-q"]).code, Some(1));
    // As grep has it: what was found is found, whatever else went wrong.
    assert_eq!(ask(&["hit", "-q", root, "no/such/file"]).code, Some(0));
    assert_eq!(ask(&["absent", "-q", root, "no/such/file"]).code, Some(2));
}

#[test]
fn a_limit_that_nobody_gave_is_told() {
    let lines: String = (0..60).map(|second| line("user", second, "hit")).collect();
    let dir = folder(&[("a.jsonl", lines)]);
    let finished = asked(&dir, &["hit"]);
    let told = "jsonl-search: 50 of 60 messages are shown; --limit all shows all\n";
    assert_eq!((finished.stderr.as_str(), finished.code), (told, Some(0)));
    for (arguments, shown) in
        [(["-m", "3"], 3), (["--max-count", "7"], 7), (["--limit", "all"], 60)]
    {
        let finished = asked(&dir, &[&["hit"], &arguments[..]].concat());
        let lines = finished.stdout.lines().filter(|line| line.ends_with("  hit")).count();
        assert_eq!((finished.stderr.as_str(), lines), ("", shown));
    }
}

/// Places and texts as they are shown: `:3 text` of a hit, `-3 text` of what is beside one.
fn around(dir: &TempDir, arguments: &[&str]) -> Vec<String> {
    let finished = asked(dir, &[&["-n"], arguments].concat());
    let path = format!("{}/a.jsonl", root(dir));
    let rows = finished.stdout.replace("\n  ", " ");
    rows.lines().map(|row| row.rsplit(&path).next().unwrap().to_owned()).collect()
}

#[test]
fn messages_around_a_hit_are_shown_in_the_files_order() {
    let dir = texts(&["a", "b", "hit c", "d", "e", "f", "g", "hit h", "i"]);
    for (arguments, expected) in [
        (&["hit", "-A1"][..], &[":8 hit h", "-9 i", "--", ":3 hit c", "-4 d"][..]),
        (&["hit", "-B1"], &["-7 g", ":8 hit h", "--", "-2 b", ":3 hit c"]),
        (&["c", "-C1"], &["-2 b", ":3 hit c", "-4 d"]),
        (&["c", "-C1", "-A0"], &["-2 b", ":3 hit c"]),
        (&["c", "-B9", "-A0"], &["-1 a", "-2 b", ":3 hit c"]),
        // What touches is one group, as grep has it.
        (
            &["hit", "-C2"],
            &["-1 a", "-2 b", ":3 hit c", "-4 d", "-5 e", "-6 f", "-7 g", ":8 hit h", "-9 i"],
        ),
        (
            &["hit", "-B3", "-A1", "--sort", "path"],
            &["-1 a", "-2 b", ":3 hit c", "-4 d", "-5 e", "-6 f", "-7 g", ":8 hit h", "-9 i"],
        ),
        (&["b OR c", "-A1"], &[":2 b", ":3 hit c", "-4 d"]),
        (&["hit", "-B1", "-m1"], &["-7 g", ":8 hit h"]),
    ] {
        assert_eq!(around(&dir, arguments), expected, "{arguments:?}");
    }
    // Offsets are marked alike.
    let shown = asked(&dir, &["c", "-B1"]).stdout;
    let offset = line("user", 0, "a").len();
    assert!(shown.contains(&format!("/a.jsonl-{offset}\n  b\n")), "{shown}");
    assert!(shown.contains(&format!("/a.jsonl:{}\n  hit c\n", 2 * offset)), "{shown}");
    let json = asked(&dir, &["c", "-C1", "--json"]).stdout;
    let whole: Value = serde_json::from_str(&json).unwrap();
    let rows = whole["messages"].as_array().unwrap().iter();
    let rows: Vec<_> = rows.map(|row| (row["text"].as_str().unwrap(), &row["context"])).collect();
    let (yes, no) = (&Value::Bool(true), &Value::Null);
    assert_eq!(rows, [("b", yes), ("hit c", no), ("d", yes)]);
}

#[test]
fn what_has_no_text_is_not_around_and_what_shares_a_line_is() {
    let message = |text: &str| json!({"role": "user", "content": text});
    let two = json!({"messages": [message("x"), message("hit"), message("z")]});
    let text = format!(
        "{}{{\"type\":\"snapshot\"}}\n\nno message\r\n{two}\r\n{}",
        line("user", 0, "first"),
        line("user", 1, "last").trim_end(),
    );
    let dir = folder(&[("a.jsonl", text)]);
    assert_eq!(around(&dir, &["hit", "-C1"]), ["-5 x", ":5 hit", "-5 z"]);
    assert_eq!(around(&dir, &["hit", "-C2"]), ["-1 first", "-5 x", ":5 hit", "-5 z", "-6 last"]);
    let of_tools = asked(&dir, &["last", "-B5", "--in", "tools"]);
    assert_eq!((of_tools.stdout.as_str(), of_tools.code), ("", Some(1)));
}

#[test]
fn long_lines_are_around_whole() {
    let sizes = [10, 70_000, 3, 65_536, 200_000, 1, 131_072, 50];
    let text = |index: usize| format!("{index} {}", "x".repeat(sizes[index]));
    let all: Vec<String> = (0..sizes.len()).map(text).collect();
    let dir = texts(&all.iter().map(String::as_str).collect::<Vec<_>>());
    for hit in 0..sizes.len() {
        for count in [1, 2, 5] {
            let near = count.to_string();
            let rows = found(&dir, &[&format!("/^{hit} /"), "-C", &near]);
            let from = hit.saturating_sub(count);
            let to = (hit + count + 1).min(sizes.len());
            assert!(rows.iter().eq(&all[from..to]), "{count} around {hit}: {}", rows.len());
        }
    }
}

#[test]
fn numbers_and_what_is_around_are_those_of_the_text_that_was_packed_or_piped() {
    let lines = ["a", "b", "hit c", "d"].iter().zip(0..);
    let text: String = lines.map(|(text, second)| line("user", second, text)).collect();
    let dir = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    fs::write(dir.path().join("a.jsonl.zst"), packed).unwrap();
    let shown = asked(&dir, &["hit", "-n", "-C1"]).stdout;
    let whole = "-2\n  b\n:3\n  hit c\n-4\n  d\n";
    let places = |shown: &str, name: &str| {
        let rows = shown.lines().map(|row| row.rsplit(name).next().unwrap().to_owned() + "\n");
        rows.collect::<String>()
    };
    assert_eq!(places(&shown, "a.jsonl.zst"), whole);
    let piped = ask_piped(&["hit", "-n", "-C1", "-"], &text);
    assert_eq!((places(&piped.stdout, " -").as_str(), piped.code), (whole, Some(0)), "{piped:?}");
}

/// With this for standard input.
fn ask_piped(arguments: &[&str], input: &str) -> Finished {
    let mut command = program();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn quiet_ends_with_the_first_match_of_what_does_not_end() {
    let mut command = program();
    command.args(["hit", "-q", "-"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // So much that what it holds is told; the input is still open.
    input.write_all(line("user", 0, "hit").repeat(100).as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(input);
}

#[test]
fn links_to_folders_are_followed_where_that_is_asked() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), texts(&["hit"]));
    std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("link")).unwrap();
    assert_eq!(asked(&dir, &["hit"]).code, Some(1));
    assert_eq!(asked(&dir, &["hit", "--follow"]).code, Some(0));
}

#[test]
fn times_are_taken_as_people_write_them() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let line = |ago: u64, text: &str| {
        let line = json!({"created_at": now - ago, "role": "user", "content": text});
        format!("{line}\n")
    };
    let old = r#"{"timestamp":"2026-01-31T12:30:00Z","role":"user","content":"old"}"#;
    let text = line(60, "minute") + &line(5 * 3_600, "hours") + &line(4 * 86_400, "days") + old;
    let dir = folder(&[("a.jsonl", text)]);
    for (arguments, expected) in [
        (&["--since", "2h"][..], &["minute"][..]),
        (&["--since", "10m"], &["minute"]),
        (&["--after", "1d"], &["minute", "hours"]),
        (&["--since", "1w"], &["minute", "hours", "days"]),
        (&["--until", "1d", "--since", "1w"], &["days"]),
        (&["--before", "2026-02-01"], &["old"]),
        (&["--until", "2026-01-31"], &[]),
        (&["--until", "2026-01-31T12:30"], &[]),
        (&["--until", "2026-01-31T12:30:01Z"], &["old"]),
        (&["--since", "2026-01-31 12:30", "--until", "1w"], &["old"]),
        (&["--until", "2026-01-31T13:00+00:30"], &[]),
    ] {
        let arguments = [&[""], arguments].concat();
        if arguments.last() == Some(&"2026-01-31T13:00+00:30") {
            assert_eq!(asked(&dir, &arguments).code, Some(2));
            continue;
        }
        assert_eq!(found(&dir, &arguments), expected, "{arguments:?}");
    }
    assert!(found(&dir, &["", "--since", "yesterday"]).contains(&"minute".to_owned()));
    assert!(!found(&dir, &["", "--since", "today"]).contains(&"days".to_owned()));
}

#[test]
fn messages_are_sorted_as_asked_and_the_limit_keeps_the_first() {
    let untimed = "{\"role\":\"user\",\"content\":\"untimed\"}\n";
    let first = line("user", 3, "three") + untimed + &line("user", 1, "one");
    let dir = folder(&[("a.jsonl", first), ("b.jsonl", line("user", 2, "two"))]);
    let shown = |arguments: &[&str]| {
        let all = asked(&dir, &[&["", "--output", "jsonl"], arguments].concat()).stdout;
        let text = |line: &str| serde_json::from_str::<Value>(line).unwrap()["text"].clone();
        all.lines().map(|line| text(line).as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let newest = ["three", "two", "one", "untimed"];
    let oldest = ["one", "two", "three", "untimed"];
    let path = ["three", "untimed", "one", "two"];
    for (sort, expected) in [("newest", newest), ("time", oldest), ("path", path)] {
        for most in [1, 2, 4] {
            let limit = most.to_string();
            assert_eq!(shown(&["--sort", sort, "-m", &limit]), expected[..most], "{sort}");
        }
        assert_eq!(shown(&["--sort", sort, "--limit", "all"]), expected);
    }
    assert_eq!(shown(&[]), newest);
}

/// Those that are written while they are found are the same as those that are kept until the end.
#[test]
fn messages_in_the_files_order_are_streamed_whole() {
    let files: Vec<_> = (0..40)
        .map(|file| {
            let count = if file % 7 == 0 { 30_000 } else { 50 };
            let lines =
                (0..count).map(|number| line("user", number % 60, &format!("hit {file} {number}")));
            (format!("{file:02}.jsonl"), lines.collect::<String>())
        })
        .collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let dir = folder(&files);
    let packed = zstd::encode_all(files[7].1.as_bytes(), 1).unwrap();
    fs::write(dir.path().join("07.jsonl.zst"), packed).unwrap();
    for output in ["text", "jsonl", "json"] {
        let arguments = |limit| ["hit", "--sort", "path", "--output", output, "--limit", limit];
        let streamed = asked(&dir, &arguments("all"));
        let kept = asked(&dir, &arguments("1000000"));
        assert_eq!((streamed.code, &streamed.stderr), (Some(0), &String::new()));
        assert!(streamed.stdout == kept.stdout, "{output}");
        assert!(streamed.stdout.len() > 10 << 20);
    }
    let nothing = asked(&dir, &["absent", "--sort", "path", "--limit", "all", "--json"]).stdout;
    let whole: Value = serde_json::from_str(&nothing).unwrap();
    assert_eq!((&whole["messages"], &whole["matches"]), (&json!([]), &0.into()));
    // Whoever reads has seen enough.
    let mut command = program();
    command.args(["hit", "--sort", "path", "--limit", "all", root(&dir)]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn lines_are_numbered_where_that_is_asked() {
    let dir = texts(&["a", "b hit", "c", "d hit"]);
    let shown = asked(&dir, &["hit", "-n"]).stdout;
    assert!(shown.contains("/a.jsonl:4\n  d hit\n") && shown.contains("/a.jsonl:2\n  b hit\n"));
    let json = asked(&dir, &["b", "--line-number", "--json"]).stdout;
    let whole: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(whole["messages"][0]["line"], 2);
}

#[test]
fn repaired_lines_are_counted_where_they_are_shown() {
    let broken = r#"{"role":"user","content":"hit \ud83d"}"#;
    let dir = folder(&[("a.jsonl", format!("{broken}\n{broken}\n{}", line("user", 1, "whole")))]);
    let told = |arguments: &[&str]| asked(&dir, arguments).stderr;
    assert_eq!(told(&["hit"]), "jsonl-search: 2 lines were broken and were repaired\n");
    assert_eq!(told(&["whole"]), "");
    assert_eq!(told(&["hit", "--json"]), "");
    let dir = folder(&[("a.jsonl", broken.to_owned())]);
    let told = asked(&dir, &["hit"]);
    assert_eq!(told.stderr, "jsonl-search: 1 line was broken and was repaired\n");
    assert!(told.stdout.contains(":0 (repaired)\n"));
}
