//! `lab plan`, and the reading of an experiment that other commands share.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use lab_driver::{Catalog, Description, STARTUP_ROUNDS};
use lab_family::{Family, Places, ServersNeeded};
use lab_plan::{Experiment, Plan, PlannedRun};
use lab_record::{SessionOf, Sessions};
use serde_json::json;

use crate::{
    Exit, Failure,
    outlook::outlook,
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
#[derive(Args, Clone, Default)]
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
    /// Draw orders and lengths anew, as session N of this experiment; `lab report --over` puts
    /// sessions together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) session: Option<u32>,
    /// One of several sessions of one command, in place of `session`.
    #[arg(skip)]
    pub(crate) shared: Option<SessionOf>,
}

impl Choices {
    fn session(&self) -> Option<SessionOf> {
        self.shared.or(self.session.map(|number| SessionOf { number, sharing: 1, held: None }))
    }
}

/// A question, read and planned.
pub(crate) struct Prepared {
    pub(crate) experiment: Experiment,
    pub(crate) plan: Plan,
    pub(crate) catalog: Catalog,
    pub(crate) description: Description,
}

pub(crate) fn plan(args: &PlanArgs, paths: &Paths) -> Result<Exit, Failure> {
    let prepared = prepare(&args.question, paths, vec![])?;
    let outlook = if args.json { None } else { outlook(&prepared, paths) };
    match print(&prepared, args.json, outlook.as_deref(), &mut io::stdout().lock()) {
        // A reader such as `head` has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::lab(format!("cannot print the plan: {error}")))
        }
        _ => Ok(Exit::Success),
    }
}

fn print(
    prepared: &Prepared,
    json: bool,
    outlook: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    if json {
        return prepared.plan.runs.iter().try_for_each(|run| writeln!(out, "{}", line(run)));
    }
    writeln!(out, "{}", summary(prepared, true))?;
    for entrant in &prepared.plan.entrants {
        let version = format!("{} {}", entrant.manifest.measures, entrant.manifest.version);
        let sentence = match &entrant.twin_of {
            Some(original) => format!("The same program as {original}: the A/A control."),
            None => entrant.manifest.sentence.clone(),
        };
        writeln!(out, "  {:<30} {version:<18} {sentence}", entrant.name)?;
    }
    outlook.map_or(Ok(()), |outlook| writeln!(out, "\n{outlook}"))
}

fn line(run: &PlannedRun) -> serde_json::Value {
    let mut line = json!({
        "order": run.order, "block": run.block, "warmup": run.warmup,
        "variant": run.variant, "cell": run.cell, "expected_ms": run.expected_ms,
    });
    line["workload"] = run.work.workload(&Places::default());
    for (name, value) in run.work.counters() {
        line[name] = json!(value);
    }
    line
}

/// What will be recorded, with start-up times or without, and for how long it takes, in one line,
/// and the question.
pub(crate) fn summary(prepared: &Prepared, startup: bool) -> String {
    let Prepared { experiment, plan, .. } = prepared;
    let expected_ms: u64 = plan.runs.iter().map(|run| run.expected_ms).sum();
    let timed = plan.runs.iter().filter(|run| !run.warmup);
    let cells = timed.clone().map(|run| &run.cell).collect::<BTreeSet<_>>().len();
    let in_block = timed.filter(|run| run.block == 1).count();
    let variants = plan.entrants.len();
    let startup = startup && experiment.needs().startup_times;
    let starts = if startup { variants * STARTUP_ROUNDS as usize } else { 0 };
    let start_ups = if starts > 0 { format!(" + {starts} start-ups") } else { String::new() };
    let budget_ms = plan.budget_ms();
    let asked = match plan.asked.len() {
        0 => String::new(),
        questions => format!(
            "\n{questions} declared questions in rounds of adjacent runs, {:.0} s for each, {:.1} \
             minutes at most",
            budget_ms as f64 / 1e3 / questions as f64,
            budget_ms as f64 / 60e3
        ),
    };
    let left = match experiment.written.analysis.beside_rounds() {
        0 => String::new(),
        questions => format!("\n{questions} declared questions by the blocks"),
    };
    let declared = experiment.written.analysis.sessions.filter(|_| experiment.session.is_none());
    let divided = declared.map_or_else(String::new, |sessions| {
        format!("\n{} sessions share this, two blocks each at least", sessions.least)
    });
    format!(
        "{}: {variants} variants in {cells} cells, {in_block} runs x {} blocks + {variants} \
         checks{start_ups} = {} rows, about {:.1} minutes{asked}{left}{divided}\n{}",
        experiment.written.name,
        experiment.written.blocks,
        plan.runs.len() + starts,
        Duration::from_millis(expected_ms).as_secs_f64() / 60.0,
        experiment.written.question,
    )
}

