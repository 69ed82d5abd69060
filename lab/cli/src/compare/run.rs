//! Running the commands: the answers first, then round after round.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use lab_compare::{Layout, RoundPlan};
use lab_process::{Ended, Finished, Output, Run, RunError};

use super::{
    args::{CompareArgs, Metric},
    commands::{Command, in_shell},
    record::Round,
};
use crate::Failure;

/// The end of a failed command's complaints that is shown.
const EXCERPT_CHARS: usize = 200;
/// The exit code of a comparison one of whose commands failed.
const COMMAND_FAILED: u8 = 1;
/// A shell's status where there is no such program.
const NOT_FOUND: i32 = 127;

/// Runs commands as the arguments say. The last of them is the reference again, where there is a
/// control.
pub(crate) struct Runner<'a> {
    pub(crate) args: &'a CompareArgs,
    pub(crate) commands: Vec<Command>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) interrupted: &'a AtomicBool,
    output: Output,
    /// For what a command prints while its answer is checked, and what gnuplot reads.
    pub(crate) folder: PathBuf,
}

/// A step that did not end in a result.
pub(crate) enum Stopped {
    /// The user wants to stop.
    Interrupted,
    /// Something failed.
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        args: &'a CompareArgs,
        mut commands: Vec<Command>,
        metrics: Vec<Metric>,
        interrupted: &'a AtomicBool,
        folder: PathBuf,
    ) -> Self {
        if !args.no_control {
            commands.push(commands[0].clone());
        }
        let output = match args.output.as_str() {
            "null" => Output::Null,
            "pipe" => Output::Hash,
            "inherit" => Output::Inherit,
            path => Output::File(path.into()),
        };
        Self { args, commands, metrics, interrupted, output, folder }
    }

    /// Runs every command once with its answer looked at; returns sentences about what differs.
    pub(crate) fn check(&self) -> Result<Vec<String>, Stopped> {
        let mut hashes = Vec::new();
        for command in &self.commands {
            let errors = self.folder.join("errors");
            let answer = self.folder.join("answer");
            self.prepare(command)?;
            let to = match self.args.check.as_str() {
                "same-output" | "status" => Output::Hash,
                _ => Output::File(answer.clone()),
            };
            let run = Run { output: to, errors: Some(errors.clone()), ..self.run_of(command) };
            let finished = self.finish(command, &run).map_err(|stopped| match stopped {
                Stopped::Failed(mut failure) => {
                    failure.sentence.push_str(&excerpt(&errors));
                    Stopped::Failed(failure)
                }
                interrupted => interrupted,
            })?;
            if let Output::File(answer) = run.output {
                self.helper("--check", &self.args.check, Some(answer))?;
            }
            hashes.push(finished.output.map(|(hash, _)| hash));
        }
        if self.args.check != "same-output" {
            return Ok(Vec::new());
        }
        Ok(differences(&self.commands, &hashes, !self.args.no_control))
    }

    /// Runs one round in its order.
    pub(crate) fn round(&self, plan: RoundPlan) -> Result<Round, Stopped> {
        let layout = if self.args.fixed_layout { Layout::default() } else { plan.layout };
        let mut runs = vec![Vec::new(); self.commands.len()];
        let mut statuses = vec![0; self.commands.len()];
        for place in &plan.order {
            let command = &self.commands[*place];
            self.prepare(command)?;
            let environment_bytes = usize::from(layout.environment_bytes);
            let run = Run { environment_bytes, ..self.run_of(command) };
            let finished = self.finish(command, &run)?;
            runs[*place] = self.metrics.iter().map(|metric| value(*metric, &finished)).collect();
            statuses[*place] = match finished.ended {
                Ended::Exited(status) => status,
                _ => -1,
            };
        }
        Ok(Round { elapsed_s: 0.0, order: plan.order, layout, runs, statuses })
    }

    /// Runs --setup or --cleanup.
    pub(crate) fn helper(
        &self,
        option: &str,
        text: &str,
        input: Option<PathBuf>,
    ) -> Result<(), Stopped> {
        let argv = in_shell(text, self.args.shell.as_deref());
        let run = Run { argv, input, ..Run::default() };
        match run.execute(self.interrupted).map_err(broken)?.ended {
            Ended::Exited(0) => Ok(()),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                Err(failed(COMMAND_FAILED, format!("{option} `{text}` {}", told(ended, None))))
            }
        }
    }

    fn prepare(&self, command: &Command) -> Result<(), Stopped> {
        command.prepare.as_ref().map_or(Ok(()), |text| self.helper("--prepare", text, None))
    }

    fn run_of(&self, command: &Command) -> Run {
        Run {
            argv: command.argv.iter().map(Into::into).collect(),
            input: self.args.input.clone(),
            output: self.output.clone(),
            timeout: self.args.timeout.map(Duration::from_secs_f64),
            ..Run::default()
        }
    }

    fn finish(&self, command: &Command, run: &Run) -> Result<Finished, Stopped> {
        let finished = run.execute(self.interrupted).map_err(broken)?;
        match finished.ended {
            Ended::Exited(0) => Ok(finished),
            Ended::Exited(_) if self.args.ignore_failure => Ok(finished),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                let told = told(ended, self.args.timeout);
                let code = if ended == Ended::Exited(NOT_FOUND) { 2 } else { COMMAND_FAILED };
                Err(failed(code, format!("`{}` {told}", command.text)))
            }
        }
    }
}

