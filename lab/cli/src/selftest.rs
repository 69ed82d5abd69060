//! `lab selftest`: how often the judge of sweeps is right, on the noise of recorded ones.

use std::path::PathBuf;

use clap::{Args, value_parser};
use lab_report::{Study, Tried, selftest as tries};
use lab_site::records::load;

use crate::{Exit, Failure, paths::Paths};

#[derive(Args)]
pub(crate) struct SelftestArgs {
    /// Results folders, or folders of reports/, whose noise is drawn from
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Experiments of each kind
    #[arg(long, default_value_t = 2_000, value_parser = value_parser!(u32).range(1..=100_000))]
    experiments: u32,
    /// The seed of what is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const HEADER: &str = "record\tmetric\tcandidate\ttruth\tpairs\texperiments\tfaster\tslower\t\
                      equivalent\tcovered";

pub(crate) fn selftest(args: &SelftestArgs, paths: Option<&Paths>) -> Result<Exit, Failure> {
    println!("{HEADER}");
    let mut any = false;
    for dir in &args.dirs {
        let folder = paths.map_or_else(|| dir.clone(), |paths| paths.results(dir));
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for tried in of_record(&folder, args)? {
            any = true;
            println!("{name}\t{}", row(&tried));
        }
    }
    match any {
        true => Ok(Exit::Success),
        false => Err(Failure::input(
            "no record has a primary comparison of ratios with six pairs or more; name others",
        )),
    }
}

fn of_record(folder: &std::path::Path, args: &SelftestArgs) -> Result<Vec<Tried>, Failure> {
    let frame = load::frame(folder)?;
    let name = frame.run_file.variants.first().map_or("", |entry| entry.family.as_str());
    let found = lab_families::ALL.iter().find(|family| family.name() == name);
    let family = found.ok_or_else(|| {
        let place = folder.display();
        Failure::input(format!("{place}: `{name}` is no family of this lab"))
    })?;
    Ok(tries(&Study::of(&frame, *family), args.experiments, args.seed))
}

/// Counts are shown as shares of the experiments.
fn row(tried: &Tried) -> String {
    let share = |count: u32| format!("{:.4}", f64::from(count) / f64::from(tried.experiments));
    let Tried { metric, candidate, truth, pairs, experiments, .. } = tried;
    let shares = [tried.faster, tried.slower, tried.equivalent, tried.covered].map(share);
    format!("{metric}\t{candidate}\t{truth}\t{pairs}\t{experiments}\t{}", shares.join("\t"))
}
