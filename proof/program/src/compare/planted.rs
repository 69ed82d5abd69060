//! How often, and how soon, planted work is found, and how noisy the machine was meanwhile.

use lab_stats::{
    describe::{median, median_deviation},
    outcome::Outcome,
};

use super::{
    plan::{self, Kind, Planned},
    tables::yes_or_no,
    trial::{self, Try},
};

/// The share of tries that have to find what was planted, and the differences it is asked of, in
/// thousandths.
const FOUND_SHARE: f64 = 0.8;
const ASKED: [u32; 2] = [3, 10];
/// The standard deviation of a normal sample over its median absolute deviation.
const NORMAL_SD_PER_MAD: f64 = 1.4826;

const COLUMNS: [&str; 17] = [
    "neighbour",
    "more",
    "asked",
    "tries",
    "right",
    "wrong",
    "right_share",
    "budget_s",
    "half_by_s",
    "80_percent_by_s",
    "80_percent_need_s",
    "half_by_runs",
    "80_percent_by_runs",
    "noise_percent",
    "calls_percent",
    "target",
    "met",
];

/// A row for everything that the proof plants, also where no try was made yet.
pub fn table(tries: &[Try]) -> String {
    let mut lines = vec![COLUMNS.join("\t")];
    for neighbour in [false, true] {
        for (more_permille, asked) in plan::planted() {
            let row =
                Planned { kind: Kind::Planted, more_permille, neighbour, number: 0, pairs: 0 };
            let is_of_row = |made: &&Try| {
                let Planned { kind, more_permille, neighbour, .. } = made.planned;
                (kind, more_permille, neighbour) == (row.kind, row.more_permille, row.neighbour)
            };
            let all: Vec<&Try> = tries.iter().filter(is_of_row).collect();
            lines.push(cells(&row, asked, &all).join("\t"));
        }
    }
    lines.join("\n") + "\n"
}

/// The cells of a row, in the order of [`COLUMNS`].
fn cells(row: &Planned, asked: usize, all: &[&Try]) -> [String; COLUMNS.len()] {
    let budget = all.first().map_or(trial::settings(row).budget_s, |made| made.settings.budget_s);
    let ends: Vec<End> = all.iter().map(|made| End::of(made)).collect();
    let count = |is: fn(&End) -> bool| ends.iter().filter(|end| is(end)).count();
    let (right, wrong) = (count(End::is_right), count(End::is_wrong));
    let share = right as f64 / all.len() as f64;
    let found: Vec<f64> =
        ends.iter().map(|end| if end.is_right() { end.seconds } else { f64::INFINITY }).collect();
    let needed: Vec<f64> = ends.iter().map(|end| end.needed_s).collect();
    let runs: Vec<f64> =
        ends.iter().map(|end| if end.is_right() { end.runs } else { f64::INFINITY }).collect();
    let is_asked = ASKED.contains(&row.more_permille);
    let met = match all.len() {
        _ if !is_asked => "-",
        0 => "not tried",
        // A few tries neither meet a target nor miss it.
        few if few < asked => "too few tries",
        _ => yes_or_no(share >= FOUND_SHARE),
    };
    [
        yes_or_no(row.neighbour).to_owned(),
        format!("{:.1} %", f64::from(row.more_permille) / 10.0),
        asked.to_string(),
        all.len().to_string(),
        right.to_string(),
        wrong.to_string(),
        if all.is_empty() { "-".to_owned() } else { format!("{share:.3}") },
        budget.to_string(),
        by(0.5, &found),
        by(FOUND_SHARE, &found),
        by(FOUND_SHARE, &needed),
        by(0.5, &runs),
        by(FOUND_SHARE, &runs),
        noise(all).map_or("-".to_owned(), |noise| format!("{:.1}", 100.0 * noise)),
        if all.is_empty() { "-".to_owned() } else { calls(all) },
        if is_asked { format!("at least {FOUND_SHARE} within {budget} s") } else { "-".to_owned() },
        met.to_owned(),
    ]
}

/// How a try ended.
struct End {
    outcome: Outcome,
    seconds: f64,
    /// Of all programs.
    runs: f64,
    /// Until the answer: as it was, or as it was to be expected at the end of a try without one.
    needed_s: f64,
}

impl End {
    fn of(made: &Try) -> Self {
        let state = made.comparison().state();
        let candidate = &state.candidates[0];
        let (outcome, seconds) = (candidate.verdict.outcome, made.elapsed_s);
        let more = match outcome {
            Outcome::Slower => 0.0,
            _ => candidate.seconds_to_go.unwrap_or(f64::INFINITY),
        };
        let runs = made.wall_ns.iter().map(Vec::len).sum::<usize>() as f64;
        Self { outcome, seconds, runs, needed_s: seconds + more }
    }

    fn is_right(&self) -> bool {
        self.outcome == Outcome::Slower
    }

    fn is_wrong(&self) -> bool {
        matches!(self.outcome, Outcome::Faster | Outcome::Equivalent)
    }
}

/// By how much more time the copy with more work took, by call of the command that made the tries:
/// each copies the program once, and no try of it can tell where that copy lies from its work.
fn calls(tries: &[&Try]) -> String {
    let mut calls: Vec<(u64, Vec<f64>)> = Vec::new();
    for made in tries {
        // Each call calibrates its work.
        let own = differences(made);
        match calls.iter_mut().find(|(loops, _)| *loops == made.loops[0]) {
            Some((_, all)) => all.extend(own),
            None => calls.push((made.loops[0], own)),
        }
    }
    let shown = |(_, all): &(u64, Vec<f64>)| {
        let typical = median(all).unwrap_or_default();
        format!("{:+.2}", 100.0 * typical.exp_m1())
    };
    calls.iter().map(shown).collect::<Vec<String>>().join(" and ")
}

/// ln(last / first) of each round's runs.
fn differences(made: &Try) -> Vec<f64> {
    let difference = |round: &Vec<u64>| Some((*round.last()? as f64 / *round.first()? as f64).ln());
    made.wall_ns.iter().filter_map(difference).collect()
}

/// The seconds within which this part of all tries ended, where so many did.
fn by(part: f64, seconds: &[f64]) -> String {
    let mut sorted = seconds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = ((part * sorted.len() as f64).ceil() as usize).saturating_sub(1);
    let found = sorted.get(place).filter(|seconds| seconds.is_finite());
    found.map_or("-".to_owned(), |seconds| format!("{seconds:.1}"))
}

/// The robust SD of ln(last / first) of a round's runs: by how much two runs differ beside what was
/// planted.
fn noise(tries: &[&Try]) -> Option<f64> {
    let differences: Vec<f64> = tries.iter().flat_map(|made| differences(made)).collect();
    Some(NORMAL_SD_PER_MAD * median_deviation(&differences)?)
}
