//! `.github/actions/compare`: what it says of its inputs, and its steps run as a runner would, on a
//! made-up repository.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use assert_cmd::assert::OutputAssertExt;
use tempfile::TempDir;

const ACTION: &str = include_str!("../../../.github/actions/compare/action.yml");

/// A step of the action.
struct Step {
    env: Vec<(String, String)>,
    script: String,
}

struct Action {
    /// Name and default.
    inputs: BTreeMap<String, Option<String>>,
    outputs: Vec<String>,
    steps: Vec<Step>,
}

/// The lines below a key, as far as they are indented deeper.
fn below<'a>(lines: &[&'a str], key: &str) -> Vec<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let at = lines.iter().position(|line| line.trim_start().starts_with(key)).unwrap();
    let own = indent(lines[at]);
    let deeper = |line: &&&str| line.trim().is_empty() || indent(line) > own;
    lines[at + 1..].iter().take_while(deeper).copied().collect()
}

/// Reads the part of YAML that the file is written in.
fn action() -> Action {
    let lines: Vec<&str> = ACTION.lines().collect();
    let keys = |lines: &[&str]| -> Vec<String> {
        let own = |line: &&&str| line.starts_with("  ") && !line.starts_with("   ");
        lines.iter().filter(own).map(|line| line.trim().trim_end_matches(':').to_owned()).collect()
    };
    let inputs = below(&lines, "inputs:");
    let input = |name: String| {
        let own = below(&inputs, &format!("{name}:"));
        let default = own.iter().find_map(|line| line.trim().strip_prefix("default: "));
        (name, default.map(|text| text.trim_matches('"').to_owned()))
    };
    let steps = below(&lines, "steps:");
    let starts: Vec<usize> =
        (0..steps.len()).filter(|at| steps[*at].trim_start().starts_with("- ")).collect();
    let step = |(number, start): (usize, &usize)| {
        let end = starts.get(number + 1).copied().unwrap_or(steps.len());
        let own = &steps[*start..end];
        let pair = |line: &&str| {
            let (key, value) = line.trim().split_once(": ").unwrap();
            (key.to_owned(), value.to_owned())
        };
        assert!(own.iter().any(|line| line.trim() == "shell: bash"), "{own:?}");
        let script = below(own, "run: |");
        Step {
            env: below(own, "env:").iter().map(pair).collect(),
            script: script
                .iter()
                .map(|line| format!("{}\n", line.get(8..).unwrap_or("")))
                .collect(),
        }
    };
    Action {
        inputs: keys(&inputs).into_iter().map(input).collect(),
        outputs: keys(&below(&lines, "outputs:")),
        steps: starts.iter().enumerate().map(step).collect(),
    }
}

fn program() -> PathBuf {
    std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap()
}

