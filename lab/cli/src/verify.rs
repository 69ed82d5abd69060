//! `lab verify`: every variant once, with its answer checked.

use std::sync::atomic::Ordering;

use clap::Args;
use lab_driver::{Checked, Sweep, SweepOptions, check_servers};

use crate::{
    Exit, Failure, interruption,
    paths::Paths,
    plan::{Question, given_model, prepare},
    progress::Bar,
};

#[derive(Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    question: Question,
}

pub(crate) fn verify(args: &VerifyArgs, paths: &Paths) -> Result<Exit, Failure> {
    let mut prepared = prepare(&args.question, paths, vec![])?;
    prepared.plan.runs = lab_plan::light_checks(&prepared.experiment, &prepared.plan)?;
    if let Some(model) = given_model(&prepared.experiment) {
        check_servers(&args.question.choices.servers, &model)?;
    }
    let interrupt = interruption()?;
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
    let lightest = prepared.experiment.lightest();
    let levels = lightest.iter().map(|(factor, level)| format!("{factor} {level}"));
    let levels: Vec<String> = levels.collect();
    if !levels.is_empty() {
        println!("asked at {}: the smallest of its cells", levels.join(", "));
    }
    let verdicts = sweep.verify(&mut Bar::new(true))?;
    for verdict in &verdicts {
        match &verdict.checked {
            Checked::Right => println!("right   {}", verdict.variant),
            Checked::Plausible => {
                println!("checked {}: plausible; nobody knows the right answer", verdict.variant);
            }
            Checked::Absent(reason) => println!("absent  {}: {reason}", verdict.variant),
            Checked::Failed(reason) => println!("FAILED  {}: {reason}", verdict.variant),
            Checked::Wrong(reason) => println!("WRONG   {}: {reason}", verdict.variant),
        }
    }
    if interrupt.load(Ordering::Relaxed) {
        eprintln!("stopped: the other variants were not checked");
        return Ok(Exit::Interrupted);
    }
    let is_bad = |checked: &Checked| matches!(checked, Checked::Failed(_) | Checked::Wrong(_));
    Ok(Exit::failed_if(verdicts.iter().any(|verdict| is_bad(&verdict.checked))))
}
