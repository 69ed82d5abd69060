//! What surrounds `lab compare`: --spend, --plot, --annotate and the schema of --json.

use std::{
    fs::{self, File},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{lab, text};

fn read(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

fn attempts(dir: &TempDir) -> Vec<Value> {
    read(dir, "s").lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SPEND: [&str; 6] = ["true", "true", "--spend", "s", "--runs", "2"];

#[test]
fn attempts_share_one_error_level() {
    let dir = TempDir::new().unwrap();
    lab(&dir, &SPEND).assert().code(11).stdout(contains("attempt 1: error level 0.61 %"));
    lab(&dir, &SPEND).assert().code(11).stdout(contains("attempt 2: error level 0.15 %"));
    let third = lab(&dir, &[&SPEND[..], &["--json"]].concat()).assert().code(11);
    let third: Value = serde_json::from_str(&text(&third)).unwrap();
    assert_eq!(third["attempt"], 3);
    let level = third["settings"]["alpha"].as_f64().unwrap();
    assert!((level - 0.01 * 0.607_927_1 / 9.0).abs() < 1e-9, "{level}");
    let written = attempts(&dir);
    assert_eq!((written.len(), written[2]["alpha"].as_f64()), (3, Some(level)));
    assert_eq!(written[2]["outcome"], json!(["cannot tell"]));
    assert_eq!(written[2]["commands"], json!(["true", "true"]));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left behind");
}

#[test]
fn what_never_ran_is_given_back_and_what_was_killed_is_not() {
    let dir = TempDir::new().unwrap();
    lab(&dir, &["true", "exit 3", "--spend", "s"]).assert().code(1);
    fs::write(dir.path().join("r"), "").unwrap();
    lab(&dir, &[&SPEND[..], &["--record", "r"]].concat()).assert().code(4);
    assert_eq!(attempts(&dir).len(), 0);
    let mut child = lab(&dir, &["sleep 0.3", "sleep 0.3", "--spend", "s", "--record", "rounds"]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lines = || fs::read_to_string(dir.path().join("rounds")).unwrap_or_default();
    while lines().lines().count() < 3 {
        thread::sleep(Duration::from_millis(20));
    }
    lab(&dir, &SPEND).assert().code(4).stderr(contains("s: is in use by another comparison"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(attempts(&dir)[0]["outcome"], Value::Null);
    lab(&dir, &SPEND).assert().code(11).stdout(contains("attempt 2: "));
}

#[test]
fn a_broken_file_of_attempts_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let head = "{\"schema\":\"lab-spend-1\",\"alpha\":0.01}\n";
    let attempt = |number: u32| {
        let rest = r#""time":"","commands":[],"alpha":0.1,"outcome":null}"#;
        format!("{{\"attempt\":{number},{rest}\n")
    };
    for (content, sentence) in [
        ("{}\n".to_owned(), "s: line 1 does not give the error level"),
        (head.replace("-1", "-3"), "s: has the schema lab-spend-3, not lab-spend-2"),
        (head.replace("0.01", "1.5"), "s: alpha in line 1 is 1.5, and should lie between 0 and 1"),
        (format!("{head}{{\"attempt\""), "s: line 2 is no attempt"),
        (format!("{head}{}{}", attempt(1), attempt(3)), "s: line 3 should be attempt 2"),
    ] {
        let _attack = Attack::on("records", &format!("a file of attempts: {sentence}"));
        fs::write(dir.path().join("s"), &content).unwrap();
        lab(&dir, &SPEND).assert().code(4).stderr(contains(sentence));
        assert_eq!(read(&dir, "s"), content);
    }
    fs::write(dir.path().join("s"), head.replace("0.01", "0.2") + &attempt(1)).unwrap();
    lab(&dir, &SPEND).assert().code(11).stdout(contains("attempt 2: error level 3.0 %"));
    let resumed = lab(&dir, &["true", "true", "--spend", "s", "--resume", "r"]).assert().code(2);
    resumed.stderr(contains("cannot be used with"));
    let locked = File::open(dir.path().join("s")).unwrap();
    locked.lock().unwrap();
    lab(&dir, &SPEND).assert().code(4).stderr(contains("in use"));
}

/// Enough for an interval, however noisy the machine.
const FEW: [&str; 6] = ["sleep 0.002", "sleep 0.004", "--runs", "80", "-n", "old"];

#[test]
fn a_picture_is_drawn_in_letters() {
    let dir = TempDir::new().unwrap();
    let drawn = lab(&dir, &[&FEW[..], &["--plot", "-"]].concat()).assert();
    let drawn = text(&drawn);
    assert!(drawn.contains("● estimate, at last +") && drawn.contains("┤"), "{drawn}");
    let letters = drawn.lines().filter(|line| line.contains(['┤', '│'])).count();
    assert!((10..=22).contains(&letters), "{drawn}");
    // Without gnuplot the same, and a sentence that says why.
    let bare = lab(&dir, &["/bin/true", "/bin/true", "-N", "--runs", "80", "--plot", "a.svg"])
        .env("PATH", "/nowhere")
        .assert();
    let bare = bare.stderr(contains("note: gnuplot is not installed, so a.svg is not written"));
    assert!(text(&bare).contains("● estimate"), "{}", text(&bare));
    assert!(!dir.path().join("a.svg").exists());
    let early = lab(&dir, &["true", "true", "--runs", "2", "--plot", "-"]).assert().code(11);
    early.stdout(contains("nothing to draw before there is an interval"));
    let refused = lab(&dir, &["true", "true", "--plot", "a.jpg"]).assert().code(2);
    refused.stderr(contains("--plot a.jpg: give a file that ends in .svg or .png, or -"));
}

/// Whether gnuplot is here; a test without it says so, on the stream that the harness keeps.
fn has_gnuplot(test: &str) -> bool {
    let found = Command::new("gnuplot").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: gnuplot is not installed");
    }
    found
}

#[test]
fn a_picture_is_drawn_by_gnuplot() {
    if !has_gnuplot("a_picture_is_drawn_by_gnuplot") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let three = ["sleep 0.003", "-n", "new_{1}", "-n", "third", "--control"];
    lab(&dir, &[&FEW[..], &three, &["--plot", "a.svg"]].concat()).output().unwrap();
    let picture = read(&dir, "a.svg");
    for part in [
        "wall time: difference (%)",
        "time since the first round (s)",
        "new_{1}",
        "third",
        "margin, ±1 %",
        "control: the reference against a copy",
        "2 commands against old",
    ] {
        assert!(picture.contains(part), "{part} is not in the picture");
    }
    lab(&dir, &[&FEW[..], &["--plot", "b.png"]].concat()).output().unwrap();
    assert_eq!(&fs::read(dir.path().join("b.png")).unwrap()[1..4], b"PNG");
    let nowhere = lab(&dir, &[&FEW[..], &["--plot", "no/a.svg"]].concat()).assert().code(4);
    nowhere.stderr(contains("--plot: cannot write no/a.svg: "));
}

#[test]
fn verdicts_become_workflow_commands_and_a_summary() {
    let dir = TempDir::new().unwrap();
    let job = |arguments: &[&str]| {
        let mut lab = lab(&dir, arguments);
        lab.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", dir.path().join("summary"));
        lab.env("GITHUB_OUTPUT", dir.path().join("output")).assert()
    };
    let names = ["-n", "old", "-n", "50 %, new: a"];
    let slower = job(&[&["sleep 0.002", "sleep 0.02"], &names[..]].concat()).code(10);
    slower.stderr(contains(
        "\n::error title=50 %25%2C new%3A a against old::slower, beyond the margin: a typical \
         run's wall time +",
    ));
    assert!(read(&dir, "summary").starts_with("| Command | Median"), "{}", read(&dir, "summary"));
    assert_eq!(read(&dir, "output"), "outcome=slower, beyond the margin\n");
    let open = job(&["true", "true", "--runs", "2"]).code(11);
    open.stderr(contains("::warning title=true against true::cannot tell: a typical run"));
    let asked = ["true", "true", "--runs", "2", "--fail-on", "not-shown-equivalent"];
    job(&asked).code(10).stderr(contains("::error title="));
    let asked = ["true", "true", "--runs", "2", "--fail-on", "tail"];
    job(&asked).code(11).stderr(contains("::warning title="));
    assert_eq!(read(&dir, "output").lines().count(), 4);
    let before = read(&dir, "summary");
    job(&["true", "true", "--runs", "2", "--export-markdown", "own.md"]).code(11);
    assert_eq!(read(&dir, "summary"), before);
    job(&["echo a", "echo b", "--runs", "2"]).code(11);
    let summary = read(&dir, "summary");
    assert!(summary.contains("\necho b prints something else than echo a\n"), "{summary}");
    assert!(summary.contains("\n- `echo b`: these rounds could have shown "), "{summary}");
    let failed = job(&["true", "exit 3", "--runs", "2"]).code(1);
    failed.stderr(contains("\n::error title=lab compare::`exit 3` ended with status 3; "));
    let silent = job(&["true", "true", "--runs", "2", "--annotate", "never"]).code(11);
    silent.stderr(contains("::").not());
    let asked = lab(&dir, &["true", "true", "--runs", "2", "--annotate", "github"]).assert();
    asked.stderr(contains("::warning title="));
}

#[test]
fn the_result_follows_its_schema() {
    let schema = include_str!("../../schemas/compare-2.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let dir = TempDir::new().unwrap();
    let runs = [
        vec!["true", "true", "--runs", "1"],
        vec!["sleep 0.002", "sleep 0.02", "sleep 0.02", "--spend", "s"],
        vec!["true", "true", "--runs", "40", "--fail-on", "slower"],
        vec!["true", "true", "--runs", "20", "--fail-on", "tail", "--tail", "2.5"],
        vec!["true", "true", "--runs", "20", "--precision", "0.5", "--confidence", "95"],
        vec!["true", "true", "--runs", "30", "--control", "--order", "blocks:2"],
        vec!["true", "true", "--runs", "4", "--sessions", "2"],
        vec!["true", "true", "--runs", "12", "--sessions", "6", "--control"],
        vec!["true {n}", "-L", "n", "1,2", "--prepare", "true", "--runs", "1", "--fixed-layout"],
    ];
    for run in runs {
        let assert = lab(&dir, &[&run[..], &["--json"]].concat()).assert();
        let result: Value = serde_json::from_str(&text(&assert)).unwrap();
        assert_eq!(complaints(&schema, &schema, &result, "$"), [""; 0]);
        // The check itself would find what is wrong.
        let mut broken = result.clone();
        broken["state"]["candidates"][0]["verdict"]["outcome"] = json!("best");
        broken["state"].as_object_mut().unwrap().remove("rounds");
        broken["settings"]["alpha"] = json!("1 %");
        broken["exit"] = json!(256);
        assert_eq!(complaints(&schema, &schema, &broken, "$").len(), 4);
    }
}

/// What a value breaks of the part of JSON Schema that our schemas use. An unknown word of a schema
/// is a complaint too, so that none is passed over.
fn complaints(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => match rule {
                Value::Array(types) => types.iter().any(|name| is_a(value, name)),
                name => is_a(value, name),
            },
            "minimum" => value.as_f64().is_none_or(|it| it >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|it| it <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|it| it > rule.as_f64().unwrap()),
            "exclusiveMaximum" => value.as_f64().is_none_or(|it| it < rule.as_f64().unwrap()),
            "minItems" => {
                value.as_array().is_none_or(|it| it.len() as u64 >= rule.as_u64().unwrap())
            }
            "maxItems" => {
                value.as_array().is_none_or(|it| it.len() as u64 <= rule.as_u64().unwrap())
            }
            "required" => {
                let keys = rule.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
                value.as_object().is_none_or(|it| keys.into_iter().all(|key| it.contains_key(key)))
            }
            "properties" => {
                for (key, rule) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        found.extend(complaints(root, rule, value, &format!("{at}.{key}")));
                    }
                }
                true
            }
            "items" => {
                for (place, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(complaints(root, rule, value, &format!("{at}[{place}]")));
                }
                true
            }
            "anyOf" => {
                let fits = |rule: &Value| complaints(root, rule, value, at).is_empty();
                rule.as_array().unwrap().iter().any(fits)
            }
            "$ref" => {
                let place = rule.as_str().unwrap().strip_prefix('#').unwrap();
                found.extend(complaints(root, root.pointer(place).unwrap(), value, at));
                true
            }
            _ => false,
        };
        if !holds {
            found.push(format!("{at} breaks {word}: {value}"));
        }
    }
    found
}

fn is_a(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
