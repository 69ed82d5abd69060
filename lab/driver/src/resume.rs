//! Whether a stopped sweep may be gone on with: only by the same lab, on the same machine, with the
//! same programs.

use lab_record::{Results, RunFile, Writer};

use crate::{DriverError, SweepOptions};

/// A new folder, or the one to go on with after all comparisons.
pub(crate) fn open(
    run_file: &RunFile,
    options: &SweepOptions,
) -> Result<(Writer, Option<Results>), DriverError> {
    if !options.resume {
        return Ok((Writer::create(&options.results, run_file)?, None));
    }
    let (writer, before) = Writer::resume(&options.results)?;
    let old = &before.run_file;
    let refuse = |what: &str| {
        let place = options.results.display();
        Err(DriverError::Resume(format!(
            "cannot resume {place}: {what} since it was started; start a new sweep instead"
        )))
    };
    if old.experiment_sha256 != run_file.experiment_sha256 || old.profile != run_file.profile {
        return refuse("the experiment or a table it names has changed");
    }
    if old.lab_sha256.is_some() && old.lab_sha256 != run_file.lab_sha256 {
        return refuse("the lab itself has changed");
    }
    if old.machine != run_file.machine {
        return refuse("the machine has changed");
    }
    for (was, is) in old.variants.iter().zip(&run_file.variants) {
        if was.binary_sha256 != is.binary_sha256 {
            return refuse(&format!("the program of {} has changed", was.variant));
        }
        if was.interpreter != is.interpreter {
            return refuse(&format!("what reads the program of {} has changed", was.variant));
        }
    }
    if old.variants.len() != run_file.variants.len() {
        return refuse("the set of variants has changed");
    }
    Ok((writer, Some(before)))
}
