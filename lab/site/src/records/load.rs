//! Reading a record, for every command: what `run.json` declares must be what its experiment says.
//! And the report that follows from it.

use std::path::Path;

use lab_console::Failure;
use lab_family::Family;
use lab_plan::{Experiment, InputError};
use lab_record::{Results, RunFile};
use lab_report::{Frame, Report};
use serde::{Serialize, de::DeserializeOwned};

/// A record that agrees with itself, without its samples.
///
/// # Errors
/// It cannot be read, or was changed.
pub fn results(dir: &Path) -> Result<Results, Failure> {
    let results = Results::load(dir)?;
    match undeclared(&results.run_file) {
        Some(key) => {
            let path = dir.join("run.json");
            let what = "is not what `experiment_toml` says; one of them was changed";
            Err(Failure::file(&path, format!("`{key}` {what}")))
        }
        None => Ok(results),
    }
}

/// The same with all samples.
///
/// # Errors
/// As [`results`].
pub fn frame(dir: &Path) -> Result<Frame, Failure> {
    Ok(Frame::load(&results(dir)?)?)
}

/// The report of a folder of records, which is not written.
///
/// # Errors
/// As [`results`], or the records hold what cannot be, or are of no family of this lab.
pub fn make(records: &Path) -> Result<Report, Failure> {
    made(&frame(records)?, records)
}

/// The report of records that were read from this folder.
///
/// # Errors
/// They hold what cannot be, or are of no family of this lab.
pub fn made(frame: &Frame, records: &Path) -> Result<Report, Failure> {
    lab_report::believable(frame, lab_families::ALL)
        .map_err(|error| Failure::file(records, error))?;
    lab_report::report(frame, lab_families::ALL).map_err(|error| Failure::input(error.to_string()))
}

/// The first key that differs from the experiment's text. Of a text that this lab does not
/// understand, from an older or a newer one, nothing is known.
fn undeclared(file: &RunFile) -> Option<&'static str> {
    let written = declared(file).ok()?.written;
    let before = file.expectations.iter().filter(|one| !one.declared_after_run);
    let expectations: Vec<_> = before.cloned().collect();
    let differs = [
        ("experiment", written.name != file.experiment),
        ("seed", written.seed != file.seed),
        ("blocks", written.blocks != file.blocks),
        ("analysis", stored(&written.analysis).as_ref() != Some(&file.analysis)),
        ("expectations", stored(&written.expect).as_ref() != Some(&expectations)),
    ];
    differs.into_iter().find_map(|(key, differs)| differs.then_some(key))
}

/// What was declared before the sweep.
fn declared(file: &RunFile) -> Result<Experiment, InputError> {
    let families: Vec<&'static dyn Family> =
        lab_families::ALL.iter().map(|one| *one as _).collect();
    let mut experiment = Experiment::parse("experiment_toml", &file.experiment_toml, &families)?;
    if let Some(number) = file.session {
        experiment = experiment.of_session(number);
    }
    match &file.profile {
        Some(profile) => experiment.with_profile(profile),
        None => Ok(experiment),
    }
}

/// As it comes back from a file: reading a number may round its last digit.
fn stored<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    serde_json::from_str(&serde_json::to_string(value).ok()?).ok()
}
