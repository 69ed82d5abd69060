//! The encoded report TR115: every contradiction known of it comes out of the tool, from the
//! claim file and stored facts alone.

use std::{collections::BTreeMap, fs, path::Path};

use lab_audit::{Finding, Severity};
use lab_claims::{Claims, Evidence, Standing, facts::Facts};

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../claims");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn corpus() -> (Claims, Facts) {
    let text = read("tr115.toml");
    let header = Claims::header("tr115.toml", &text).unwrap();
    let files: BTreeMap<_, _> =
        header.files().into_iter().map(|file| (file.clone(), read(&file))).collect();
    let claims = Claims::parse("tr115.toml", &text, &files).unwrap();
    let facts = Facts::parse("tr115_v2_runs.toml", &read("facts/tr115_v2_runs.toml")).unwrap();
    (claims, facts)
}

/// The finding of a check whose sentence holds all of these texts.
#[track_caller]
fn found<'f>(findings: &'f [Finding], check: &str, texts: &[&str]) -> &'f Finding {
    let holds = |finding: &&Finding| {
        finding.check == check && texts.iter().all(|text| finding.sentence.contains(text))
    };
    findings.iter().find(holds).unwrap_or_else(|| {
        let near = findings.iter().filter(|finding| finding.check == check);
        let near: Vec<_> = near.map(|finding| finding.sentence.as_str()).collect();
        panic!("no {check} with {texts:?} among\n{}", near.join("\n"))
    })
}

#[test]
fn the_contradictions_inside_the_document_come_out() {
    let (claims, facts) = corpus();
    let findings = Evidence::new(&claims, &[facts]).findings().unwrap();
    let stated = |texts: &[&str]| found(&findings, "stated_twice", texts).severity;
    // 1: the peak of tokio-default, two values, and third of four by the summary table.
    stated(&["max efficiency of tokio-default is", "99.89", "99.29", "296", "867"]);
    found(
        &findings,
        "ranking_reversed",
        &["tokio-default", "highest max", "number 3 of 5", "99.89"],
    );
    // 2: peaks of the others.
    stated(&["max efficiency of smol is", "99.87", "94.98"]);
    stated(&["max efficiency of smol-1kb is", "99.94", "98.99"]);
    stated(&["max efficiency of tokio-localset is", "99.99", "98.52"]);
    // 3: three means each: two stated, one of the printed runs.
    for (subject, values) in [
        ("tokio-default", ["98.72", "95.2", "96.8"]),
        ("tokio-localset", ["97.95", "94.7", "94.6"]),
        ("smol-1kb", ["98.61", "93.8", "93.6"]),
        ("smol", ["97.72", "92.4", "92.3"]),
    ] {
        stated(&[&format!("mean efficiency of {subject} is"), values[0], values[1]]);
        let runs = format!("runs' efficiency of {subject}:");
        found(
            &findings,
            "printed_runs",
            &["30 single values", &runs, &format!("mean {}", values[2])],
        );
    }
    // 4: the minimum of tokio-default: three stated, and a run that is two more.
    stated(&["min efficiency of tokio-default is", "94.80", "91.3", "86.43"]);
    stated(&["tokio-default at config chimera_homo_gpu80_ctx2048, run 2", "91.3", "98.1", "99.40"]);
    // 5: the coefficients of variation, and the ranking that they reverse.
    stated(&["cv efficiency of smol is", "3.5", "5.0"]);
    stated(&["cv efficiency of tokio-default is", "5.0", "1.2"]);
    found(&findings, "rankings_differ", &["`overall`", "`cv`", "cv efficiency"]);
    found(&findings, "ranking_reversed", &["smol", "lowest cv", "raw data"]);
}

#[test]
fn the_contradictions_between_its_tables_and_its_runs_come_out() {
    let (claims, facts) = corpus();
    let findings = Evidence::new(&claims, &[facts]).findings().unwrap();
    // 6: deviations within configurations: stated, printed and raw.
    found(&findings, "printed_runs", &["runs' efficiency of smol:", "mean_cell_sd 0.34, not 1.9"]);
    found(&findings, "not_in_raw_data", &["cell_sd efficiency of"]);
    found(&findings, "not_in_raw_data", &["where_max_cell_sd efficiency of", "ctx512"]);
    // 7: cells of section 3.2 against the appendix and the data.
    let cell = "of tokio-default at config baseline_vs_chimera";
    found(&findings, "stated_twice", &["max efficiency", cell, "98.2", "97.8", "99.88"]);
    let cell = "of tokio-localset at config chimera_homo_gpu80_ctx2048";
    found(&findings, "stated_twice", &["mean efficiency", cell, "82.4", "86.4", "96.57"]);
    found(&findings, "outside_its_extremes", &["mean efficiency", cell, "82.4", "86.43"]);
    // 8: the inversion of 12.86 points is that of two single runs.
    let inversion =
        ["12.86", "mean efficiency of tokio-default", "2.66", "99.29", "86.43", "run 1"];
    found(&findings, "difference_not_in_raw_data", &inversion);
}

#[test]
fn its_share_of_the_common_flaws_comes_out() {
    let (claims, facts) = corpus();
    let findings = Evidence::new(&claims, &[facts]).findings().unwrap();
    // The headline metric is the balance of two durations.
    found(&findings, "metric_is_identity", &["efficiency equals 100 * (tA + tB)", "120 runs"]);
    // The blamed cause is not in the data: agents that never overlap, whatever the client is.
    found(&findings, "metric_is_identity", &["wall_time of async-std equals tA + tB", "30 runs"]);
    // The printed runs are not the data.
    found(&findings, "values_not_in_raw_data", &["115 of the 120"]);
    found(&findings, "runs_missing", &["150", "125"]);
    // Cells that are one treatment, blocks, repeats that disagree, intervals without their value.
    found(&findings, "same_treatment", &["gpu80_ctx512", "gpu100_ctx512"]);
    found(&findings, "blocks_in_time", &["5 subjects", "5 stretches"]);
    found(&findings, "winner_changes", &["efficiency", "6 of 6"]);
    found(&findings, "interval_excludes", &["tokio-localset", "99.11", "99.99"]);
    found(&findings, "upper_median", &["tokio-default", "99.11", "99.025"]);
    assert!(findings.iter().any(|finding| finding.check == "not_in_raw_data"
        && finding.severity == Severity::Doubtful
        && finding.sentence.contains("test_duration")));
}

#[test]
fn the_honest_table_is_not_accused() {
    let (claims, facts) = corpus();
    let evidence = Evidence::new(&claims, &[facts]);
    let standing = |id: &str| {
        let claim = claims.claim.iter().find(|claim| claim.id == id).unwrap();
        evidence.standing(claim).0
    };
    for id in
        ["es_tokio_default_mean", "es_smol_min", "concl_smol_1kb_spread", "smol_run_5_speedup"]
    {
        assert_eq!(standing(id), Standing::Holds, "{id}");
    }
    // Rounding of the parts, not an error: 72.80 - 99.87.
    assert_eq!(standing("smol_drop_3_1"), Standing::Holds);
    assert_eq!(standing("default_peak_1_1"), Standing::Contradicted);
    assert_eq!(standing("default_best_9_1"), Standing::Contradicted);
    assert_eq!(standing("stealing_wins"), Standing::Open);
}
