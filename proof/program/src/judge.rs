//! How often the judge is right, on experiments with a known answer that are drawn from the noise
//! of recorded runs: pairs are drawn with replacement, and the candidate is moved by a known shift.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use clap::{Args, value_parser};
use lab_record::{Comparison, Scale};
use lab_report::{Data, Study, scaled_margin};
use lab_site::records::load;
use lab_stats::outcome::{Direction, Evidence, Outcome, of_difference};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

#[derive(Args)]
pub(crate) struct JudgeArgs {
    /// Results folders, or folders of reports/, whose noise is drawn from
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Experiments of each kind
    #[arg(long, default_value_t = 2_000, value_parser = value_parser!(u32).range(1..=100_000))]
    experiments: u32,
    /// The seed of what is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const HEADER: &str = "record\tmetric\tcandidate\ttruth\tpairs\texperiments\tfaster\tslower\t\
                      equivalent\tcovered";

pub(crate) fn run(args: &JudgeArgs) -> Result<()> {
    println!("{HEADER}");
    let mut any = false;
    for dir in &args.dirs {
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        for tried in of_record(dir, args)? {
            any = true;
            println!("{name}\t{}", row(&tried));
        }
    }
    ensure!(
        any,
        "no record has a primary comparison of ratios with six pairs or more; name others"
    );
    Ok(())
}

fn of_record(folder: &Path, args: &JudgeArgs) -> Result<Vec<Tried>> {
    let frame = load::frame(folder).map_err(|failure| anyhow!(failure.sentence))?;
    let family = lab_report::family_of(&frame, lab_families::ALL)?;
    Ok(tries(&Study::of(&frame, family), args.experiments, args.seed))
}

/// Counts are shown as shares of the experiments.
fn row(tried: &Tried) -> String {
    let share = |count: u32| format!("{:.4}", f64::from(count) / f64::from(tried.experiments));
    let Tried { metric, candidate, truth, pairs, experiments, .. } = tried;
    let shares = [tried.faster, tried.slower, tried.equivalent, tried.covered].map(share);
    format!("{metric}\t{candidate}\t{truth}\t{pairs}\t{experiments}\t{}", shares.join("\t"))
}

/// True differences, as ratios.
const SHIFTS: [f64; 4] = [0.0, 0.02, 0.05, 0.10];
/// The share of the candidate's runs that are slow where the tail is asked about, and by how much:
/// the mean moves by 5 %, the median by nothing.
const SLOW_SHARE: f64 = 0.1;
const SLOW_BY: f64 = 1.5;

/// What was found in experiments of one kind.
struct Tried {
    /// The metric of the comparison.
    metric: String,
    /// The candidate whose noise was drawn from.
    candidate: String,
    /// "shift 0.02", "margin", or "one run in ten slow".
    truth: String,
    /// Pairs of an experiment.
    pairs: usize,
    /// Experiments.
    experiments: u32,
    /// Outcomes that were *faster*.
    faster: u32,
    /// Outcomes that were *slower*.
    slower: u32,
    /// Outcomes that were *equivalent*.
    equivalent: u32,
    /// Intervals that held the true shift.
    covered: u32,
}

/// Experiments on the noise of every candidate of the primary comparison, where that is on the
/// scale of ratios and has enough pairs. A smaller value counts as better.
fn tries(study: &Study, experiments: u32, seed: u64) -> Vec<Tried> {
    let Some(compared) = study.compared.first() else { return Vec::new() };
    let comparison = compared.comparison;
    let analysis = &study.frame.run_file.analysis;
    if comparison.scale != Scale::Ratio {
        return Vec::new();
    }
    let of = |candidate: &str| {
        let names = (candidate, analysis.reference.as_str());
        Data::of(&study.all, comparison, analysis.pairing, names)
    };
    let mut tried = Vec::new();
    for line in &compared.lines {
        let Some(pairs) = of(&line.variant).centred_pairs() else { continue };
        let margin = ("margin".to_owned(), Truth::Shift(scaled_margin(comparison)));
        let shifts = SHIFTS.map(|shift| (format!("shift {shift}"), Truth::Shift(shift.ln_1p())));
        let tail = ("one run in ten slow".to_owned(), Truth::SlowRuns);
        for (name, truth) in shifts.into_iter().chain([margin, tail]) {
            let mut one = Tried {
                metric: comparison.metric.clone(),
                candidate: line.variant.clone(),
                truth: name,
                pairs: pairs.len(),
                experiments,
                faster: 0,
                slower: 0,
                equivalent: 0,
                covered: 0,
            };
            one.make(&pairs, truth, comparison, analysis.alpha, seed);
            tried.push(one);
        }
    }
    tried
}

#[derive(Debug, Clone, Copy)]
enum Truth {
    /// Every run takes longer, by a logarithm.
    Shift(f64),
    /// Some runs do.
    SlowRuns,
}

impl Tried {
    fn make(
        &mut self,
        pairs: &[(f64, f64)],
        truth: Truth,
        comparison: &Comparison,
        alpha: f64,
        seed: u64,
    ) {
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..self.experiments {
            let drawn: Vec<(f64, f64)> = (0..pairs.len())
                .map(|_| {
                    let (a, b) = pairs[rng.random_range(0..pairs.len())];
                    // By a coin: without a shift neither side is the slower one.
                    let (a, b) = if rng.random() { (a, b) } else { (b, a) };
                    let more = match truth {
                        Truth::Shift(shift) => shift,
                        Truth::SlowRuns if rng.random_bool(SLOW_SHARE) => SLOW_BY.ln(),
                        Truth::SlowRuns => 0.0,
                    };
                    (a + more, b)
                })
                .collect();
            self.judge(&Data::of_logarithms(drawn), truth, comparison, alpha, rng.random());
        }
    }

    fn judge(&mut self, data: &Data, truth: Truth, comparison: &Comparison, alpha: f64, seed: u64) {
        let (Some(p), Some(shift)) = (data.p(seed), data.shift(1.0 - alpha, seed)) else { return };
        let evidence = Evidence {
            adjusted_p: p,
            estimate: shift.estimate,
            mean: data.mean(),
            equivalence: data.equivalence(scaled_margin(comparison), alpha, seed),
            tail: data.tail(comparison.margin, alpha),
        };
        match of_difference(&evidence, alpha, Direction::LowerIsBetter) {
            Outcome::Faster => self.faster += 1,
            Outcome::Slower => self.slower += 1,
            Outcome::Equivalent => self.equivalent += 1,
            _ => {}
        }
        let true_shift = match truth {
            Truth::Shift(shift) => shift,
            Truth::SlowRuns => 0.0,
        };
        let holds = |interval: lab_stats::interval::Interval| {
            interval.low <= true_shift && true_shift <= interval.high
        };
        self.covered += u32::from(shift.interval.is_some_and(holds));
    }
}
