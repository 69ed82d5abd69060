//! The chapters of this family's reports.

mod agents;
mod cards;
mod checks;
mod costs;
mod groups;
mod lengths;
mod lesson;
mod loss;
mod lowest;
mod over;
mod pictures;
mod pooled;
mod published;
mod scale;
mod split;
mod spread;
mod timeline;
mod variance;
mod within;

use std::collections::BTreeMap;

use lab_record::{Comparison, Run, RunFile, Samples, VariantEntry};
use lab_report::{FamilyReport, Frame, Line, Measured, Page, Row, Study};
use toml::Table;

use crate::runtimes::{Runtimes, choose, metrics, slim, table};

impl FamilyReport for Runtimes {
    fn measure<'a>(
        &self,
        _frame: &'a Frame,
        section: &Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>> {
        metrics::measure(section, rows)
    }

    fn chapters(&self, study: &Study, page: &mut Page) {
        published::write(study, page);
        lesson::write(study, page);
        split::write(study, page);
        spread::write(study, page);
        loss::write(study, page);
        costs::write(study, page);
        scale::write(study, page);
        cards::write(study, page);
        pictures::lag(study, page);
        pictures::tokens(study, page);
        lengths::write(study, page);
        agents::write(study, page);
        timeline::write(study, page);
    }

    fn premise(&self, study: &Study) -> Option<String> {
        let paced = study.section.get("servers").and_then(toml::Value::as_str) == Some("paced");
        if paced && !table::traces(&study.frame.run_file.attachments).is_empty() {
            let replayed = "**Recorded replies**, sent anew by a simulated server: what a server \
                            did is an input, not a finding.";
            return Some(replayed.to_owned());
        }
        let simulated = || {
            "**Simulated servers** send each token when their table says: contention is an input, \
             not a finding. Real servers: `reports/tr115-ollama`."
                .to_owned()
        };
        paced.then(simulated).or_else(|| lengths::caveat(study))
    }

    fn answer(&self, study: &Study) -> Option<String> {
        lesson::answer(study).or_else(|| split::answer(study))
    }

    fn run_facts(&self, study: &Study) -> Vec<String> {
        checks::run_facts(study)
    }

    fn lab_checks(&self, study: &Study) -> Vec<String> {
        checks::lab_checks(study)
    }

    /// Their code is what was published, mistakes included.
    fn no_choice(&self, entry: &VariantEntry) -> Option<&'static str> {
        entry.tags.iter().any(|tag| tag == published::AS_PUBLISHED.0).then_some("as published")
    }

    fn doubt(&self, study: &Study, comparison: &Comparison, line: &Line) -> Option<String> {
        checks::too_coarse(study, comparison, line)
    }

    fn note(&self, study: &Study, comparison: &Comparison) -> Option<String> {
        checks::pacing_note(study, comparison)
    }

    fn choose(&self, study: &Study, load: &BTreeMap<String, f64>) -> Result<String, String> {
        choose::choose(study, load)
    }

    fn slim(&self, sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
        slim::slim(sweep, run, samples)
    }
}