fn told(ended: Ended, timeout: Option<f64>) -> String {
    match ended {
        Ended::Exited(NOT_FOUND) => "was not found".to_owned(),
        Ended::Exited(status) => {
            format!("ended with status {status}; --ignore-failure accepts that")
        }
        Ended::Signalled(signal) => format!("was ended by signal {signal}"),
        Ended::TimedOut => {
            format!("was ended after {} s, the --timeout", timeout.unwrap_or_default())
        }
        Ended::Interrupted => "was interrupted".to_owned(),
    }
}

fn failed(code: u8, sentence: String) -> Stopped {
    Stopped::Failed(Failure { code, sentence })
}

fn broken(error: RunError) -> Stopped {
    let code = match error {
        RunError::Start { .. } => 2,
        RunError::Open { .. } => 4,
        RunError::Follow(_) => 5,
    };
    Stopped::Failed(Failure { code, sentence: error.to_string() })
}

/// The last words of a failed command.
pub(crate) fn excerpt(errors: &Path) -> String {
    let text = fs::read(errors).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.trim().lines().last().unwrap_or_default();
    let words: String = last.chars().take(EXCERPT_CHARS).collect();
    if words.is_empty() { words } else { format!(": {words}") }
}

fn differences(commands: &[Command], hashes: &[Option<String>], control: bool) -> Vec<String> {
    let candidates = commands.len() - usize::from(control);
    if control && hashes[0] != hashes[commands.len() - 1] {
        let name = &commands[0].name;
        return vec![format!(
            "{name} prints something else each time, so outputs were not compared"
        )];
    }
    (1..candidates)
        .filter(|place| hashes[*place] != hashes[0])
        .map(|place| {
            let (name, reference) = (&commands[place].name, &commands[0].name);
            format!("{name} prints something else than {reference}")
        })
        .collect()
}

/// Microseconds, bytes and counts.
fn value(metric: Metric, finished: &Finished) -> f64 {
    let usage = &finished.usage;
    match metric {
        Metric::Wall => microseconds(finished.wall),
        Metric::Cpu => microseconds(usage.user + usage.system),
        Metric::User => microseconds(usage.user),
        Metric::System => microseconds(usage.system),
        Metric::Rss => usage.peak_rss_bytes as f64,
        Metric::Faults => (usage.minor_faults + usage.major_faults) as f64,
        Metric::Switches => (usage.voluntary_switches + usage.involuntary_switches) as f64,
        Metric::Blocks => (usage.blocks_in + usage.blocks_out) as f64,
    }
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

/// Seconds of this part and of the parts before it.
pub(crate) struct Stopwatch {
    start: Instant,
    before: f64,
}

impl Stopwatch {
    pub(crate) fn after(before: f64) -> Self {
        Self { start: Instant::now(), before }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }
}
