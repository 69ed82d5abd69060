//! Names and texts of commands that would act where they are shown: in a terminal, in a page, in a
//! CI system.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

use crate::{lab, text};

const HOSTILE: [(&str, &str); 20] = [
    ("the screen cleared", "\u{1b}[2J\u{1b}[Hnew"),
    ("a window's title", "\u{1b}]0;owned\u{7}new"),
    ("a link of a terminal", "\u{1b}]8;;http://x\u{1b}\\\\new\u{1b}]8;;\u{1b}\\\\"),
    ("a control of eight bits", "\u{9b}31mnew"),
    ("a line written over", "new\rold: faster"),
    ("letters taken back", "new\u{8}\u{8}\u{8}old"),
    ("a line of its own", "new\nold against new: faster"),
    ("a workflow command", "::error title=x::owned"),
    ("a workflow command behind spaces", "  ::add-mask::a"),
    ("a workflow command in a line of its own", "new\n::stop-commands::x"),
    ("a workflow command behind an escaped line", "new%0A::error::owned"),
    ("an older workflow command", "new ##[error]owned"),
    ("text turned round", "new \u{202e}retsaf"),
    ("text set apart", "\u{2066}new\u{2069}\u{2067}"),
    ("letters without width", "n\u{200b}e\u{2060}w\u{feff}"),
    ("a separator of lines", "new\u{2028}old: faster"),
    ("letters of tags", "new\u{e0041}\u{e0042}"),
    ("an element of a page", "<script>alert(1)</script><img src=x onerror=alert(1)>"),
    ("an end of code", "a` ![x](http://x/y.png) `b"),
    ("cells of a table", "new | faster\t| \"a\" \\\\| 'b"),
];

/// Letters that do something else than to be seen, but for the ends of lines.
fn acting(text: &str) -> Vec<char> {
    let acts = |letter: &char| {
        letter.is_control()
            || "\u{200b}\u{2028}\u{202e}\u{2060}\u{2066}\u{2067}\u{2069}\u{feff}".contains(*letter)
            || ('\u{e0000}'..='\u{e007f}').contains(letter)
    };
    text.chars().filter(|letter| acts(letter) && *letter != '\n').collect()
}

/// Workflow commands that a CI system would find.
fn workflow_commands(text: &str) -> Vec<&str> {
    let is_one = |line: &&str| line.trim_start().starts_with("::") || line.contains("##[");
    text.lines().filter(is_one).collect()
}

#[test]
fn names_do_nothing_where_they_are_shown() {
    for (what, name) in HOSTILE {
        let attack =
            |place: &str| Attack::on("pages", &format!("{what} as a command's name, {place}"));
        let dir = TempDir::new().unwrap();
        let arguments = ["true", "true", "-N", "--runs", "80", "-n", name, "-n", "old"];
        let exports = ["--export-json", "a.json", "--export-markdown", "a.md", "--plot", "a.svg"];
        let mut job = lab(&dir, &[&arguments[..], &exports].concat());
        job.env("GITHUB_ACTIONS", "true").env("GITHUB_OUTPUT", dir.path().join("output"));
        let told = job.assert();
        let errors = String::from_utf8(told.get_output().stderr.clone()).unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
        {
            let _attack = attack("in a terminal");
            let shown = text(&told);
            assert_eq!(acting(&shown), [] as [char; 0], "{shown}");
            assert_eq!(workflow_commands(&shown), [""; 0]);
            // The answer, and nothing after it.
            let last: Vec<&str> = shown.lines().rev().take(2).collect();
            assert!(last[0].contains("old") && last[1].contains(" rounds in "), "{shown}");
        }
        {
            let _attack = attack("in workflow commands");
            assert_eq!(acting(&errors), [] as [char; 0], "{errors}");
            let commands = workflow_commands(&errors);
            let [command] = commands[..] else { panic!("{commands:?}") };
            let (title, text) =
                command.split_once("title=old against ").unwrap().1.split_once("::").unwrap();
            assert!(!title.contains([':', ',']) && !text.contains("::"), "{command}");
            assert_eq!(read("output").lines().count(), 1);
        }
        {
            let _attack = attack("in hyperfine's JSON");
            let json = read("a.json");
            assert_eq!(acting(&json), [] as [char; 0]);
            assert_eq!(workflow_commands(&json), [""; 0]);
            let runs: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(runs["results"].as_array().unwrap().len(), 2);
        }
        {
            let _attack = attack("in Markdown");
            let page = read("a.md");
            assert_eq!(acting(&page), [] as [char; 0]);
            let rows: Vec<&str> =
                page.lines().filter(|line| line.starts_with("| ")).take(3).collect();
            for row in rows {
                let bare = row.replace("\\|", "");
                assert_eq!(bare.matches('|').count(), 5, "{row}");
            }
            let first = page.lines().nth(2).unwrap();
            let marks: String = first[2..].chars().take_while(|letter| *letter == '`').collect();
            assert!(!marks.is_empty() && !name.contains(&marks), "{first}");
        }
        {
            let _attack = attack("in a picture");
            let picture = read("a.svg");
            assert!(picture.is_empty() || picture.contains("</svg>"), "{picture}");
            assert_eq!(acting(&picture.replace('\t', "")), [] as [char; 0]);
            assert!(!picture.contains("<script>alert") && !picture.contains("<img"), "{picture}");
        }
    }
}

