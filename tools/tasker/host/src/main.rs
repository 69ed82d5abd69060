//! tasker's two programs in one, so that their crates are compiled once.
//!
//! `tasker-host configuration DATABASE ADDRESS TEMPLATES WORKERS` writes a configuration of tasker:
//! the URL of its database, where its orchestrator listens, the folder of its task templates, how
//! many steps its worker does at once. `tasker-host orchestrator` and `tasker-host worker WORKERS`
//! run on the configuration that TASKER_CONFIG_PATH names, until their standard input ends. They
//! write a line of JSON: `["ready", 0]` when they can work, or `["failed", reason]`.

#![forbid(unsafe_code)]

mod configuration;
mod operations;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tasker_orchestration::orchestration::bootstrap::OrchestrationBootstrap;
use tasker_worker::WorkerBootstrap;
use tasker_worker::worker::handlers::{
    HandlerDispatchConfig, HandlerDispatchService, NoOpCallback,
};
use tokio::io::AsyncReadExt;
use tracing_subscriber::filter::LevelFilter;

use operations::Operations;

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&serde_json::json!(["failed", format!("{error:#}")]));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match *arguments {
        ["configuration", database, address, templates, workers] => {
            let workers = workers.parse().context("WORKERS is no number")?;
            print!("{}", configuration::of(database, address, templates, workers)?);
            Ok(())
        }
        ["orchestrator"] => runtime()?.block_on(orchestrate()),
        ["worker", workers] => {
            let workers = workers.parse().context("WORKERS is no number")?;
            runtime()?.block_on(work(workers))
        }
        _ => bail!("there are configuration, orchestrator and worker; see tools/peer tasker up"),
    }
}

/// As tasker's own programs have it.
fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Runtime::new().context("no runtime")
}

async fn orchestrate() -> Result<()> {
    let mut system = OrchestrationBootstrap::bootstrap().await?;
    serve().await;
    system.stop().await?;
    Ok(())
}

async fn work(workers: usize) -> Result<()> {
    let mut system = WorkerBootstrap::bootstrap().await?;
    let channels = system.take_dispatch_handles().context("tasker gives its worker no steps")?;
    let config = HandlerDispatchConfig { max_concurrent_handlers: workers, ..Default::default() };
    let (service, _) = HandlerDispatchService::with_callback(
        channels.dispatch_receiver,
        channels.completion_sender,
        Arc::new(Operations),
        config,
        Arc::new(NoOpCallback),
    );
    tokio::spawn(service.run());
    serve().await;
    system.stop().await?;
    Ok(())
}

/// Says that it is ready, and waits until nobody needs it.
async fn serve() {
    tell(&serde_json::json!(["ready", 0]));
    let mut ended = Vec::new();
    let _ = tokio::io::stdin().read_to_end(&mut ended).await;
}

fn tell(message: &serde_json::Value) {
    let mut door = std::io::stdout();
    let _ = writeln!(door, "{message}").and_then(|()| door.flush());
}
