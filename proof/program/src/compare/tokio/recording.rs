//! The rounds of one comparison, and what the engine of `lab compare` says of any of its programs.

use std::{fs, path::Path};

use anyhow::{Context, Result, anyhow};
use lab_compare::{CandidateState, Comparison, Estimate, Settings};
use lab_stats::describe::median;
use serde::Deserialize;

/// What `lab compare --record` wrote.
pub(super) struct Recording {
    header: Header,
    rounds: Vec<Round>,
}

#[derive(Deserialize)]
struct Header {
    metrics: Vec<String>,
    commands: Vec<Command>,
    settings: Settings,
}

#[derive(Deserialize)]
struct Command {
    name: String,
}

#[derive(Deserialize)]
struct Round {
    elapsed_s: f64,
    order: Vec<usize>,
    runs: Vec<Vec<f64>>,
    statuses: Vec<i32>,
}

impl Recording {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = || path.display().to_string();
        let text = zstd::decode_all(fs::read(path).with_context(shown)?.as_slice());
        Self::parsed(&text.with_context(shown)?).with_context(shown)
    }

    fn parsed(text: &[u8]) -> Result<Self> {
        let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let header = serde_json::from_slice(lines.next().context("there is no line")?)?;
        let rounds = lines.map(|line| Ok(serde_json::from_slice(line)?)).collect::<Result<_>>()?;
        Ok(Self { header, rounds })
    }

    pub(super) fn rounds(&self) -> usize {
        self.rounds.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.header.commands.iter().map(|command| command.name.as_str())
    }

    /// The median of a program's runs, in the unit of the record: times are in microseconds.
    pub(super) fn median(&self, program: &str, metric: &str) -> Result<f64> {
        let (place, metric) = (self.place(program)?, self.metric(metric)?);
        let values: Vec<f64> = self.rounds.iter().map(|round| round.runs[place][metric]).collect();
        median(&values).context("there is no round")
    }

    /// What the rounds show of some programs against another one. All candidates together are
    /// wrong with probability `alpha` at most.
    pub(super) fn against(
        &self,
        reference: &str,
        candidates: &[&str],
        alpha: f64,
    ) -> Result<Vec<CandidateState>> {
        let chosen = [&[reference], candidates].concat();
        let places = chosen.iter().map(|name| self.place(name)).collect::<Result<Vec<_>>>()?;
        let settings =
            Settings { alpha, candidates: candidates.len(), ..self.header.settings.clone() };
        let metrics: Vec<&str> = self.header.metrics.iter().map(String::as_str).collect();
        let mut comparison = Comparison::new(settings, &metrics)?;
        for round in &self.rounds {
            let place = |command: &usize| places.iter().position(|place| place == command);
            let order: Vec<usize> = round.order.iter().filter_map(place).collect();
            let runs: Vec<_> = places.iter().map(|place| round.runs[*place].clone()).collect();
            let statuses: Vec<i32> = places.iter().map(|place| round.statuses[*place]).collect();
            comparison.add(&order, &runs, round.elapsed_s)?;
            comparison.ended(&runs, &statuses);
        }
        Ok(comparison.state().candidates)
    }

    fn place(&self, program: &str) -> Result<usize> {
        let place = self.names().position(|name| name == program);
        place.ok_or_else(|| anyhow!("there is no program {program}"))
    }

    fn metric(&self, metric: &str) -> Result<usize> {
        let place = self.header.metrics.iter().position(|name| name == metric);
        place.ok_or_else(|| anyhow!("there is no {metric}"))
    }
}

/// What is known of a metric of a candidate.
pub(super) fn estimate<'s>(state: &'s CandidateState, metric: &str) -> Option<&'s Estimate> {
    state.metrics.iter().find(|one| one.metric == metric)?.estimate.as_ref()
}

#[cfg(test)]
mod tests {
    use lab_compare::Settings;
    use lab_stats::outcome::Outcome;
    use serde_json::json;

    use super::{Recording, estimate};

    /// Rounds in which programs take these times in all metrics, and vary by 2 %.
    fn recording(programs: &[(&str, f64)], rounds: usize) -> Recording {
        let names: Vec<_> = programs.iter().map(|(name, _)| json!({ "name": name })).collect();
        let settings = Settings { candidates: programs.len() - 1, ..Settings::default() };
        let metrics = ["wall time", "CPU time", "context switches"];
        let header = json!({ "metrics": metrics, "commands": names, "settings": settings });
        let mut text = header.to_string();
        for round in 0..rounds {
            // Each program is a little late in other rounds than the next.
            let late = |place: usize| 1.0 + 0.01 * ((round + place) % 3) as f64;
            let times = programs.iter().enumerate().map(|(place, (_, time))| time * late(place));
            let runs: Vec<Vec<f64>> = times.map(|time| vec![time; metrics.len()]).collect();
            let mut order: Vec<usize> = (0..programs.len()).collect();
            order.rotate_left(round % programs.len());
            let statuses = vec![0; programs.len()];
            let line = json!({ "elapsed_s": round, "order": order, "runs": runs,
                               "statuses": statuses });
            text += &format!("\n{line}");
        }
        Recording::parsed(text.as_bytes()).unwrap()
    }

    #[test]
    fn any_program_is_compared_with_any_other_one() {
        let recording = recording(&[("a", 1.0), ("b", 2.0), ("c", 4.0)], 60);
        let states = recording.against("c", &["b", "a"], 0.01).unwrap();
        for (state, factor) in states.iter().zip([0.5, 0.25]) {
            assert_eq!((state.rounds, state.verdict.outcome), (60, Outcome::Faster));
            let found = estimate(state, "CPU time").unwrap().shift;
            assert!((found - f64::ln(factor)).abs() < 0.03, "{found}");
        }
        assert!((2.0..2.05).contains(&recording.median("b", "wall time").unwrap()));
        assert!(recording.against("c", &["d"], 0.01).is_err());
    }
}
