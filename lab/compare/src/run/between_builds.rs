//! What is said of several builds of each revision.

use serde_json::{Value, json};

use super::{commands::Command, record::Round};
use crate::{OverBuilds, Settings, over_builds};

/// One for each candidate; none where every round ran the only build.
fn each(commands: &[Command], rounds: &[Round], settings: &Settings) -> Vec<Option<OverBuilds>> {
    let builds = commands[0].builds.len();
    if builds < 2 {
        return Vec::new();
    }
    let pairs = |candidate: usize| -> Vec<(usize, f64)> {
        let pair = |round: &Round| {
            let difference = (round.runs[candidate].first()? / round.runs[0][0]).ln();
            Some((usize::from(round.layout.build), difference))
        };
        rounds.iter().filter_map(pair).collect()
    };
    let found = |candidate| over_builds(&pairs(candidate), builds, settings.alpha_each());
    (1..commands.len()).map(found).collect()
}

/// Adds them to the result for other programs.
pub(crate) fn add_to(
    result: &mut Value,
    commands: &[Command],
    rounds: &[Round],
    settings: &Settings,
) {
    let each = each(commands, rounds, settings);
    if !each.is_empty() {
        result["builds"] = json!(each);
    }
}

/// What a person reads of them.
pub(crate) fn lines(commands: &[Command], rounds: &[Round], settings: &Settings) -> Vec<String> {
    let each = each(commands, rounds, settings);
    let percent = |shift: f64| 100.0 * shift.exp_m1();
    let count = commands[0].builds.len();
    let mut lines = Vec::new();
    for (command, found) in commands[1..].iter().zip(&each) {
        let (name, Some(found)) = (&command.name, found) else { continue };
        let (low, high) = ends(&found.means);
        lines.push(format!(
            "{name}: over these {count} builds; of {} drawn, means from {:+.2} to {:+.2} %; the \
             build carries {:.0} % of a pair's variance (SD between builds {:.2} %)",
            found.drawn,
            percent(low),
            percent(high),
            100.0 * found.share,
            100.0 * found.between_sd,
        ));
        if let Some(over) = &found.over_builds {
            let [low, high] = over.interval.map(percent);
            lines.push(format!(
                "{name}: over all builds: {:+.2} % ({low:+.2} … {high:+.2}), Student's t of {} \
                 builds",
                percent(over.mean),
                found.drawn
            ));
        }
    }
    lines
}

fn ends(values: &[f64]) -> (f64, f64) {
    let (all, none) = (values.iter().copied(), (f64::INFINITY, f64::NEG_INFINITY));
    all.fold(none, |(low, high), value| (low.min(value), high.max(value)))
}
