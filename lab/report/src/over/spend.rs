//! Where more time is spent best: on sessions or on their rounds.

use std::collections::BTreeSet;

use super::{Line, Question, Values};
use crate::study::Study;

/// What a session and a pair of one question take.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// Seconds of a session in which nothing is measured, divided among its questions.
    session_s: f64,
    /// Seconds of both runs of a pair.
    pair_s: f64,
}

impl Cost {
    /// Of a question that was asked in rounds: blocks hold the runs of others too. `values` are by
    /// session, of both sides.
    pub(super) fn of(
        studies: &[Study],
        variants: [&str; 2],
        values: &[[Values; 2]],
    ) -> Option<Self> {
        let (mut idle_s, mut runs_s, mut pairs) = (0.0, 0.0, 0_usize);
        for (study, [a, b]) in studies.iter().zip(values) {
            let file = &study.frame.run_file;
            let blocks: BTreeSet<u32> = a.keys().chain(b.keys()).map(|(_, block)| *block).collect();
            if blocks.iter().any(|block| *block <= file.blocks) {
                return None;
            }
            let questions = study.compared.len() + study.contrasted.len();
            idle_s += idle(study) / questions.max(1) as f64;
            let own = study.frame.rows.iter().map(|row| &row.run).filter(|run| {
                blocks.contains(&run.block) && variants.contains(&run.variant.as_str())
            });
            runs_s += own.map(|run| run.process_ns as f64 / 1e9).sum::<f64>();
            pairs += blocks.len();
        }
        let cost =
            Self { session_s: idle_s / studies.len() as f64, pair_s: runs_s / pairs.max(1) as f64 };
        (cost.session_s > 0.0 && cost.pair_s > 0.0).then_some(cost)
    }
}

/// Seconds of a session outside its runs: copies, servers, checks.
fn idle(study: &Study) -> f64 {
    let ends = [study.frame.sessions.first(), study.frame.sessions.last()];
    let [Some(first), Some(last)] = ends else { return 0.0 };
    let runs = study.frame.rows.iter().map(|row| row.run.process_ns as f64 / 1e9).sum::<f64>();
    (last.unix_s.saturating_sub(first.unix_s) as f64 - runs).max(0.0)
}

impl Question<'_> {
    /// What more rounds in each session would buy, and what more sessions, for the candidate that
    /// is known least; what carries the variance, and how many rounds cost the least.
    pub(super) fn where_to_spend(&self) -> Option<String> {
        let width = |line: &&Line| line.over.half_width(1, 1).unwrap_or_default();
        let candidates = self.lines.iter().filter(|line| !line.is_control);
        let least = candidates.max_by(|a, b| width(a).total_cmp(&width(b)))?;
        let with = |sessions, pairs| Some(self.size(least.over.half_width(sessions, pairs)?));
        let share = 100.0 * least.over.between()?;
        let best = match least.cost.and_then(|it| least.over.cheapest(it.session_s, it.pair_s)) {
            Some(best) => {
                let pairs: usize = least.over.pairs.iter().sum();
                let now = pairs as f64 / least.over.pairs.len() as f64;
                format!(" {best:.0} rounds a session cost the least time; these have {now:.0}.")
            }
            None => String::new(),
        };
        Some(format!(
            "`{}` is known to ±{}; to ±{} with twice the rounds in each session, ±{} with twice \
             the sessions. Of its variance {share:.0} % is between sessions.{best}",
            least.name,
            with(1, 1)?,
            with(1, 2)?,
            with(2, 1)?,
        ))
    }
}
