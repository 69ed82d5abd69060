//! `lab shard submit slurm`: an array job whose tasks take the sessions, and a job after it that
//! puts them together. Slurm starts, ends and repeats the tasks; the lab only writes what a person
//! would.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use lab_site::records::load;
use serde_json::{Value, json};

use crate::{Exit, Failure, paths::Paths, plan::sessions_of, run::sessions::is_finished};

/// Below the folder of the sessions: scripts, what tasks print, and which jobs there are.
const FOLDER: &str = "slurm";
const JOBS: &str = "jobs.json";
const ARRAY: &str = "array.sbatch";
const MERGE: &str = "merge.sbatch";
/// What the second job makes.
const MERGED: &str = "merged";
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(super) struct SubmitArgs {
    /// Experiment file
    experiment: PathBuf,
    /// Sessions in all [default: analysis.sessions of the experiment]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    sessions: Option<u32>,
    /// Tasks that share them, each alone on a machine
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=1000))]
    machines: u32,
    /// Folder that all machines see
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Options for sbatch, for instance "--partition=bench --constraint=zen4"
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    sbatch: String,
    /// Write the scripts and submit nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
pub(super) struct FetchArgs {
    /// Folder that `lab shard submit` was given
    dir: PathBuf,
    /// Seconds to wait at most
    #[arg(long, value_name = "SECONDS", default_value = "86400")]
    wait: u64,
}

/// What was submitted.
struct Jobs {
    sessions: u32,
    array: String,
    merge: String,
}

impl Jobs {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::reading(path, error))?;
        let jobs: Value =
            serde_json::from_str(&text).map_err(|error| Failure::reading(path, error))?;
        let job = |key: &str| jobs[key].as_str().map(str::to_owned);
        let sessions = jobs["sessions"].as_u64().and_then(|count| count.try_into().ok());
        let all = sessions.zip(job("array").zip(job("merge")));
        let (sessions, (array, merge)) =
            all.ok_or_else(|| Failure::reading(path, "sessions, array or merge is missing"))?;
        Ok(Self { sessions, array, merge })
    }

    fn write(&self, path: &Path) -> Result<(), Failure> {
        let Self { sessions, array, merge } = self;
        let jobs = json!({ "sessions": sessions, "array": array, "merge": merge });
        fs::write(path, format!("{jobs:#}\n")).map_err(|error| Failure::writing(path, error))
    }
}

pub(super) fn submit(args: &SubmitArgs, paths: &Paths) -> Result<Exit, Failure> {
    let declared = sessions_of(&args.experiment, &Default::default(), paths)?;
    let sessions = args.sessions.or(declared.map(|sessions| sessions.least)).ok_or_else(|| {
        Failure::input(format!(
            "{}: key `analysis.sessions` is missing: give --sessions N",
            args.experiment.display()
        ))
    })?;
    let (experiment, shown) = paths.experiment(&args.experiment)?;
    let out = paths.to_make(&args.out);
    let folder = out.join(FOLDER);
    if folder.join(JOBS).exists() {
        return Err(Failure::input(format!(
            "{} was submitted before: fetch it with `lab shard fetch`, or give a new folder",
            out.display()
        )));
    }
    fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    let lab = quoted(&paths.lab.display().to_string());
    let root = quoted(&paths.root.display().to_string());
    let name = Path::new(&shown).file_stem().unwrap_or_default().display().to_string();
    let script = Script { lab: format!("{lab} --root {root}"), name, folder: &folder, args };
    let array = script.array(&experiment, sessions, &out);
    let merge = script.merge(&out);
    for (name, text) in [(ARRAY, &array), (MERGE, &merge)] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Failure::writing(&path, error))?;
    }
    if args.dry_run {
        println!("{}\n{}", folder.join(ARRAY).display(), folder.join(MERGE).display());
        return Ok(Exit::Success);
    }
    let array = sbatch(&[], &folder.join(ARRAY))?;
    // Whatever became of the tasks: what is missing is named.
    let merge = sbatch(&[format!("--dependency=afterany:{array}")], &folder.join(MERGE))?;
    let jobs = Jobs { sessions, array, merge };
    jobs.write(&folder.join(JOBS))?;
    println!("job {} takes {sessions} sessions, job {} puts them together", jobs.array, jobs.merge);
    println!("then: {} fetch {}", paths.call("shard"), paths.shown(&out));
    Ok(Exit::Success)
}

