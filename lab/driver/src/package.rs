//! From what a variant said and what the server knows to a row with samples.

use lab_family::{Account, Checked, Family};
use lab_protocol::RunOutcome;
use lab_record::{Run, Samples, Status, Verification};

use crate::words::harmless;

/// How a reason begins that is about an answer, and about nothing else that may fail.
const WRONG: &str = "wrong answer: ";
const IMPOSSIBLE: &str = "impossible numbers: ";

/// Whether a failure is that of an answer: the variant gave one.
pub(crate) fn is_of_answer(reason: &str) -> bool {
    [WRONG, IMPOSSIBLE].iter().any(|start| reason.starts_with(start))
}

/// A run, ready to be recorded.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) run: Run,
    pub(crate) samples: Samples,
}

/// Puts outcome and truth into the row: a run is `ok` only where both say so, and where its numbers
/// can be true.
pub(crate) fn package(
    family: &dyn Family,
    run: Run,
    outcome: RunOutcome,
    checked: Result<Checked, String>,
) -> Done {
    let mut done = joined(run, outcome, checked);
    if done.run.status == Status::Ok
        && let Err(why) = family.laws(&Account { run: &done.run, samples: &done.samples })
    {
        done.run.status = Status::Failed;
        done.run.verification = Verification::Unchecked;
        done.run.reason = Some(format!("{IMPOSSIBLE}{why}"));
    }
    done
}

fn joined(mut run: Run, outcome: RunOutcome, checked: Result<Checked, String>) -> Done {
    let mut columns = outcome.samples;
    match (outcome.status, checked) {
        (lab_protocol::Status::Ok, Ok(checked)) => {
            run.verification = checked.verification;
            run.counters.extend(checked.counters);
            columns.extend(checked.columns);
        }
        (lab_protocol::Status::Ok, Err(reason)) => {
            run.status = Status::Failed;
            run.reason = Some(harmless(&format!("{WRONG}{reason}")));
        }
        (lab_protocol::Status::Failed, _) => {
            run.status = Status::Failed;
            let reason = outcome.reason.as_deref().map(harmless);
            run.reason = Some(reason.unwrap_or_else(|| "no reason given".to_owned()));
        }
        (lab_protocol::Status::Unsupported, _) => {
            run.status = Status::Unsupported;
            run.reason = outcome.reason.as_deref().map(harmless);
        }
    }
    Done { run, samples: Samples::from_raw(columns) }
}

pub(crate) fn failed(mut run: Run, reason: &str) -> Done {
    run.status = Status::Failed;
    run.reason = Some(harmless(reason));
    Done { run, samples: Samples::default() }
}

/// A run of a program that this machine does not have.
pub(crate) fn absent(mut run: Run, why: &str) -> Done {
    run.status = Status::Unsupported;
    run.reason = Some(harmless(why));
    Done { run, samples: Samples::default() }
}

