//! One page: every claim of the encoded documents, what the documents' own data say, what our runs
//! say. The same files in, the same bytes out.

mod document;
mod tables;

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    Claim, Claims, ClaimsError, Evidence, Standing,
    facts::Facts,
    join::{Outcome, Tables, Verdict, verdict},
};
use lab_audit::{Finding, Severity};

/// The page and the tables beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Texts by file name: `report.md`, `claims.tsv`, `findings.tsv`, a page in `details/` for each
    /// document.
    pub files: Vec<(String, String)>,
}

/// Everything known about one document.
pub(crate) struct Audited<'a> {
    claims: &'a Claims,
    facts: Vec<&'a Facts>,
    findings: Vec<Finding>,
    judged: Vec<(&'a Claim, Standing, String, Verdict)>,
}

/// Makes the page.
///
/// # Errors
/// A declared check that names what is not there; the message names the file and the key.
pub fn page(corpus: &[Claims], facts: &[Facts], tables: &Tables) -> Result<Page, ClaimsError> {
    let audited: Vec<Audited> =
        corpus.iter().map(|claims| audited(claims, facts, tables)).collect::<Result<_, _>>()?;
    let mut audited = audited;
    // As their file names number them.
    audited.sort_by(|a, b| a.claims.document.file.cmp(&b.claims.document.file));
    let mut files = vec![
        ("report.md".to_owned(), head(&audited)),
        ("claims.tsv".to_owned(), tables::claims(&audited)),
        ("findings.tsv".to_owned(), tables::findings(&audited)),
    ];
    files.extend(audited.iter().map(|one| (own_page(one), document::page(one))));
    Ok(Page { files })
}

/// Where a document's claims stand.
fn own_page(one: &Audited) -> String {
    format!("details/{}.md", one.claims.document.id)
}

fn audited<'a>(
    claims: &'a Claims,
    facts: &'a [Facts],
    tables: &Tables,
) -> Result<Audited<'a>, ClaimsError> {
    let evidence = Evidence::new(claims, facts);
    let judge = |claim: &'a Claim| -> Result<_, ClaimsError> {
        let (standing, why) = evidence.standing(claim);
        let verdict = verdict(claim, tables)?;
        if verdict.outcome == Outcome::Refuted {
            named_differences(claims, claim)?;
        }
        Ok((claim, standing, why, verdict))
    };
    Ok(Audited {
        claims,
        facts: facts
            .iter()
            .filter(|facts| claims.raw.iter().any(|raw| raw.name == facts.raw))
            .collect(),
        findings: evidence.findings()?,
        judged: claims.claim.iter().map(judge).collect::<Result<_, _>>()?,
    })
}

/// Every report that a claim is tested by, with what differs there from what the document measured.
fn differences<'a>(claims: &'a Claims, claim: &'a Claim) -> BTreeMap<&'a str, Option<&'a str>> {
    let of = |report: &str| claims.differs.iter().find(|differs| differs.report == report);
    let tests = claim.test.iter().map(|test| test.report.as_str());
    tests.map(|report| (report, of(report).map(|differs| differs.says.as_str()))).collect()
}

/// Nobody may call a claim refuted without saying how the runs differ.
fn named_differences(claims: &Claims, claim: &Claim) -> Result<(), ClaimsError> {
    let differences = differences(claims, claim);
    match differences.into_iter().find(|(_, says)| says.is_none()) {
        None => Ok(()),
        Some((report, _)) => Err(ClaimsError::value(
            &format!("claims/{}.toml", claims.document.id),
            "differs",
            format!(
                "`{report}` refutes the claim `{}`, and nothing says how its runs differ from the \
                 document's; add [[differs]] with report and says",
                claim.id
            ),
        )),
    }
}

impl Audited<'_> {
    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    fn standing(&self, wanted: Standing) -> usize {
        self.judged.iter().filter(|(_, standing, ..)| *standing == wanted).count()
    }

    fn outcome(&self, wanted: Outcome) -> usize {
        self.judged.iter().filter(|(.., verdict)| verdict.outcome == wanted).count()
    }
}

fn head(audited: &[Audited]) -> String {
    let claims: usize = audited.iter().map(|one| one.judged.len()).sum();
    let mut text = format!(
        "# Published claims, their own data, and our runs\n\n\
         {claims} claims of {} published reports (`claims/`), held against their own documents and \
         raw data, and joined to our reports by `claims --write`. No figure is a time of its \
         own: what our runs say is a joined report's, which names its machine and commit.\n\n",
        audited.len()
    );
    text.push_str(
        "| document | claims | impossible | doubtful | hold | contradicted | stated otherwise \
         | open | reproduced | refuted | cannot tell | not testable |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for one in audited {
        let _ = writeln!(
            text,
            "| [{}]({}) | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.claims.document.id,
            own_page(one),
            one.judged.len(),
            one.count(Severity::Impossible),
            one.count(Severity::Doubtful),
            one.standing(Standing::Holds),
            one.standing(Standing::Contradicted),
            one.standing(Standing::StatedOtherwise),
            one.standing(Standing::Open),
            one.outcome(Outcome::Reproduced),
            one.outcome(Outcome::Refuted),
            one.outcome(Outcome::CannotTell),
            one.outcome(Outcome::NotTestable),
        );
    }
    text.push_str(
        "\nFindings, not claims: *impossible* (arithmetic or the document's own data exclude it), \
         *doubtful* (rare, or no support). *Hold* to *open*: how claims stand in their own \
         document and data. *Reproduced* to *not testable*: what our runs say.\n",
    );
    text
}