/// Reads experiment, table and manifests, and plans.
pub(crate) fn prepare(
    question: &Question,
    paths: &Paths,
    arguments: Vec<String>,
) -> Result<Prepared, Failure> {
    let (path, shown) = paths.experiment(&question.experiment)?;
    let choices = &question.choices;
    let (text, mut experiment) = chosen(&path, &shown, choices)?;
    if let Some(session) = choices.session() {
        experiment = experiment.of_session(session);
    }
    match experiment.needs().servers {
        Some(servers) => {
            check_servers_fit(&servers, &choices.servers, &shown)?;
            if let Some(model) = &choices.model {
                experiment = experiment.with_section_key("model", model)?;
            }
        }
        None => refuse_servers(choices, &shown)?,
    }
    let mut attachments = BTreeMap::new();
    let attachment = experiment.section.attachment();
    if let Some((name, file)) = attachment.map(|(name, file)| (name, file.to_owned())) {
        let table = path.with_file_name(&file);
        let text = read(&table, &file)?;
        experiment.section.attach(&text)?;
        attachments.insert(name.to_owned(), text);
        for (key, further) in experiment.section.further_files() {
            let named = format!("{file}: key `{key}`: {further}");
            let text = read(&table.with_file_name(&further), &named)?;
            experiment.section.take_file(&further, &text)?;
            attachments.insert(further, lab_record::sha256_hex(text.as_bytes()));
        }
    }
    let catalog = Catalog::read(&paths.root, experiment.family.name(), &paths.bin_dirs)?;
    let plan = lab_plan::plan(&experiment, &catalog.manifests)?;
    let description = Description {
        experiment_file: shown,
        experiment_toml: text,
        attachments,
        profile: profile(choices),
        servers: choices.servers.clone(),
        model: choices.model.clone(),
        arguments,
        git: lab_driver::git_state(&paths.workspace),
    };
    Ok(Prepared { experiment, plan, catalog, description })
}

/// An experiment and its text, with the profile that was chosen.
fn chosen(path: &Path, shown: &str, choices: &Choices) -> Result<(String, Experiment), Failure> {
    let Read { text, experiment } = read_experiment(path, shown)?;
    let experiment = match profile(choices) {
        Some(name) => experiment.with_profile(&name)?,
        None => experiment,
    };
    Ok((text, experiment))
}

/// How many sessions an experiment asks for; none where its profile gives no verdicts.
pub(crate) fn sessions_of(
    experiment: &Path,
    choices: &Choices,
    paths: &Paths,
) -> Result<Option<Sessions>, Failure> {
    let (path, shown) = paths.experiment(experiment)?;
    Ok(chosen(&path, &shown, choices)?.1.written.analysis.sessions)
}

/// The model that given servers must have; `None` where none are given.
pub(crate) fn given_model(experiment: &Experiment) -> Option<String> {
    experiment.needs().servers.filter(|servers| servers.given).map(|servers| servers.model)
}

/// An experiment and its text.
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) experiment: Experiment,
}

/// Reads an experiment of any family, with the one beside it that it extends.
pub(crate) fn read_experiment(path: &Path, shown: &str) -> Result<Read, Failure> {
    let mut text = read(path, shown)?;
    if let Some(base) = lab_plan::extended_file(&text) {
        let named = format!("{shown}: key `extends`: {base}");
        let base_text = read(&path.with_file_name(&base), &named)?;
        text = lab_plan::merged((shown, &text), (&base, &base_text))?;
    }
    let families: Vec<&'static dyn Family> =
        lab_families::ALL.iter().map(|one| *one as _).collect();
    let experiment = Experiment::parse(shown, &text, &families)?;
    Ok(Read { text, experiment })
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

fn check_servers_fit(wanted: &ServersNeeded, given: &[String], shown: &str) -> Result<(), Failure> {
    let bad = given.iter().find(|address| !address.starts_with("http://"));
    match (wanted.given, given, bad) {
        (_, _, Some(address)) => Err(Failure::input(format!(
            "--servers: `{address}` must begin with http://, for example http://127.0.0.1:11434"
        ))),
        (true, [], _) => Err(Failure::input(format!(
            "{shown} runs on real servers: name them with --servers URL,URL \
             (tools/peer ollama up starts two)"
        ))),
        (false, [_, ..], _) => Err(Failure::input(format!(
            "{shown} runs on the embedded paced server: leave --servers out"
        ))),
        _ => Ok(()),
    }
}
