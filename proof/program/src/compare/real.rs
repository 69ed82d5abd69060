//! What `lab compare --json` said of real programs, as a table, and what of it a run may have left
//! to the next.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use lab_compare::{Ran, after_themselves};
use lab_stats::after_itself::AfterItself;
use serde::Deserialize;

const COLUMNS: [&str; 7] =
    ["of", "candidate", "difference", "outcome", "rounds", "seconds", "bias_percent"];

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
    let mut lines = vec![COLUMNS.join("\t")];
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let answer: Answer =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let reference = &answer.commands[0].name;
        let rounds = rounds(&file.with_extension("jsonl.zst"))?;
        let left = Left::of(&rounds, answer.commands.len());
        let candidates = answer.state.candidates.iter().zip(&answer.commands[1..]);
        for (number, (candidate, command)) in candidates.enumerate() {
            lines.push(format!(
                "{reference}\t{}\t{}\t{}\t{}\t{:.0}\t{}",
                command.name,
                difference(candidate),
                candidate.verdict,
                answer.state.rounds,
                answer.state.elapsed_s,
                left.bias(number + 1)
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

/// A round of a recording.
#[derive(Deserialize)]
struct Round {
    #[serde(default)]
    wash: Vec<usize>,
    order: Vec<usize>,
    runs: Vec<Vec<f64>>,
}

fn rounds(path: &Path) -> Result<Vec<Round>> {
    let packed = fs::read(path).with_context(|| path.display().to_string())?;
    let text = zstd::decode_all(packed.as_slice()).with_context(|| path.display().to_string())?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).skip(1);
    lines.map(|line| Ok(serde_json::from_slice(line)?)).collect()
}

/// By command: what it gains right after itself, and how often it is there.
struct Left(Vec<Option<(AfterItself, f64)>>);

impl Left {
    /// The reference may be twice in a round: then it is the last command too.
    fn of(rounds: &[Round], commands: usize) -> Self {
        let program = |command: &usize| if *command < commands { *command } else { 0 };
        let mut counts = vec![[0_u32; 2]; commands];
        let mut before = None;
        let ordered: Vec<(Vec<usize>, Vec<usize>)> = rounds
            .iter()
            .map(|round| {
                let own = |places: &[usize]| places.iter().map(program).collect::<Vec<usize>>();
                (own(&round.wash), own(&round.order))
            })
            .collect();
        for (wash, order) in &ordered {
            before = wash.first().copied().or(before);
            for command in order {
                counts[*command][0] += u32::from(before == Some(*command));
                counts[*command][1] += 1;
                before = Some(*command);
            }
        }
        let ran: Vec<Ran<'_>> = rounds
            .iter()
            .zip(&ordered)
            .map(|(round, (wash, order))| {
                let times = round.order.iter().map(|command| round.runs[*command][0]).collect();
                Ran { wash, order, times }
            })
            .collect();
        let shares = counts.iter().map(|[own, all]| f64::from(*own) / f64::from(*all));
        let gains = after_themselves(&ran, commands);
        Self(gains.into_iter().zip(shares).map(|(gain, share)| Some((gain?, share))).collect())
    }

    /// What the difference of a candidate owes to its being after itself less often than the
    /// reference, with a 95 % interval: "+0.1 (-0.2 … +0.4)".
    fn bias(&self, candidate: usize) -> String {
        let (Some((of, share)), Some((own, own_share))) = (self.0[0], self.0[candidate]) else {
            return "-".to_owned();
        };
        let shift = own.shift * own_share - of.shift * share;
        let error = (own.standard_error * own_share).hypot(of.standard_error * share);
        let percent = |shift: f64| 100.0 * shift.exp_m1();
        let ends = [shift - 1.96 * error, shift + 1.96 * error].map(percent);
        format!("{:+.2} ({:+.2} … {:+.2})", percent(shift), ends[0], ends[1])
    }
}
