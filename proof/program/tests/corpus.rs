//! The audit on documents of others, where they are at hand.

use std::path::Path;
use std::process::Command;

/// The program's output on the corpus beside the repository; `None` where there is none.
fn output(test: &str, command: &str) -> Option<String> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/audit-corpus");
    if !corpus.join("labels.tsv").is_file() {
        println!("SKIPPED {test}: ../shared/audit-corpus is not there");
        return None;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_proof"))
        .args(["audit", command])
        .arg(&corpus)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The share of judged findings of a grade that are true, over all documents.
fn precision(text: &str, grade: &str) -> f64 {
    let (_, all) = text.split_once("## all").expect("figures of all documents");
    let row = all.lines().find(|line| line.starts_with(&format!("| {grade} |"))).expect(grade);
    let number = |index: usize| row.split('|').nth(index).unwrap().trim().parse::<f64>().unwrap();
    number(3) / (number(3) + number(4))
}

#[test]
fn findings_are_true_and_sound_documents_pass() {
    let Some(text) = output("findings_are_true_and_sound_documents_pass", "corpus") else { return };
    assert!(precision(&text, "impossible") >= 0.95, "{text}");
    assert!(precision(&text, "inconsistent") >= 0.8, "{text}");
    let last = text.lines().rev().find(|line| line.starts_with("Exit 1: ")).unwrap();
    assert!(last.contains(" documents, 0 of "), "{last}");
}

#[test]
fn numbers_multiplied_by_ten_are_noticed() {
    let Some(text) = output("numbers_multiplied_by_ten_are_noticed", "times-ten") else { return };
    let shares = text.lines().filter_map(|line| line.split_once(": ")?.1.split_once(" % of"));
    let shares: Vec<f64> = shares.filter_map(|(share, _)| share.parse().ok()).collect();
    assert_eq!(shares.len(), 3, "{text}");
    assert!(shares.iter().all(|share| *share >= 50.0), "{text}");
}