/// The variant of a check that failed; it is not timed.
pub(crate) fn unfit_variant(run: &Run) -> Option<String> {
    (run.block == 0 && run.status != Status::Ok).then(|| run.variant.clone())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use lab_family::Definition;
    use lab_record::Column;
    use serde_json::json;

    use super::*;

    /// A family whose one law is that no run takes 13 ns.
    #[derive(Debug)]
    struct Toy;

    impl Family for Toy {
        fn definition(&self) -> &'static Definition {
            unreachable!("nothing of a run asks for it")
        }

        fn laws(&self, account: &Account<'_>) -> Result<(), String> {
            match account.run.counters.get("wall_ns") {
                Some(13) => Err("wall_ns is 13".to_owned()),
                _ => Ok(()),
            }
        }
    }

    /// A check that went well, of 100 ns.
    pub(crate) fn run() -> Run {
        let run = json!({
            "schema": 2, "order": 0, "attempt": 0, "block": 0, "warmup": true, "family": "f",
            "variant": "v", "cell": {}, "status": "ok", "verification": "unchecked",
            "binary_sha256": "", "start_ns": 1_000, "process_ns": 100, "noise": {},
            "counters": { "wall_ns": 90 },
        });
        serde_json::from_value(run).expect("a run")
    }

    fn outcome(status: &str, reason: Option<&str>) -> RunOutcome {
        let outcome = json!({
            "protocol": 1, "run": "r", "status": status, "reason": reason,
            "samples": { "said_ns": [1, 2] },
        });
        serde_json::from_value(outcome).expect("an outcome")
    }

    fn right() -> Result<Checked, String> {
        Ok(Checked {
            columns: BTreeMap::from([("known_ns".to_owned(), vec![3])]),
            counters: BTreeMap::from([("server_tokens".to_owned(), 7)]),
            verification: Verification::Checked,
        })
    }

    /// Status, verification and reason.
    fn said(done: &Done) -> (Status, Verification, Option<&str>) {
        (done.run.status, done.run.verification, done.run.reason.as_deref())
    }

    #[test]
    fn a_right_answer_is_recorded_with_what_the_check_knows() {
        let done = package(&Toy, run(), outcome("ok", None), right());
        assert_eq!(said(&done), (Status::Ok, Verification::Checked, None));
        assert_eq!(done.run.counters["server_tokens"], 7);
        let columns: Vec<&String> = done.samples.columns.keys().collect();
        assert_eq!(columns, ["known_ns", "said_ns"]);
        assert_eq!(done.samples.columns["known_ns"], Column::Raw(vec![3]));
    }

    #[test]
    fn a_wrong_answer_fails_whatever_the_variant_says() {
        let done = package(&Toy, run(), outcome("ok", None), Err("7, not 8".to_owned()));
        let why = Some("wrong answer: 7, not 8");
        assert_eq!(said(&done), (Status::Failed, Verification::Unchecked, why));
        assert!(!done.run.counters.contains_key("server_tokens"));
    }

    #[test]
    fn a_failure_has_its_reason_whatever_the_check_says() {
        for (reason, why) in [(Some("no server"), "no server"), (None, "no reason given")] {
            let done = package(&Toy, run(), outcome("failed", reason), right());
            assert_eq!(said(&done), (Status::Failed, Verification::Unchecked, Some(why)));
        }
        let done = package(&Toy, run(), outcome("unsupported", Some("two agents")), right());
        let why = Some("two agents");
        assert_eq!(said(&done), (Status::Unsupported, Verification::Unchecked, why));
    }

    #[test]
    fn a_reason_is_stored_as_it_may_be_shown() {
        let shown = "\\u{1b}[2Jno server\\r\\u{202e}";
        for status in ["failed", "unsupported"] {
            let name = format!("escape sequences in the reason of a run that is {status}");
            let _attack = proof_kit::Attack::on("answers", &name);
            let reason = "\u{1b}[2Jno server\r\u{202e}";
            let done = package(&Toy, run(), outcome(status, Some(reason)), right());
            assert_eq!(done.run.reason.as_deref(), Some(shown));
        }
        let _attack = proof_kit::Attack::on("answers", "escape sequences in a wrong answer");
        let wrong = Err("\u{1b}c of step 0".to_owned());
        let done = package(&Toy, run(), outcome("ok", None), wrong);
        assert_eq!(done.run.reason.as_deref(), Some("wrong answer: \\u{1b}c of step 0"));
    }

    #[test]
    fn numbers_that_cannot_be_true_fail_a_right_answer_and_no_other_is_asked() {
        let impossible = || {
            let mut run = run();
            run.counters.insert("wall_ns".to_owned(), 13);
            run
        };
        let done = package(&Toy, impossible(), outcome("ok", None), right());
        let why = Some("impossible numbers: wall_ns is 13");
        assert_eq!(said(&done), (Status::Failed, Verification::Unchecked, why));
        let done = package(&Toy, impossible(), outcome("failed", Some("x")), right());
        assert_eq!(done.run.reason.as_deref(), Some("x"));
    }

    #[test]
    fn what_did_not_run_has_a_reason_and_no_samples() {
        let broken = failed(run(), "killed");
        assert_eq!(
            (broken.run.status, broken.run.reason.as_deref()),
            (Status::Failed, Some("killed"))
        );
        let absent = absent(run(), "no python3");
        let found = (absent.run.status, absent.run.reason.as_deref());
        assert_eq!(found, (Status::Unsupported, Some("no python3")));
        assert!(broken.samples.columns.is_empty() && absent.samples.columns.is_empty());
    }

    #[test]
    fn a_variant_is_unfit_where_its_check_was_not_ok() {
        assert_eq!(unfit_variant(&run()), None);
        let failed = failed(run(), "x").run;
        assert_eq!(unfit_variant(&failed).as_deref(), Some("v"));
        assert_eq!(unfit_variant(&Run { block: 1, ..failed }), None);
    }
}
