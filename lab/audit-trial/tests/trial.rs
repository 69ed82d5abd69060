//! Reports that nobody wrote: the audit must pass the consistent ones and find what is planted.

use lab_audit::Severity;
use lab_audit_trial::{KINDS, Kind, clean, planted, rates};

#[test]
fn consistent_reports_pass_and_every_planted_error_is_found() {
    let rates = rates(1_000, 150);
    let text = rates.markdown();
    println!("{text}");
    assert_eq!(rates.impossible.hits, 0, "{text}");
    assert!(rates.doubtful.hits <= 4, "{text}");
    assert_eq!(rates.detections.len(), KINDS.len());
    for detection in &rates.detections {
        assert!(2 * detection.found.hits > detection.found.of, "{text}");
    }
}

#[test]
fn a_seed_gives_the_same_report_and_a_twin_differs_by_its_error_alone() {
    assert_eq!(clean(7), clean(7));
    assert_ne!(clean(7), clean(8));
    let (report, twin) = planted(3, Kind::WrongMean);
    let pairs = report.markdown.lines().zip(twin.markdown.lines());
    assert_eq!(report.markdown.lines().count(), twin.markdown.lines().count());
    assert_eq!(pairs.filter(|(a, b)| a != b).count(), 1);
    assert_eq!(report.raws, twin.raws);
}

#[test]
fn a_finding_names_line_and_values() {
    let (report, _) = planted(3, Kind::WrongMean);
    let findings = report.audit();
    let worst = &findings[0];
    assert_eq!(worst.severity, Severity::Impossible);
    let line = worst.place.line.expect("a line");
    let text = report.markdown.lines().nth(line - 1).expect("the line is there");
    assert!(text.contains(worst.place.row.as_deref().unwrap().split(" / ").next().unwrap()));
    assert!(worst.stated.is_some() && worst.computed.is_some());
}
