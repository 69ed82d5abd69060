//! `lab plan`, and the reading of an experiment that other commands share.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use lab_driver::{Catalog, Description};
use lab_plan::{
    Experiment, Plan, PlannedRun, Work,
    agents::{Section, Servers},
};
use serde_json::json;

use crate::{
    Failure,
    paths::{Paths, read},
};

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    question: Question,
    /// One JSON line per run instead of a summary
    #[arg(long)]
    json: bool,
}

/// What to run, as several commands take it.
#[derive(Args, Clone)]
pub(crate) struct Question {
    /// The experiment's file, for example experiments/tr115.toml
    pub(crate) experiment: PathBuf,
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// What the command line changes of an experiment.
#[derive(Args, Clone)]
pub(crate) struct Choices {
    /// A named change that the file declares
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// A smoke test without verdicts: short for --profile quick
    #[arg(long, conflicts_with_all = ["profile", "paper"])]
    pub(crate) quick: bool,
    /// As many runs as the original, in real time: short for --profile paper
    #[arg(long, conflicts_with = "profile")]
    pub(crate) paper: bool,
    /// Real Ollama servers, where the experiment wants them
    #[arg(long, value_delimiter = ',', value_name = "URL,URL")]
    pub(crate) servers: Vec<String>,
    /// The model on those servers
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

/// A question, read and planned.
pub(crate) struct Prepared {
    pub(crate) experiment: Experiment,
    pub(crate) plan: Plan,
    pub(crate) catalog: Catalog,
    pub(crate) description: Description,
}

pub(crate) fn plan(args: &PlanArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    let prepared = prepare(&args.question, paths, vec![])?;
    if args.json {
        for run in &prepared.plan.runs {
            println!("{}", line(run));
        }
    } else {
        println!("{}", summary(&prepared));
        for entrant in &prepared.plan.entrants {
            let version = format!("{} {}", entrant.manifest.measures, entrant.manifest.version);
            let sentence = match &entrant.twin_of {
                Some(original) => format!("The same program as {original}: the A/A control."),
                None => entrant.manifest.sentence.clone(),
            };
            println!("  {:<30} {version:<18} {sentence}", entrant.name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(run: &PlannedRun) -> serde_json::Value {
    let mut line = json!({
        "order": run.order, "block": run.block, "warmup": run.warmup,
        "variant": run.variant, "cell": run.cell, "expected_ms": run.expected_ms,
    });
    match &run.work {
        Work::Agents { workload, time_scale_ppm, .. } => {
            line["time_scale_ppm"] = json!(time_scale_ppm);
            line["workload"] = json!(workload);
        }
        Work::Ledgers { workload } => line["workload"] = json!(workload),
        Work::Offload { workload, .. } => line["workload"] = json!(workload),
        Work::Workflow { workload } => line["workload"] = json!(workload),
        Work::Search { workload, .. } => line["workload"] = json!(workload),
    }
    line
}

/// What will run and for how long, in one line.
pub(crate) fn summary(prepared: &Prepared) -> String {
    let Prepared { experiment, plan, .. } = prepared;
    let expected_ms: u64 = plan.runs.iter().map(|run| run.expected_ms).sum();
    let timed = plan.runs.iter().filter(|run| !run.warmup);
    let cells = timed.clone().map(|run| &run.cell).collect::<BTreeSet<_>>().len();
    let in_block = timed.filter(|run| run.block == 1).count();
    format!(
        "{}: {} variants in {cells} cells, {in_block} runs x {} blocks + {} checks = {} runs, \
         about {:.1} minutes\n{}",
        experiment.name,
        plan.entrants.len(),
        experiment.blocks,
        plan.entrants.len(),
        plan.runs.len(),
        Duration::from_millis(expected_ms).as_secs_f64() / 60.0,
        experiment.question,
    )
}

/// Reads experiment, table and manifests, and plans.
pub(crate) fn prepare(
    question: &Question,
    paths: &Paths,
    arguments: Vec<String>,
) -> Result<Prepared, Failure> {
    let (path, shown) = paths.experiment(&question.experiment);
    let text = read(&path, &shown)?;
    let mut experiment = Experiment::parse(&shown, &text)?;
    let choices = &question.choices;
    let profile = profile(choices);
    if let Some(name) = &profile {
        experiment = experiment.with_profile(&shown, name)?;
    }
    match &mut experiment.agents {
        Some(section) => {
            if let Some(model) = &choices.model {
                section.model.clone_from(model);
            }
            check_servers_fit(section.servers, &choices.servers, &shown)?;
        }
        None => refuse_servers(choices, &shown)?,
    }
    let mut attachments = BTreeMap::new();
    if let Some((name, file)) = experiment.attachment() {
        let path = path.parent().unwrap_or(Path::new(".")).join(file);
        attachments.insert(name.to_owned(), read(&path, file)?);
    }
    let catalog = Catalog::read(&paths.root, &experiment.family, &paths.bin_dir)?;
    let plan = lab_plan::plan(&shown, &experiment, &catalog.manifests, &attachments)?;
    let description = Description {
        experiment_file: shown,
        experiment_toml: text,
        attachments,
        profile,
        servers: choices.servers.clone(),
        model: choices.model.clone(),
        arguments,
        git: lab_driver::git_state(&paths.workspace),
    };
    Ok(Prepared { experiment, plan, catalog, description })
}

/// The agents' section, where somebody else's servers answer.
pub(crate) fn given_servers(experiment: &Experiment) -> Option<&Section> {
    experiment.agents.as_ref().filter(|section| section.servers == Servers::Given)
}

fn profile(choices: &Choices) -> Option<String> {
    let short = [(choices.quick, "quick"), (choices.paper, "paper")];
    let short = short.into_iter().find_map(|(given, name)| given.then(|| name.to_owned()));
    short.or_else(|| choices.profile.clone())
}

fn refuse_servers(choices: &Choices, shown: &str) -> Result<(), Failure> {
    if choices.servers.is_empty() && choices.model.is_none() {
        return Ok(());
    }
    Err(Failure::input(format!("{shown} needs no server: leave --servers and --model out")))
}

fn check_servers_fit(wanted: Servers, given: &[String], shown: &str) -> Result<(), Failure> {
    let bad = given.iter().find(|address| !address.starts_with("http://"));
    match (wanted, given, bad) {
        (_, _, Some(address)) => Err(Failure::input(format!(
            "--servers: `{address}` must begin with http://, for example http://127.0.0.1:11434"
        ))),
        (Servers::Given, [], _) => Err(Failure::input(format!(
            "{shown} runs on real servers: name them with --servers URL,URL \
             (tools/ollama/up brings up two)"
        ))),
        (Servers::Paced, [_, ..], _) => Err(Failure::input(format!(
            "{shown} runs on the embedded paced server: leave --servers out"
        ))),
        _ => Ok(()),
    }
}
