//! The `lab` command.

#![forbid(unsafe_code)]

mod audit;
mod bisect;
mod calibrate;
mod compare;
mod completions;
mod corpus;
mod doctor;
mod documents;
mod export;
mod idle;
mod import;
mod man;
mod new;
mod outlook;
mod paths;
mod plan;
mod progress;
mod report;
mod run;
mod serve;
mod shard;
mod site;
mod verify;
mod watch;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory, Parser, Subcommand};
use lab_console::{Exit, Failure, exit_codes, interruption, streams};

use crate::paths::Paths;

/// Compare variants of a program on this machine: estimates, intervals, verdicts
#[derive(Parser)]
#[command(name = "lab", version, after_help = exit_codes(&Exit::ALL))]
struct Cli {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

/// Where things lie.
#[derive(Args)]
struct Place {
    /// Checkout or Bazel runfiles [default: nearest parent folder with experiments/ and plots/]
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Folder of the variants' programs [default: that of `lab`, else target/release of --root]
    #[arg(long, global = true, value_name = "DIR")]
    bin_dir: Option<PathBuf>,
    /// Bytes, unpacked, to read at most of one file of a record, results file or document; all
    /// files of a record may hold four times as many together [default: 536870912, and 67108864 of
    /// a document]
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    max_bytes: Option<u64>,
}

#[derive(Subcommand)]
enum Command {
    /// Check this machine: what disturbs measurements, what to do, what is detectable today
    Doctor(doctor::DoctorArgs),
    /// Begin a variant or an experiment with the nearest one there is
    New(new::NewArgs),
    /// Print the runs of an experiment, how long they take and what they will be able to detect
    Plan(plan::PlanArgs),
    /// Run each variant once and check its answer
    Verify(verify::VerifyArgs),
    /// Run an experiment, record it and write its report
    Run(run::RunArgs),
    /// Put together what several machines recorded
    Shard(shard::ShardArgs),
    /// Write the report of recorded runs
    Report(report::ReportArgs),
    /// Copy recorded runs and their report into a folder to commit; or print every analysed run
    /// with its metrics as CSV, OpenMetrics or JSON; or write that as Parquet
    Export(export::ExportArgs),
    /// Write all reports as pages for a browser, with an index of questions and answers
    Site(site::SiteArgs),
    /// Serve all records to a browser on this machine: list, progress, changes, history
    Serve(serve::ServeArgs),
    /// Tell which of some commands is faster, by how much and how surely
    Compare(Box<compare::CompareArgs>),
    /// Read and judge results of hyperfine, criterion, Go, JMH, pytest and Google Benchmark
    Import(import::ImportArgs),
    /// Find the commit that made a program slower
    Bisect(Box<bisect::BisectArgs>),
    /// Find impossible values in a benchmark report
    Audit(audit::AuditArgs),
    /// Hold live servers, or a recorded run, against thresholds: alerts, metrics, an exit code
    Watch(Box<watch::WatchArgs>),
    /// Run the paced server, which speaks Ollama's API and OpenAI's
    Sim(lab_sim::SimArgs),
    /// Generate or check a corpus of chat sessions
    Corpus(lab_corpus::CorpusArgs),
    /// Print what a shell completes after `lab`
    Completions(completions::CompletionsArgs),
    /// Print the manual page of `lab` or of one command, or write all of them
    Man(man::ManArgs),
    /// Wait beside a sweep or a comparison, and end what it leaves
    #[command(hide = true)]
    Guard {
        /// In the environment of what the sweep starts
        mark: String,
        /// The sweep's scratch files
        scratch: PathBuf,
        /// Start one, and leave it to itself
        #[arg(long)]
        apart: bool,
    },
}

fn main() -> ExitCode {
    let exit = run(Cli::parse()).unwrap_or_else(|failure| {
        streams::tell(format_args!("lab: {}", failure.sentence));
        failure.exit
    });
    exit.into()
}

fn run(Cli { place, command }: Cli) -> Result<Exit, Failure> {
    place.max_bytes.into_iter().for_each(lab_record::limit_bytes);
    // Not every command needs a checkout around it.
    let paths = Paths::find(place.root, place.bin_dir);
    match command {
        Command::Doctor(args) => doctor::doctor(&args, paths.ok().as_ref()),
        Command::Plan(args) => plan::plan(&args, &paths?),
        Command::Verify(args) => verify::verify(&args, &paths?),
        Command::Run(args) => run::run(&args, &paths?),
        Command::Shard(args) => shard::shard(&args, &paths?),
        Command::Report(args) => report::report(&args, paths.ok().as_ref()),
        Command::Export(args) => export::export(&args, paths.ok().as_ref()),
        Command::New(args) => new::new(&args, &paths?),
        Command::Serve(args) => serve::serve(&args, paths.ok().as_ref()),
        Command::Site(args) => site::site(&args, &paths?),
        Command::Audit(args) => audit::audit(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Import(args) => import::import(&args),
        Command::Bisect(args) => bisect::bisect(&args),
        Command::Watch(args) => watch::watch(&args, paths.ok().as_ref()),
        Command::Sim(lab_sim::SimArgs {
            action: Some(lab_sim::Action::Calibrate(args)), ..
        }) => calibrate::calibrate(&args),
        Command::Sim(args) => Ok(lab_sim::run(args).map(|()| Exit::Success)?),
        Command::Corpus(args) => corpus::corpus(&args),
        Command::Completions(args) => completions::completions(&args, shown()),
        Command::Man(args) => man::man(&args, shown(), paths.ok().as_ref()),
        Command::Guard { mark, scratch, apart } => {
            let guard = if apart { lab_process::leave_guard } else { lab_process::keep_guard };
            guard(&mark, &scratch)
                .map_err(|error| Failure::lab(format!("the guard of a sweep: {error}")))?;
            Ok(Exit::Success)
        }
    }
}

/// The command line without what is hidden: that is for the lab itself.
fn shown() -> clap::Command {
    let whole = Cli::command();
    let subcommands = whole.get_subcommands().filter(|one| !one.is_hide_set());
    clap::Command::new("lab")
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .after_help(exit_codes(&Exit::ALL))
        .subcommand_required(true)
        .args(whole.get_arguments())
        .subcommands(subcommands)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
        super::shown().debug_assert();
    }
}
