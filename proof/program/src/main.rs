//! The `proof` program: what shows how often the lab is right. `tools/proof` starts it.

#![forbid(unsafe_code)]

mod audit;
mod compare;
mod fuzz;
mod judge;
mod migrate;
mod replays;
mod sessions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// How often the lab is right
#[derive(Parser)]
#[command(name = "proof")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Audit documents whose contradictions are known
    #[command(subcommand)]
    Audit(audit::Task),
    /// Compare real programs of which it is known whether they differ
    #[command(subcommand)]
    Compare(compare::Task),
    /// Feed the lab's readers with broken input
    Fuzz(fuzz::FuzzArgs),
    /// Judge experiments that are drawn from the noise of recorded sweeps
    Judge(judge::JudgeArgs),
    /// Add today's expectations to records from before expectations were stored
    Migrate(migrate::MigrateArgs),
    /// Compare stored noise, drawn anew thousands of times, beside the rules of other tools
    Replays(replays::ReplaysArgs),
    /// Draw sessions that differ, and count how often intervals over them hold the truth
    Sessions(sessions::SessionsArgs),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Audit(task) => audit::run(task).map(succeeded),
        Task::Compare(task) => compare::run(task).map(succeeded),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Judge(args) => judge::run(&args).map(succeeded),
        Task::Migrate(args) => migrate::run(&args).map(succeeded),
        Task::Replays(args) => Ok(replays::run(&args)),
        Task::Sessions(args) => {
            sessions::run(&args);
            Ok(ExitCode::SUCCESS)
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("proof: {error:#}");
        ExitCode::from(2)
    })
}

fn succeeded((): ()) -> ExitCode {
    ExitCode::SUCCESS
}
