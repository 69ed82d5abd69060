//! `lab migrate`: expectations for records from before expectations were stored.

use std::path::PathBuf;

use clap::Args;
use lab_site::records::load;

use crate::{Exit, Failure, paths::Paths, plan::read_experiment};

#[derive(Args)]
pub(crate) struct MigrateArgs {
    /// Results folders, or folders of reports/
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
}

pub(crate) fn migrate(args: &MigrateArgs, paths: &Paths) -> Result<Exit, Failure> {
    for dir in &args.dirs {
        let dir = paths.results(dir);
        let mut results = load::results(&dir)?;
        let stored = results.run_file.clone();
        let file = PathBuf::from(&stored.experiment_file);
        let (path, shown) = paths.experiment(&file);
        if !path.exists() {
            let place = paths.shown(&dir);
            return Err(Failure::input(format!("{place}: its experiment {shown} is not there")));
        }
        let mut experiment = read_experiment(&path, &shown)?.experiment;
        if let Some(profile) = &stored.profile {
            experiment = experiment.with_profile(profile)?;
        }
        if experiment.written.name != stored.experiment {
            return Err(Failure::input(format!(
                "{shown}: is the experiment `{}`, but the record is of `{}`",
                experiment.written.name, stored.experiment
            )));
        }
        let count = experiment.written.expect.len();
        results.declare_after_run(experiment.written.expect)?;
        println!("{}: {count} expectations, declared after the run", paths.shown(&dir));
    }
    Ok(Exit::Success)
}