#[test]
fn every_input_is_used_and_every_option_exists() {
    let action = action();
    assert_eq!(action.inputs.len(), 11, "{:?}", action.inputs.keys());
    assert_eq!(action.outputs, ["outcome", "json"]);
    for input in action.inputs.keys() {
        let place = format!("${{{{ inputs.{input} }}}}");
        let used = action.steps.iter().flat_map(|step| &step.env).any(|(_, value)| *value == place);
        assert!(used, "no step has the input {input}");
    }
    for Step { env, script } in &action.steps {
        // A value inside a script would be run as a part of it.
        assert!(!script.contains("${{"), "{script}");
        let used = |name: &String| {
            script.contains(&format!("${name}")) || script.contains(&format!("${{{name}"))
        };
        assert!(env.iter().all(|(name, _)| used(name)), "{script}");
    }
    let help = Command::new(program()).args(["compare", "--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let compare = &action.steps[1].script;
    let options: Vec<&str> = compare
        .lines()
        .filter(|line| line.contains("options"))
        .flat_map(|line| line.split(['(', ')', ' ']))
        .filter(|word| word.starts_with('-') && !word.trim_matches('-').is_empty())
        .collect();
    assert!(options.len() >= 8, "{options:?}");
    for option in options {
        let known = help.split(|c: char| c.is_whitespace() || c == ',').any(|word| word == option);
        assert!(known, "lab compare has no {option}");
    }
}

/// What a runner keeps for a job, beside a repository with a revision that is slower than another.
struct Job {
    dir: TempDir,
}

impl Job {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let script = "mkdir repository && cd repository
            git init -q -b main . && git config user.name n && git config user.email e@e
            commit() { echo \"$2\" > source; git add .; git commit -qm \"$1\"; git tag \"$1\"; }
            commit fast 'sleep 0.001'; commit slow 'sleep 0.03'";
        Command::new("bash").args(["-ec", script]).current_dir(&dir).assert().success();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the step as a runner does, with these inputs and the defaults of the others.
    fn run(&self, step: &Step, inputs: &[(&str, &str)]) -> Output {
        let defaults = action().inputs;
        let value = |name: &str| {
            let given = inputs.iter().find(|(input, _)| *input == name).map(|(_, value)| *value);
            given.map(str::to_owned).or(defaults[name].clone()).unwrap()
        };
        let folder = program().parent().unwrap().to_owned();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        fs::write(self.path("script"), &step.script).unwrap();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(self.path("script"));
        for (name, place) in &step.env {
            let input = place.strip_prefix("${{ inputs.").unwrap().strip_suffix(" }}").unwrap();
            bash.env(name, value(input));
        }
        bash.current_dir(self.path("repository"))
            .env("PATH", path)
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("RUNNER_TEMP", self.dir.path())
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .output()
            .unwrap()
    }

    fn outputs(&self) -> String {
        fs::read_to_string(self.path("output")).unwrap_or_default()
    }
}

const BUILD: &str =
    "mkdir -p out && { echo '#!/bin/sh'; cat source; } > out/tool && chmod +x out/tool";

#[test]
fn its_steps_run_as_on_a_runner() {
    let job = Job::new();
    let action = action();
    // lab is on PATH: nothing is installed.
    assert_eq!(job.run(&action.steps[0], &[]).status.code(), Some(0));
    let compare = |more: &[(&str, &str)]| {
        let inputs = [("command", "out/tool 'two words'"), ("build", BUILD), ("budget", "20")];
        let inputs = [&inputs[..], &[("base", "fast"), ("head", "slow")], more].concat();
        let _ = fs::remove_file(job.path("output"));
        let inputs: Vec<_> = inputs.iter().rev().copied().collect();
        job.run(&action.steps[1], &inputs)
    };
    let slower = compare(&[]);
    let errors = String::from_utf8_lossy(&slower.stderr).into_owned();
    assert_eq!(slower.status.code(), Some(10), "{errors}");
    assert!(
        errors.contains("::error title=head against base::slower, beyond the margin"),
        "{errors}"
    );
    let outputs = job.outputs();
    let json = outputs.lines().find_map(|line| line.strip_prefix("json=")).unwrap();
    assert!(outputs.contains("outcome=slower, beyond the margin\n"), "{outputs}");
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(Path::new(json)).unwrap()).unwrap();
    assert_eq!(result["commands"][1]["argv"][1], "two words");
    assert_eq!(result["settings"]["control"], true);
    assert_eq!(compare(&[("control", "maybe")]).status.code(), Some(2));
    assert!(fs::read_to_string(job.path("summary")).unwrap().contains("| `head` |"));

    assert_eq!(compare(&[("fail-on", "never")]).status.code(), Some(0));
    assert_eq!(compare(&[("fail-on", "tail"), ("base", "slow")]).status.code(), Some(0));
    assert_eq!(compare(&[("base", "slow"), ("head", "fast")]).status.code(), Some(0));
    let missing = compare(&[("base", "0000000000000000000000000000000000000000")]);
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8_lossy(&missing.stdout).into_owned();
    assert!(said.contains("::error title=lab compare::no revision 0000"), "{said}");
    assert_eq!(compare(&[("fail-on", "always")]).status.code(), Some(2));
    let broken = compare(&[("build", "echo 5 % bad >&2; exit 1")]);
    assert_eq!(broken.status.code(), Some(1));
    let said = String::from_utf8_lossy(&broken.stderr).into_owned();
    let annotation = "::error title=lab compare::fast does not build: 5 %25 bad\n";
    assert!(said.contains(annotation), "{said}");

    let open = compare(&[("options", "--runs 2 --prepare 'touch \"$(echo a b)\"'")]);
    assert_eq!(open.status.code(), Some(0));
    let outputs = job.outputs();
    let second = outputs.lines().find_map(|line| line.strip_prefix("json=")).unwrap();
    assert_ne!(second, json);
    let result = |path: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    assert_eq!(result(second)["state"]["rounds"], 2);
    assert_eq!(result(second)["commands"][1]["prepare"], "touch \"$(echo a b)\"");
    assert!(result(json)["exit"] == 10 && job.path("repository/a b").exists());
    let open = compare(&[("options", "--prepare 'true")]);
    assert_eq!(open.status.code(), Some(2));
    let said = String::from_utf8_lossy(&open.stdout).into_owned();
    assert!(said.contains("lab compare::options has a quote that is not closed"), "{said}");
}
