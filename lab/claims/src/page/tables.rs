//! The tables beside the page.

use super::{Audited, differences};
use crate::{
    Claim, Standing, StatementValue,
    join::{Outcome, Verdict},
};

pub(super) fn claims(audited: &[Audited]) -> String {
    let mut text = line(&[
        "document",
        "claim",
        "line",
        "section",
        "says",
        "metric",
        "statistic",
        "subject",
        "scope",
        "value",
        "own_data",
        "own_data_why",
        "our_runs",
        "our_runs_why",
        "workload_differs",
    ]);
    for one in audited {
        for (claim, standing, why, verdict) in &one.judged {
            let statement = one.claims.statement(claim);
            let value = match &statement.value {
                StatementValue::Number(printed) => printed.value.to_string(),
                StatementValue::Name(name) => name.clone(),
                StatementValue::None => String::new(),
            };
            let scope =
                statement.key.scope.iter().map(|(factor, level)| format!("{factor}={level}"));
            let standing = match standing {
                Standing::Holds => "holds",
                Standing::Contradicted => "contradicted",
                Standing::StatedOtherwise => "stated otherwise",
                Standing::Open => "open",
            };
            text.push_str(&line(&[
                &one.claims.document.id,
                &claim.id,
                &claim.line.to_string(),
                &claim.section,
                &claim.says,
                &statement.key.metric,
                &statement.key.statistic,
                &statement.key.subject,
                &scope.collect::<Vec<_>>().join(","),
                &value,
                standing,
                why,
                verdict.outcome.words(),
                &verdict.why,
                &differing(one, claim, verdict),
            ]));
        }
    }
    text
}

/// "threads: 2 CPUs", of a claim that our runs refute.
fn differing(one: &Audited, claim: &Claim, verdict: &Verdict) -> String {
    if verdict.outcome != Outcome::Refuted {
        return String::new();
    }
    let reports = differences(one.claims, claim).into_iter();
    let said = reports.filter_map(|(report, says)| Some(format!("{report}: {}", says?)));
    said.collect::<Vec<_>>().join("; ")
}

pub(super) fn findings(audited: &[Audited]) -> String {
    let mut text = line(&[
        "document", "line", "section", "row", "column", "severity", "check", "stated", "computed",
        "sentence", "how",
    ]);
    for one in audited {
        for finding in &one.findings {
            let number =
                |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let severity = finding.severity.name();
            text.push_str(&line(&[
                &one.claims.document.id,
                &finding.place.line.map_or(String::new(), |line| line.to_string()),
                &finding.place.section,
                finding.place.row.as_deref().unwrap_or_default(),
                finding.place.column.as_deref().unwrap_or_default(),
                severity,
                &finding.check,
                &number(finding.stated),
                &number(finding.computed),
                &finding.sentence,
                &finding.how,
            ]));
        }
    }
    text
}

fn line(cells: &[&str]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| cell.replace(['\t', '\n'], " ")).collect();
    cells.join("\t") + "\n"
}
