//! The page of a report's claims and the report that judges the same statements: one verdict, in
//! one set of words.

use std::collections::{BTreeMap, BTreeSet};

use lab_tidy::repository::Repository;
use toml::{Table, Value};

const CLAIMS: &str = "claims/worker_threads.toml";
const EXPERIMENT: &str = "experiments/threads.toml";
const REPORT: &str = "reports/threads/expectations.tsv";
const PAGE: &str = "reports/claims/claims.tsv";

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

fn tables<'t>(table: &'t Table, key: &str) -> Vec<&'t Table> {
    let all = table.get(key).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_table).collect()
}

fn text<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The statements of the report that each claim is joined to: their ids, and what the claim says of
/// each.
fn joined(claims: &Table) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut joined: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for claim in tables(claims, "claim") {
        let tests = tables(claim, "test").into_iter();
        for test in tests.filter(|test| text(test, "table") == "expectations") {
            let row = test["row"].as_table().expect("a row");
            let statement = (text(row, "id"), text(test, "says"));
            joined.entry(text(claim, "id")).or_default().push(statement);
        }
    }
    joined
}

/// The rows of tab-separated text, by column.
fn rows(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    lines.map(|line| columns.iter().copied().zip(line.split('\t')).collect()).collect()
}

#[test]
fn every_published_statement_of_the_report_is_a_claim_in_its_own_words() {
    let (claims, experiment) = (ours().table(CLAIMS), ours().table(EXPERIMENT));
    let joined = joined(&claims);
    let expected = tables(&experiment, "expect");
    let says: BTreeMap<&str, String> =
        expected.iter().map(|one| (text(one, "id"), text(one, "says").replace('`', ""))).collect();
    for (claim, statements) in &joined {
        for (id, words) in statements {
            assert_eq!(says.get(id).map(String::as_str), Some(*words), "{claim}: {id}");
        }
    }
    let known: BTreeSet<&str> = joined.values().flatten().map(|(id, _)| *id).collect();
    let of_another = |id: &str| {
        let parts = expected.iter().filter_map(|one| one.get("all_of")?.as_array());
        parts.flatten().any(|part| part.as_str() == Some(id))
    };
    let published = expected.iter().filter(|one| text(one, "kind") == "published");
    let alone = published.map(|one| text(one, "id")).filter(|id| !of_another(id));
    let unknown: Vec<&str> = alone.filter(|id| !known.contains(id)).collect();
    assert!(unknown.is_empty(), "{CLAIMS} has no claim for {unknown:?} of {EXPERIMENT}");
}

#[test]
fn the_page_of_claims_says_of_a_statement_what_the_report_says() {
    let (claims, report, page) = (ours().table(CLAIMS), ours().read(REPORT), ours().read(PAGE));
    let judged: BTreeMap<&str, &str> =
        rows(&report).into_iter().map(|row| (row["id"], row["outcome"])).collect();
    let shown: BTreeMap<&str, &str> = rows(&page)
        .into_iter()
        .filter(|row| row["document"] == "worker_threads")
        .map(|row| (row["claim"], row["our_runs"]))
        .collect();
    let mut compared = 0;
    for (claim, statements) in joined(&claims) {
        // A statement that was declared after the committed sweep has no verdict yet.
        let outcomes = statements.iter().filter_map(|(id, _)| judged.get(id).copied());
        for outcome in outcomes {
            // A number that is claimed beside the statement may refute what the statement does not.
            let allowed: &[&str] = match outcome {
                "not testable" => &["not testable here"],
                "fails" => &["refuted", "not testable here"],
                "holds" => &["reproduced", "refuted", "cannot tell", "not testable here"],
                _ => &["cannot tell", "refuted", "not testable here"],
            };
            let verdict = shown.get(claim).copied().unwrap_or("no row");
            assert!(allowed.contains(&verdict), "{claim} is {verdict}, the report says {outcome}");
            compared += 1;
        }
        let all = |outcome| statements.iter().all(|(id, _)| judged.get(id) == Some(&outcome));
        if shown.get(claim) == Some(&"reproduced") {
            assert!(all("holds"), "{claim} is reproduced, and the report does not say so");
        }
    }
    assert!(compared > 10, "only {compared} verdicts were compared");
}

/// The reports whose tables a verdict names, as in "what is read: 1.5 (threads/contrasts)".
fn named_reports(why: &str) -> BTreeSet<&str> {
    let is_name = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let places = why.split('(').skip(1).filter_map(|rest| rest.split_once('/'));
    places.map(|(report, _)| report).filter(is_name).collect()
}

#[test]
fn every_refuted_claim_says_how_our_workload_differs() {
    let page = ours().read(PAGE);
    let refuted: Vec<_> =
        rows(&page).into_iter().filter(|row| row["our_runs"] == "refuted").collect();
    assert!(refuted.len() > 10, "only {} claims are refuted", refuted.len());
    for row in refuted {
        let reports = named_reports(row["our_runs_why"]);
        assert!(!reports.is_empty(), "{} {}: by what?", row["document"], row["claim"]);
        for report in reports {
            let said = row["workload_differs"].contains(&format!("{report}: "));
            assert!(said, "{} {}: {report} differs how?", row["document"], row["claim"]);
        }
    }
}
