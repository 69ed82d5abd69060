//! Which commit made a program slower: comparisons of two commits at a time.

mod text;

use std::sync::atomic::Ordering;

use lab_console::{Exit, Failure, interruption, plain, streams};
use lab_process::Orphans;

use self::text::{announcement, ending, progress, result, told};
use super::{
    any_seed,
    builds::{Built, Git, Revision, Store, Unbuilt},
    commands::Command,
    folder::Folder,
    iteration::Iteration,
    metric::Metric,
    options::{Format, RunOptions},
    progress::ProgressLine,
    runner::{Runner, Stopped, Stopwatch, Surroundings},
};
use crate::{
    Endings, Schedule,
    bisect::{Bisect, BisectSettings, Confirmation, End, Step, most_comparisons},
};

/// Two revisions, how to build them and what to run.
#[derive(Clone, Debug)]
pub struct BisectOptions {
    /// The revision from before the change.
    pub good: String,
    /// The revision with it.
    pub bad: String,
    /// What builds a revision, in a copy of its files.
    pub build: String,
    /// The shell that reads this.
    pub build_shell: String,
    /// Program of a build, by its path there, and its arguments.
    pub command: Vec<String>,
    /// Whether the commit is searched that made it faster.
    pub faster: bool,
    /// Seconds to spend at most on each comparison.
    pub budget_s: f64,
    /// Whether what an earlier comparison built is built again.
    pub rebuild: bool,
    /// What the search is about.
    pub metric: Metric,
    /// Of the random orders; another one each time where none is given.
    pub seed: Option<u64>,
    /// How the result is printed.
    pub format: Format,
    /// How each run is made.
    pub runs: RunOptions,
}

/// Searches for the commit, prints it, and tells how that ends the program.
///
/// # Errors
/// What ended the search before it had an answer, or failed after it.
pub fn bisect(options: &BisectOptions) -> Result<Exit, Failure> {
    let (folder, orphans, interrupted) = (Folder::new()?, Orphans::inherit(), interruption()?);
    let git = Git::here(&folder.0, &interrupted)?;
    let commits = git.line(&options.good, &options.bad)?;
    let (build, program) = (&options.build, &options.command[0]);
    let store = Store::new(&git, build, Some(&options.build_shell), program, options.rebuild)?;
    let settings = BisectSettings {
        budget_s: options.budget_s,
        faster: options.faster,
        ..BisectSettings::default()
    };
    let most = most_comparisons(commits.len() - 1);
    if options.format == Format::Text {
        streams::tell(announcement(options, commits.len() - 1, most));
    }
    let bisect = Bisect::new(commits.len() - 1, settings);
    let mut search = Search {
        options,
        bisect: bisect.ok_or_else(|| Failure::lab("the search has no settings"))?,
        programs: vec![None; commits.len()],
        commits,
        store,
        seed: options.seed.unwrap_or_else(any_seed),
        surroundings: Surroundings { interrupted: &interrupted, orphans: &orphans },
    };
    let ended = search.run();
    // After an interruption too; a second one ends it.
    interrupted.store(false, Ordering::Relaxed);
    let cleaned = search.helper("--cleanup", options.runs.cleanup.as_ref());
    orphans.end_all();
    let end = match ended {
        Ok(end) => Some(end),
        Err(Stopped::Interrupted) => None,
        Err(Stopped::Failed(failure)) => return Err(failure),
    };
    let exit = match (end, &cleaned) {
        (None, _) | (_, Err(Stopped::Interrupted)) => Exit::Interrupted,
        (Some(_), Err(Stopped::Failed(failure))) => failure.exit,
        (Some(end), Ok(())) => exit_of(end),
    };
    // What was found in an hour is not lost to what is cleaned up after it.
    search.print(end, exit)?;
    match cleaned {
        Err(Stopped::Failed(Failure { sentence, .. })) => Err(Failure { exit, sentence }),
        _ => Ok(exit),
    }
}

fn exit_of(end: End) -> Exit {
    match end {
        End::Found { after, commit, confirmation: Confirmation::Shown } if commit == after + 1 => {
            Exit::Success
        }
        _ => Exit::Open,
    }
}

/// A search and what it works on.
struct Search<'a> {
    options: &'a BisectOptions,
    bisect: Bisect,
    /// From good to bad.
    commits: Vec<Revision>,
    /// Of the commits that were built.
    programs: Vec<Option<Built>>,
    store: Store<'a>,
    seed: u64,
    surroundings: Surroundings<'a>,
}

