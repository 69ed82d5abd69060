//! `lab verify`: every variant once, with its answer checked.

use std::{process::ExitCode, sync::atomic::AtomicBool};

use clap::Args;
use lab_driver::{Sweep, SweepOptions, check_servers};

use crate::{
    Failure,
    paths::Paths,
    plan::{Question, given_servers, prepare},
    progress::Bar,
};

#[derive(Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    question: Question,
}

pub(crate) fn verify(args: &VerifyArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    let prepared = prepare(&args.question, paths, vec![])?;
    if let Some(section) = given_servers(&prepared.experiment) {
        check_servers(&args.question.choices.servers, &section.model)?;
    }
    let interrupt = AtomicBool::new(false);
    let options = SweepOptions {
        results: paths.new_results(),
        resume: false,
        lab: paths.lab.clone(),
        workspace: paths.all_results(),
        description: prepared.description.clone(),
        startup: false,
    };
    let mut sweep = Sweep::prepare(
        &prepared.experiment,
        &prepared.plan,
        &prepared.catalog,
        &options,
        &interrupt,
    )?;
    let verdicts = sweep.verify(&mut Bar::new(true))?;
    for verdict in &verdicts {
        match &verdict.trouble {
            None => println!("right   {}", verdict.variant),
            Some(trouble) => println!("WRONG   {}: {trouble}", verdict.variant),
        }
    }
    let wrong = verdicts.iter().filter(|verdict| verdict.trouble.is_some()).count();
    Ok(ExitCode::from(u8::from(wrong > 0)))
}