#[test]
fn the_json_and_the_summary_of_a_job_hold_no_letter_that_acts() {
    for (what, name) in HOSTILE {
        let _attack = Attack::on("pages", &format!("{what} as a command's text, in all of --json"));
        let dir = TempDir::new().unwrap();
        let text = format!(": '{}'", name.replace('\'', ""));
        let mut job = lab(&dir, &[&text, "echo b", "--runs", "1", "--json"]);
        job.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", dir.path().join("summary"));
        let told = job.assert().code(11);
        let json = crate::text(&told);
        assert_eq!(acting(&json), [] as [char; 0], "{json}");
        assert_eq!(workflow_commands(&json), [""; 0]);
        let result: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(result["commands"][0]["text"], text.as_str(), "the text itself is kept");
        let summary = fs::read_to_string(dir.path().join("summary")).unwrap();
        assert_eq!(acting(&summary), [] as [char; 0], "{summary}");
        let note =
            summary.lines().find(|line| line.starts_with("echo b prints something")).unwrap();
        let marks = ["\\<", "\\[", "\\]", "\\!", "\\`"];
        let bare = marks.iter().fold(note.to_owned(), |note, mark| note.replace(mark, ""));
        assert!(!bare.contains(['<', '[', ']', '!', '`']), "{note}");
    }
}

#[test]
fn sentences_about_hostile_commands_are_one_harmless_line() {
    for (what, name) in HOSTILE {
        let quoted = name.replace('\'', "");
        for (how, command, more) in [
            ("that fails", format!(": '{quoted}'; exit 3"), &[][..]),
            ("that hangs", format!(": '{quoted}'; sleep 99"), &["--timeout", "0.3"]),
            ("that complains", format!("printf '%s' '{quoted}' >&2; exit 3"), &[]),
        ] {
            let _attack = Attack::on("pages", &format!("{what} in a command {how}"));
            let dir = TempDir::new().unwrap();
            let mut job = lab(&dir, &[&["true", &command, "--runs", "1"], more].concat());
            let failed = job.env("GITHUB_ACTIONS", "true").assert().code(1);
            let errors = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
            assert_eq!(acting(&errors), [] as [char; 0], "{errors}");
            let commands = workflow_commands(&errors);
            assert_eq!(commands.len(), 1, "{errors}");
            assert!(
                commands[0].starts_with("::error title=lab compare::`: ")
                    || how == "that complains"
            );
            // What it says in several lines is quoted.
            let lines = errors.lines().filter(|line| !line.starts_with("  | "));
            assert_eq!(lines.count(), 3, "{errors}");
        }
    }
    let hostile = ["true", "true", "--prepare", "exit 3 # \u{1b}[2J\n# ::error::x"];
    let _attack = Attack::on("pages", "hostile text in --prepare");
    let failed = crate::compare(&hostile).code(1);
    failed.stderr(contains(
        "lab: --prepare `exit 3 # \\u{1b}[2J\\n# ::error::x` ended with status 3",
    ));
}
