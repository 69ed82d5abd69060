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
    let names = |run_file: &RunFile| -> Vec<String> {
        run_file.variants.iter().map(|entry| entry.variant.clone()).collect()
    };
    if names(old) != names(run_file) {
        return refuse("the set of variants has changed");
    }
    for (was, is) in old.variants.iter().zip(&run_file.variants) {
        if was.binary_sha256 != is.binary_sha256 {
            return refuse(&format!("the program of {} has changed", was.variant));
        }
        if was.interpreter != is.interpreter {
            return refuse(&format!("what reads the program of {} has changed", was.variant));
        }
    }
    Ok((writer, Some(before)))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use lab_record::VariantEntry;
    use serde_json::json;

    use super::*;
    use crate::Description;

    fn run_file() -> RunFile {
        let entry = json!({
            "variant": "v", "family": "f", "twin_of": null, "measures": "", "version": "",
            "features": [], "tags": [], "binary_sha256": "p", "binary_bytes": 1,
            "interpreter": "python3 3.13",
        });
        let whole = json!({
            "schema": 2, "experiment": "e", "experiment_toml": "", "attachments": {},
            "experiment_sha256": RunFile::hash_of("", &BTreeMap::new()),
            "lab_sha256": "l", "profile": "quick", "arguments": [],
            "analysis": { "reference": "v", "pairing": "paired", "alpha": 0.05, "comparisons": [] },
            "seed": 1, "blocks": 1, "runs_planned": 1, "git": null, "variants": [entry],
            "machine": {
                "cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "x",
            },
            "started_unix_s": 1,
        });
        serde_json::from_value(whole).expect("a run file")
    }

    fn options(results: &Path, resume: bool) -> SweepOptions {
        SweepOptions {
            results: results.to_owned(),
            resume,
            lab: "lab".into(),
            workspace: ".".into(),
            description: Description::default(),
            startup: false,
        }
    }

    /// What a folder that began as `began` says to one who would go on as `now`; none where it lets
    /// them.
    fn refusal(began: &RunFile, now: &RunFile) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let results = folder.path().join("r");
        assert!(open(began, &options(&results, false)).expect("a new folder").1.is_none());
        match open(now, &options(&results, true)) {
            Ok((_, before)) => {
                assert_eq!(before.expect("the record so far").run_file, *began);
                None
            }
            Err(refused) => Some(refused.to_string()),
        }
    }

    #[test]
    fn the_same_lab_goes_on_and_any_other_is_refused() {
        let began = run_file();
        assert_eq!(refusal(&began, &began), None);
        let changed = |change: fn(&mut RunFile)| {
            let mut now = run_file();
            change(&mut now);
            refusal(&began, &now).expect("a refusal")
        };
        for (said, change) in [
            ("the experiment or", (|now| now.experiment_sha256.clear()) as fn(&mut RunFile)),
            ("the experiment or", |now| now.profile = None),
            ("the lab itself", |now| now.lab_sha256 = None),
            ("the machine", |now| now.machine.cpus += 1),
            ("the program of v", |now| now.variants[0].binary_sha256.clear()),
            ("what reads the program of v", |now| now.variants[0].interpreter = None),
            ("the set of variants", |now| now.variants[0].variant.push('w')),
            ("the set of variants", |now| now.variants.clear()),
            ("the set of variants", |now| {
                let second = VariantEntry { variant: "w".to_owned(), ..now.variants[0].clone() };
                now.variants.push(second);
            }),
        ] {
            let _attack = proof_kit::Attack::on("records", &format!("a resume: {said}"));
            let refused = changed(change);
            assert!(refused.contains(&format!(": {said}")), "{said}: {refused}");
        }
    }

    #[test]
    fn a_record_from_before_the_labs_hash_was_kept_goes_on() {
        let older = RunFile { lab_sha256: None, ..run_file() };
        assert_eq!(refusal(&older, &run_file()), None);
    }

    #[test]
    fn a_new_sweep_takes_no_folder_that_is_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let results = folder.path().join("r");
        open(&run_file(), &options(&results, false)).expect("a new folder");
        assert!(open(&run_file(), &options(&results, false)).is_err());
    }
}
