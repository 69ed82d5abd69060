//! The `lab` command.

mod audit;
mod claims;
mod compare;
mod corpus;
mod doctor;
mod paths;
mod plan;
mod progress;
mod report;
mod run;
mod servers;
mod verify;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

use crate::paths::Paths;

/// Which of these variants is better on this machine, by how much, and how sure are we?
#[derive(Parser)]
#[command(name = "lab", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes:
  0    done
  1    done, and at least one run failed or one check did not hold (the records say which), or
       the audit found something impossible
  2    the command line, an experiment, a manifest or a table is wrong, or what is to be audited
       cannot be read
  3    a server that was named cannot be used
  4    a results folder or a corpus cannot be resumed, read or written
  5    the lab itself failed
  130  interrupted; go on with `lab run --resume DIR`";

/// Where things lie.
#[derive(Args)]
struct Place {
    /// The repository, or Bazel's runfiles [default: the folder above that has experiments/]
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Where the variants' programs were built [default: beside `lab`]
    #[arg(long, global = true, value_name = "DIR")]
    bin_dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Say what this machine is, how noisy it is, and what is missing
    Doctor(doctor::DoctorArgs),
    /// Print what an experiment would run, and for how long
    Plan(plan::PlanArgs),
    /// Run every variant once and check its answer
    Verify(verify::VerifyArgs),
    /// Run an experiment, record it and write its report
    Run(run::RunArgs),
    /// Write the report of recorded runs again
    Report(report::ReportArgs),
    /// Copy recorded runs and their report into a folder that is fit to commit
    Export(report::ExportArgs),
    /// Tell which of some commands is faster, by how much and how surely
    Compare(Box<compare::CompareArgs>),
    /// Find what cannot be true in a benchmark report
    Audit(audit::AuditArgs),
    /// Bring up, ask after or end two real Ollama servers
    Servers(servers::ServersArgs),
    /// Be the paced Ollama server
    Sim(lab_sim::SimArgs),
    /// Make a corpus of chat sessions to search in, or check one
    Corpus(lab_corpus::CorpusArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        // The server and a corpus need no repository around them.
        Command::Sim(args) => lab_sim::run(args).map(|()| ExitCode::SUCCESS).map_err(Failure::from),
        Command::Corpus(args) => corpus::corpus(&args),
        Command::Compare(args) => compare::compare(&args),
        // Nor does a stranger's report.
        Command::Audit(args) if args.document.is_some() => audit::audit(&args),
        command => Paths::find(cli.place.root, cli.place.bin_dir)
            .and_then(|paths| dispatch(command, &paths)),
    };
    outcome.unwrap_or_else(|failure| {
        eprintln!("lab: {}", failure.sentence);
        ExitCode::from(failure.code)
    })
}

fn dispatch(command: Command, paths: &Paths) -> Result<ExitCode, Failure> {
    match command {
        Command::Doctor(args) => doctor::doctor(&args, paths),
        Command::Plan(args) => plan::plan(&args, paths),
        Command::Verify(args) => verify::verify(&args, paths),
        Command::Run(args) => run::run(&args, paths),
        Command::Report(args) => report::report(&args, paths),
        Command::Export(args) => report::export(&args, paths),
        Command::Audit(args) => claims::audit(&args, paths),
        Command::Servers(args) => servers::servers(&args, paths),
        Command::Sim(_) | Command::Corpus(_) | Command::Compare(_) => {
            unreachable!("main has taken these")
        }
    }
}

/// A sentence for the person and a code for the script.
#[derive(Debug)]
struct Failure {
    code: u8,
    sentence: String,
}

impl Failure {
    fn input(sentence: impl Into<String>) -> Self {
        Self { code: 2, sentence: sentence.into() }
    }

    fn lab(sentence: impl Into<String>) -> Self {
        Self { code: 5, sentence: sentence.into() }
    }
}

impl From<lab_driver::DriverError> for Failure {
    fn from(error: lab_driver::DriverError) -> Self {
        use lab_driver::DriverError::{Input, Lab, Record, Resume, Server};
        let code = match error {
            Input(_) => 2,
            Server(_) => 3,
            Resume(_) | Record(_) => 4,
            Lab(_) => 5,
        };
        Self { code, sentence: error.to_string() }
    }
}

impl From<lab_record::RecordError> for Failure {
    fn from(error: lab_record::RecordError) -> Self {
        Self { code: 4, sentence: error.to_string() }
    }
}

impl From<lab_plan::PlanError> for Failure {
    fn from(error: lab_plan::PlanError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::lab(format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
