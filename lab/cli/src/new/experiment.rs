//! `lab new experiment`: a question of one's own, from the nearest experiment.

use std::{fs, path::Path};

use super::{not_there, word};
use crate::{
    Failure,
    paths::Paths,
    plan::{Read, read_experiment},
};

pub(super) fn experiment(
    paths: &Paths,
    name: &str,
    like: &Path,
    factor: Option<&str>,
) -> Result<(), Failure> {
    word(name)?;
    let to = paths.workspace.join("experiments").join(format!("{name}.toml"));
    let refuse = |error| Failure::input(format!("{}: {error}", paths.shown(&to)));
    not_there(&to).map_err(refuse)?;
    let (path, shown) = paths.experiment(like)?;
    let Read { experiment, .. } = read_experiment(&path, &shown)?;
    let text = lab_plan::begun(&experiment, name, factor)?;
    fs::write(&to, text).map_err(refuse)?;
    let shown = paths.shown(&to);
    println!("{shown}, with one question of {} and its cells", like.display());
    println!("  1. state your question, its cells and what is compared");
    println!("  2. {} {shown}", paths.call("plan"));
    println!("  3. {} {shown}", paths.call("run"));
    Ok(())
}