/// Waits for the jobs, with one line of progress, and prints what they found.
pub(super) fn fetch(args: &FetchArgs, paths: &Paths) -> Result<Exit, Failure> {
    let out = paths.results(&args.dir);
    let jobs = Jobs::read(&out.join(FOLDER).join(JOBS))?;
    let page = out.join(MERGED).join("sessions.md");
    let began = Instant::now();
    loop {
        let left = squeue(&jobs)?;
        eprint!(
            "\r{} of {} sessions complete; {left} ",
            complete(&out, jobs.sessions),
            jobs.sessions
        );
        if left.is_empty() || began.elapsed().as_secs() >= args.wait {
            eprintln!();
            break;
        }
        thread::sleep(PAUSE);
    }
    let said = fs::read_to_string(&page).map_err(|_| {
        Failure::failed(format!(
            "{} is not there: see {}",
            page.display(),
            out.join(FOLDER).join("merge.log").display()
        ))
    })?;
    print!("{said}\n{}\n", paths.shown(&page));
    Ok(Exit::failed_if(complete(&out, jobs.sessions) < jobs.sessions as usize))
}

/// What the scripts are made from.
struct Script<'a> {
    lab: String,
    name: String,
    folder: &'a Path,
    args: &'a SubmitArgs,
}

impl Script<'_> {
    fn head(&self, job: &str, log: &str) -> String {
        let Self { name, folder, args, .. } = self;
        let log = folder.join(log);
        let more = args.sbatch.split_whitespace().map(|option| format!("#SBATCH {option}\n"));
        format!(
            "#!/bin/sh\n# Written by `lab shard submit slurm`.\n\
             #SBATCH --job-name=lab-{name}{job}\n\
             #SBATCH --nodes=1 --ntasks=1\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --output={}\n{}",
            log.display(),
            more.collect::<String>()
        )
    }

    /// A task is alone on its machine, and may be started again: its attempts have folders of their
    /// own, and the first complete one counts.
    fn array(&self, experiment: &Path, sessions: u32, out: &Path) -> String {
        let machines = self.args.machines;
        let [experiment, out] = [experiment, out].map(|path| quoted(&path.display().to_string()));
        let node = quoted(&self.folder.join("node").display().to_string());
        format!(
            "{}#SBATCH --array=1-{machines}\n#SBATCH --exclusive\n#SBATCH --requeue\n\n\
             # What the machine is, by its own account.\n\
             scontrol show node \"$SLURMD_NODENAME\" \
             >{node}-\"$SLURM_ARRAY_TASK_ID-${{SLURM_RESTART_COUNT:-0}}\"\n\n\
             # In this shell's place, so that signals of Slurm reach it.\n\
             exec {} run {experiment} --sessions {sessions} \
             --shard \"$SLURM_ARRAY_TASK_ID/{machines}\" --out {out}\n",
            self.head("", "%a.log"),
            self.lab,
        )
    }

    fn merge(&self, out: &Path) -> String {
        let merged = quoted(&out.join(MERGED).display().to_string());
        let out = quoted(&out.display().to_string());
        format!(
            "{}\nexec {} shard merge {out} --out {merged}\n",
            self.head("-merge", "merge.log"),
            self.lab,
        )
    }
}

/// As a shell reads it as one word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The id of the job that this script became.
fn sbatch(options: &[String], script: &Path) -> Result<String, Failure> {
    let said = output(Command::new("sbatch").arg("--parsable").args(options).arg(script))?;
    // "17" or "17;cluster".
    Ok(said.trim().split(';').next().unwrap_or_default().to_owned())
}

/// "2 running, 1 pending"; empty where no task is left.
fn squeue(jobs: &Jobs) -> Result<String, Failure> {
    let ids = format!("{},{}", jobs.array, jobs.merge);
    let mut command = Command::new("squeue");
    // A job that was long ago is an invalid one.
    let said = output(command.args(["--noheader", "--array", "--format=%T", "--jobs", &ids]));
    let said = match said {
        Ok(said) => said,
        Err(failure) if failure.sentence.contains("Invalid job id") => String::new(),
        Err(failure) => return Err(failure),
    };
    let mut states: Vec<(&str, usize)> = Vec::new();
    for state in said.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match states.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => states.push((state, 1)),
        }
    }
    let states = states.iter().map(|(state, count)| format!("{count} {}", state.to_lowercase()));
    Ok(states.collect::<Vec<_>>().join(", "))
}

fn output(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().display().to_string();
    let done = command.output().map_err(|error| {
        Failure::failed(format!("{name} cannot be started: {error}; submit where Slurm is"))
    })?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(Failure::failed(format!("{name}: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Sessions that are published.
fn complete(out: &Path, sessions: u32) -> usize {
    let record = |number: u32| load::results(&out.join(number.to_string())).ok();
    (1..=sessions).filter_map(record).filter(is_finished).count()
}