impl Search<'_> {
    fn run(&mut self) -> Result<End, Stopped> {
        // Before anything else, so that a mistake in the build command is seen at once.
        for commit in [0, self.commits.len() - 1] {
            self.build(commit)?;
        }
        let set_up = self.helper("--setup", self.options.runs.setup.as_ref());
        self.surroundings.orphans.keep();
        set_up?;
        loop {
            let before = self.bisect.compared().len();
            match self.bisect.step() {
                Step::Build(commit) => self.build(commit)?,
                Step::Pair { reference, candidate } => self.compare(reference, candidate)?,
                Step::End(end) => return Ok(end),
            }
            for compared in &self.bisect.compared()[before..] {
                if self.options.format == Format::Text {
                    streams::tell(told(compared, &self.commits, self.bisect.known()));
                }
            }
        }
    }

    /// Builds a commit; one between good and bad may be skipped.
    fn build(&mut self, commit: usize) -> Result<(), Failure> {
        let built = self.store.built(&self.commits[commit], 0);
        self.surroundings.orphans.end();
        match built {
            Ok(built) => {
                self.bisect.built(commit, &built.sha256);
                self.programs[commit] = Some(built);
            }
            Err(Unbuilt::Broken(failure)) if 0 < commit && commit < self.commits.len() - 1 => {
                streams::tell(format_args!("skipped: {}", failure.sentence));
                self.bisect.broken(commit);
            }
            Err(unbuilt) => return Err(unbuilt.into()),
        }
        Ok(())
    }

    /// Runs rounds of two commits until the search has what it needs of them.
    fn compare(&mut self, reference: usize, candidate: usize) -> Result<(), Stopped> {
        let number = self.bisect.compared().len();
        let commands = [reference, candidate].map(|commit| self.command(commit)).to_vec();
        let metrics = vec![self.options.metric];
        let folder = self.store.git.folder.to_owned();
        let runner = Runner::new(&self.options.runs, commands, metrics, self.surroundings, folder)?;
        runner.hold()?;
        for sentence in runner.check()? {
            streams::tell(format_args!("note: {sentence}"));
        }
        let seed = self.seed.wrapping_add(number as u64);
        for (at, plan) in Schedule::new(!seed, 2).take(self.options.runs.warmup).enumerate() {
            runner.iteration.set(Iteration::Warmup(at));
            runner.round(plan)?;
        }
        let watch = Stopwatch::after(0.0);
        let mut line = ProgressLine::new(self.options.format == Format::Json);
        // The first round is washed: the search ran other commits before.
        let mut endings = Endings::default();
        for (at, plan) in Schedule::new(seed, 2).enumerate() {
            let candidate_ran_last = plan.order == [0, 1];
            runner.iteration.set(Iteration::Run(at));
            let round = runner.round(plan).inspect_err(|_| line.end())?;
            endings.push([round.statuses[0], round.statuses[1]]);
            if endings.forbid_a_ratio() {
                line.end();
                let names = [reference, candidate].map(|commit| &*self.commits[commit].name);
                let said = endings.said(names);
                return Err(Failure::failed(format!("{said}: their times say nothing")).into());
            }
            let times = [round.runs[0][0], round.runs[1][0]];
            self.bisect.pair(times, candidate_ran_last, watch.seconds());
            if self.bisect.step() != (Step::Pair { reference, candidate })
                || self.bisect.compared().len() > number
            {
                break;
            }
            if line.due() {
                line.tell(&progress(&self.bisect, &self.commits));
            }
        }
        line.end();
        for sentence in runner.release()? {
            streams::tell(format_args!("note: {sentence}"));
        }
        Ok(())
    }

    fn command(&self, commit: usize) -> Command {
        let built = self.programs[commit].as_ref();
        let name = self.commits[commit].name.clone();
        let program = built.map_or_else(String::new, |built| built.program.display().to_string());
        let rest = self.options.command[1..].iter().cloned();
        Command {
            text: format!("{name}: {}", self.options.command.join(" ")),
            name,
            argv: [program].into_iter().chain(rest).collect(),
            prepare: self.options.runs.prepare_of(0).cloned(),
            conclude: self.options.runs.conclude_of(0).cloned(),
            output: self.options.runs.output_of(0),
            builds: built.into_iter().cloned().collect(),
            ..Command::default()
        }
    }

    /// Runs --setup or --cleanup, where it was given.
    fn helper(&self, option: &str, text: Option<&String>) -> Result<(), Stopped> {
        let Some(text) = text else { return Ok(()) };
        let folder = self.store.git.folder.to_owned();
        let (runs, of_none) = (&self.options.runs, Vec::new());
        let runner = Runner::new(runs, of_none, Vec::new(), self.surroundings, folder)?;
        runner.helper(option, text)
    }

    /// Prints the end, or what is known where the user stopped it.
    fn print(&self, end: Option<End>, exit: Exit) -> Result<(), Failure> {
        let text = match self.options.format {
            Format::Json => plain::json(&result(self, end, exit).to_string()),
            Format::Text => plain::lines(&ending(self, end)?.join("\n")),
        };
        streams::print((text + "\n").as_bytes())
    }
}
