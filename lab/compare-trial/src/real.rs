//! What `lab compare --json` said of real programs, as a table.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    commands: Vec<Command>,
    state: State,
}

#[derive(Deserialize)]
struct Command {
    name: String,
}

#[derive(Deserialize)]
struct State {
    rounds: usize,
    elapsed_s: f64,
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    verdict: lab_compare::Verdict,
    metrics: Vec<Metric>,
}

#[derive(Deserialize)]
struct Metric {
    estimate: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    shift: f64,
    interval: Option<[f64; 2]>,
}

/// A row for each candidate of each file in the folder's `real/`; `None` where there is none.
pub fn table(folder: &Path) -> Result<Option<String>> {
    let Ok(entries) = fs::read_dir(folder.join("real")) else { return Ok(None) };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ext| ext == "json"));
    files.sort();
    let mut lines = vec!["of\tcandidate\tdifference\toutcome\trounds\tseconds".to_owned()];
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let answer: Answer =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let reference = &answer.commands[0].name;
        for (candidate, command) in answer.state.candidates.iter().zip(&answer.commands[1..]) {
            lines.push(format!(
                "{reference}\t{}\t{}\t{}\t{}\t{:.0}",
                command.name,
                difference(candidate),
                candidate.verdict,
                answer.state.rounds,
                answer.state.elapsed_s
            ));
        }
    }
    Ok(Some(lines.join("\n") + "\n"))
}

/// "+1.02 % (+0.21 … +1.83)".
fn difference(candidate: &Candidate) -> String {
    let percent = |shift: f64| format!("{:+.2}", 100.0 * shift.exp_m1());
    match candidate.metrics.first().and_then(|metric| metric.estimate.as_ref()) {
        Some(Estimate { shift, interval: Some([low, high]) }) => {
            format!("{} % ({} … {})", percent(*shift), percent(*low), percent(*high))
        }
        Some(Estimate { shift, interval: None }) => format!("{} %", percent(*shift)),
        None => "-".to_owned(),
    }
}
