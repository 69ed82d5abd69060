//! A sixth family from experiment to report: the plan, the driver and the report are told of it as
//! a value, and know it by nothing else.

use lab_driver::Catalog;
use lab_plan::{Experiment, plan};
use lab_record::Verification;
use lab_report::Row;
use proof_kit::toys::Toys;

use crate::checkout::{alone, family, outcome, swept};

pub(crate) const EXPERIMENT: &str = r#"
schema = 1
name = "adding"
question = "Which way of adding is faster?"
family = "toys"
seed = 1
blocks = 8
[variants]
tags = ["toy"]
twin = "fast"
[[cells]]
numbers = ["10", "1000"]
[analysis]
reference = "fast"
pairing = "paired"
alpha = 0.05
[[analysis.comparisons]]
metric = "elapsed_ns"
cells = { numbers = ["1000"] }
scale = "ratio"
margin = 0.05
[[analysis.contrasts]]
id = "thousand_against_ten"
variant = "fast"
metric = "numbers_per_s"
factor = "numbers"
level = "1000"
reference = "10"
cells = {}
scale = "ratio"
margin = 0.05
[[expect]]
id = "slow_costs_half_more"
kind = "bar"
says = "`slow` takes at least 1.4 times as long"
cells = { numbers = "1000" }
value = { variant = "slow", metric = "elapsed_ns" }
over = { variant = "fast" }
at_least = 1.4
[[expect]]
id = "slow_costs_double"
kind = "published"
says = "`slow` takes twice as long"
cells = { numbers = "1000" }
value = { variant = "slow", metric = "elapsed_ns" }
over = { variant = "fast" }
at_least = 2.0
[[expect]]
id = "equal_rates"
kind = "check"
says = "the rate does not depend on the numbers"
contrast = "thousand_against_ten"
is = "equivalent"
[toys.defaults]
numbers = "10"
"#;

#[test]
fn a_family_is_one_crate_and_its_folder() {
    let (frame, report) = swept(EXPERIMENT, &["fast", "slow"]);
    assert_eq!(frame.rows.len(), 3 + 8 * 2 * 3);
    let is_verified = |row: &&Row| row.run.verification == Verification::Verified;
    let unverified = frame.rows.iter().find(|row| !is_verified(row));
    assert!(unverified.is_none(), "{:?}", unverified.map(|row| &row.run.reason));
    assert!(report.whole().contains("**Which way of adding is faster?**"));
    assert_eq!(outcome(&report, "differences-1.tsv", "slow"), "slower");
    // Eight pairs: the typical run is equivalent, and nothing is known of the tail.
    assert_eq!(outcome(&report, "contrasts.tsv", "thousand_against_ten"), "cannot tell");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_half_more"), "holds");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_double"), "fails");
    assert_eq!(outcome(&report, "expectations.tsv", "equal_rates"), "cannot tell");
    assert!(report.tables["times.tsv"].starts_with("variant\tnumbers\tn\telapsed_ns\t"));
}

#[test]
fn a_wrong_answer_is_recorded_and_not_timed() {
    let (frame, report) = swept(EXPERIMENT, &["fast", "slow", "wrong"]);
    let wrong: Vec<_> = frame.rows.iter().filter(|row| row.run.variant == "wrong").collect();
    assert_eq!(wrong.len(), 1);
    let reason = wrong[0].run.reason.as_deref().unwrap();
    assert_eq!(reason, "wrong answer: sum is 56, not 55");
    assert!(report.whole().contains("**`wrong` has no analysed run**"), "{}", report.whole());
}

#[test]
fn a_slip_of_the_pen_is_refused_with_the_nearest_name() {
    let slips = [
        (
            "metric = \"elapsed_ns\"\ncells",
            "metric = \"elapsd_ns\"\ncells",
            "adding.toml: key `analysis.comparisons[1].metric`: `elapsd_ns` is no metric of toys; \
          did you mean `elapsed_ns`?",
        ),
        (
            "cells = { numbers = [\"1000\"] }\nscale",
            "cells = { nubmers = [\"1000\"] }\nscale",
            "adding.toml: key `analysis.comparisons[1].cells`: `nubmers` is no factor of toys; \
          did you mean `numbers`?",
        ),
        (
            "level = \"1000\"",
            "level = \"88\"",
            "adding.toml: key `analysis.contrasts.thousand_against_ten.numbers`: `88` is no level \
             of \
          `numbers` that this experiment runs; there are: 10, 1000",
        ),
        (
            "contrast = \"thousand_against_ten\"",
            "contrast = \"thousand_against_tne\"",
            "adding.toml: key `expect.equal_rates.contrast`: `thousand_against_tne` is no declared \
          contrast; did you mean `thousand_against_ten`?",
        ),
        (
            "is = \"equivalent\"",
            "is = \"reproduced\"",
            "adding.toml: key `expect.equal_rates.is`: `reproduced` is no outcome of a contrast; \
          there are: equivalent, faster, slower",
        ),
        (
            "at_least = 1.4",
            "",
            "adding.toml: key `expect.slow_costs_half_more`: needs `at_least`, `at_most`, or both",
        ),
    ];
    for (right, wrong, message) in slips {
        let text = EXPERIMENT.replacen(right, wrong, 1);
        assert_ne!(text, EXPERIMENT, "{right}");
        let error = Experiment::parse("adding.toml", &text, &[&Toys]).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let text = EXPERIMENT.replacen("variant = \"slow\"", "variant = \"slwo\"", 1);
    let experiment = Experiment::parse("adding.toml", &text, &[&Toys]).unwrap();
    let _alone = alone();
    let root = tempfile::tempdir().unwrap();
    family(root.path(), &["fast", "slow"]);
    let catalog = Catalog::read(root.path(), "toys", &[root.path().to_owned()]).unwrap();
    assert_eq!(
        plan(&experiment, &catalog.manifests).unwrap_err().to_string(),
        "adding.toml: key `expect.slow_costs_half_more.variant`: `slwo` is no variant of toys; \
         did you mean `slow`?"
    );
}
