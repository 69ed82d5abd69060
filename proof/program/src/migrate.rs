//! Expectations for records from before expectations were stored.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use lab_family::Family;
use lab_plan::Experiment;
use lab_site::records::load;

#[derive(Args)]
pub(crate) struct MigrateArgs {
    /// Results folders, or folders of reports/, as seen from the repository's root
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
}

pub(crate) fn run(args: &MigrateArgs) -> Result<()> {
    for dir in &args.dirs {
        let mut results = load::results(dir).map_err(|failure| anyhow!(failure.sentence))?;
        let stored = results.run_file.clone();
        let shown = &stored.experiment_file;
        let mut experiment = read(Path::new(shown), shown)?;
        if let Some(profile) = &stored.profile {
            experiment = experiment.with_profile(profile)?;
        }
        let name = &experiment.written.name;
        let recorded = &stored.experiment;
        ensure!(
            name == recorded,
            "{shown}: is the experiment `{name}`, the record is of `{recorded}`"
        );
        let count = experiment.written.expect.len();
        results.declare_after_run(experiment.written.expect)?;
        println!("{}: {count} expectations, declared after the run", dir.display());
    }
    Ok(())
}

fn read(path: &Path, shown: &str) -> Result<Experiment> {
    let text = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
    let mut written = text(path)?;
    if let Some(base) = lab_plan::extended_file(&written) {
        let base_text = text(&path.with_file_name(&base))?;
        written = lab_plan::merged((shown, &written), (&base, &base_text))?;
    }
    let families: Vec<&'static dyn Family> =
        lab_families::ALL.iter().map(|one| *one as _).collect();
    Ok(Experiment::parse(shown, &written, &families)?)
}
