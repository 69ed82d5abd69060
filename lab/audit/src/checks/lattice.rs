//! Outcomes on a lattice: a poll, a timer tick or a scheduler quantum decided them.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use serde::Serialize;

/// A lattice `offset + k · step` that values lie on more closely than smooth ones would.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lattice {
    /// Distance of its points, in the unit of the values.
    pub step: f64,
    /// The point nearest to zero from above, in [0, step).
    pub offset: f64,
    /// How closely: the mean resultant length of the phases, 1 where all lie on it exactly.
    pub resultant: f64,
    /// How many of its points are occupied. With two, two unlike groups explain it as well.
    pub levels: usize,
    /// The chance of so close a fit by smooth values, with the search over steps allowed for.
    pub p: f64,
}

/// Fewest values that are tested.
const FEWEST: usize = 10;

/// More are thinned evenly: enough for any lattice that matters.
const MOST: usize = 150;

/// A statistic below this is not worth a simulation.
const MOST_BY_CHANCE: f64 = 5.5;

/// Simulations at most, and exceedances after which they stop (Besag and Clifford 1991,
/// Biometrika 78(2), pp. 301-304).
const SIMULATIONS: usize = 1_999;
const EXCEEDANCES: usize = 12;

/// Looks for a lattice among values of one kind, one per independent subject or run; `None` for
/// fewer than ten, without spread, or where no step fits better than chance at `alpha`.
/// `half_step` is what the values' printing hides: finer lattices are those of the printing.
///
/// The statistic is the largest, over steps, of n R² (Rayleigh's; Mardia and Jupp 2000,
/// Directional Statistics, section 6.3.1) times the share 1 - exp(-4π² h²/step²) that smoothing
/// takes out. Its distribution is simulated from the values smoothed by a normal kernel with
/// Silverman's bandwidth h (1986, Density Estimation, equation 3.31): the same shape, without
/// a comb.
pub fn find(values: &[f64], half_step: f64, alpha: f64, seed: u64) -> Option<Lattice> {
    let values = thinned(values)?;
    let search = search(&values, half_step)?;
    let (observed, frequency) = strongest(&values, search, silverman(&values)?);
    // n R² of smooth values is exponential with mean 1, so this is what chance does all the time.
    if observed < MOST_BY_CHANCE {
        return None;
    }
    let shape = Shape::of(&values)?;
    let mut random = Pcg64::new(u128::from(seed), 0xa02b_dbf7_bb3c_0a7a);
    let (mut exceeding, mut done) = (0, 0);
    while done < SIMULATIONS && exceeding < EXCEEDANCES {
        done += 1;
        let smooth = shape.draw(half_step, &mut random);
        let width = silverman(&smooth).unwrap_or(0.0);
        exceeding += usize::from(strongest(&smooth, search, width).0 >= observed);
    }
    let p = (exceeding as f64 + 1.0) / (done as f64 + 1.0);
    (p <= alpha).then(|| describe(&values, frequency, p))
}

fn thinned(values: &[f64]) -> Option<Vec<f64>> {
    let usable = values.len() >= FEWEST && values.iter().all(|value| value.abs() < 1e100);
    usable.then(|| values.iter().copied().step_by(values.len().div_ceil(MOST)).collect())
}

/// Evenly spaced frequencies that are searched.
#[derive(Clone, Copy)]
struct Search {
    first: f64,
    between: f64,
    count: usize,
}

/// From one step over the range to forty, or one per value, in quarters of what the range can
/// resolve.
fn search(values: &[f64], half_step: f64) -> Option<Search> {
    let (low, high) = extent(values);
    let range = high - low;
    // A lattice needs to be coarser than printing by far, and its points to be resolved.
    let finest = (20.0 * half_step).max(range / (values.len() as f64).clamp(10.0, 40.0));
    if range <= 0.0 || finest >= range {
        return None;
    }
    let (first, between) = (1.0 / range, 0.25 / range);
    Some(Search { first, between, count: ((1.0 / finest - first) / between) as usize + 1 })
}

fn silverman(values: &[f64]) -> Option<f64> {
    let summary = lab_stats::describe::summarize(values)?;
    let robust = (summary.p75 - summary.p25) / 1.349;
    let sd = summary.sd?;
    let spread = if robust > 0.0 { sd.min(robust) } else { sd };
    (spread > 0.0).then(|| 0.9 * spread * (values.len() as f64).powf(-0.2))
}

/// The largest statistic and its frequency.
fn strongest(values: &[f64], search: Search, bandwidth: f64) -> (f64, f64) {
    let mut sums = vec![(0.0, 0.0); search.count];
    for value in values {
        // Turning by the same angle from frequency to frequency costs no sine.
        let (mut y, mut x) = (std::f64::consts::TAU * search.first * value).sin_cos();
        let (sine, cosine) = (std::f64::consts::TAU * search.between * value).sin_cos();
        for sum in &mut sums {
            *sum = (sum.0 + x, sum.1 + y);
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine);
        }
    }
    let n = values.len() as f64;
    let statistics = sums.into_iter().enumerate().map(|(index, (x, y))| {
        let frequency = search.first + index as f64 * search.between;
        let erased = std::f64::consts::TAU * frequency * bandwidth;
        ((x * x + y * y) / n * (1.0 - (-erased * erased).exp()), frequency)
    });
    statistics.fold(
        (f64::NEG_INFINITY, search.first),
        |best, next| {
            if next.0 > best.0 { next } else { best }
        },
    )
}

/// Length and angle of the mean of the phases.
fn phases(values: &[f64], frequency: f64) -> (f64, f64) {
    let (mut x, mut y) = (0.0, 0.0);
    for value in values {
        let (sine, cosine) = (std::f64::consts::TAU * frequency * value).sin_cos();
        x += cosine;
        y += sine;
    }
    let n = values.len() as f64;
    (x.hypot(y) / n, y.atan2(x))
}

/// Values smoothed by a normal kernel; their logarithms, where those are the less skewed: a
/// kernel that is right for a long tail would blur the steep side.
struct Shape {
    centres: Vec<f64>,
    bandwidth: f64,
    logarithms: bool,
}

impl Shape {
    fn of(values: &[f64]) -> Option<Self> {
        if values.iter().all(|value| *value > 0.0) {
            let centres: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            if skewness(&centres).abs() < skewness(values).abs() {
                let bandwidth = silverman(&centres)?;
                return Some(Self { centres, bandwidth, logarithms: true });
            }
        }
        let bandwidth = silverman(values)?;
        Some(Self { centres: values.to_vec(), bandwidth, logarithms: false })
    }

    /// One sample of the same size, printed as coarsely.
    fn draw(&self, half_step: f64, random: &mut Pcg64) -> Vec<f64> {
        let one = |_| {
            let centre = self.centres[random.random_range(0..self.centres.len())];
            let noise: f64 = StandardNormal.sample(random);
            let value = centre + self.bandwidth * noise;
            let value = if self.logarithms { value.exp() } else { value };
            let step = 2.0 * half_step;
            if step > 0.0 { (value / step).round() * step } else { value }
        };
        (0..self.centres.len()).map(one).collect()
    }
}

fn skewness(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let centre = values.iter().sum::<f64>() / n;
    let moment = |power: i32| values.iter().map(|v| (v - centre).powi(power)).sum::<f64>() / n;
    moment(3) / moment(2).powf(1.5)
}

fn describe(values: &[f64], frequency: f64, p: f64) -> Lattice {
    let (resultant, angle) = phases(values, frequency);
    let step = 1.0 / frequency;
    let offset = (angle / std::f64::consts::TAU).rem_euclid(1.0) * step;
    let mut levels: Vec<i64> =
        values.iter().map(|value| ((value - offset) / step).round() as i64).collect();
    levels.sort_unstable();
    levels.dedup();
    Lattice { step, offset, resultant, levels: levels.len(), p }
}

fn extent(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use rand_distr::LogNormal;

    use super::*;

    /// Medians in milliseconds of fourteen scenarios that a client polled every 50 ms and some.
    const POLLED: [f64; 14] = [
        127.263, 126.659, 187.581, 122.073, 190.266, 185.431, 126.819, 185.847, 183.871, 144.43,
        185.181, 186.525, 183.312, 173.409,
    ];

    /// The same with another build, two runs of thirteen scenarios.
    const POLLED_TWICE: [f64; 26] = [
        258.17, 255.26, 199.60, 259.26, 250.90, 262.13, 382.30, 381.69, 388.88, 425.65, 261.34,
        261.16, 331.91, 383.64, 312.40, 315.27, 260.97, 259.92, 314.72, 315.17, 260.38, 275.16,
        315.08, 315.95, 357.76, 367.86,
    ];

    #[test]
    fn a_poll_of_fifty_milliseconds_is_found() {
        for (values, half_step) in [(&POLLED[..], 0.0005), (&POLLED_TWICE[..], 0.005)] {
            let found = find(values, half_step, 0.005, 1);
            let found = found.expect("a lattice");
            assert!((50.0..=65.0).contains(&found.step), "{found:?}");
        }
    }

    #[test]
    fn smooth_values_are_on_no_lattice() {
        let mut random = Pcg64::new(5, 1);
        let mut hits = 0;
        for trial in 0..200 {
            let n = 10 + trial % 50;
            let spread = [0.02, 0.1, 0.3, 0.8][trial % 4];
            let law = LogNormal::new(4.0, spread).unwrap();
            let values: Vec<f64> =
                (0..n).map(|_| (law.sample(&mut random) * 100.0f64).round() / 100.0).collect();
            hits += usize::from(find(&values, 0.005, 0.005, trial as u64).is_some());
        }
        assert!(hits <= 5, "{hits} of 200 at 0.5 %");
    }

    #[test]
    fn polled_log_normal_values_are_found() {
        let mut random = Pcg64::new(6, 1);
        let law = LogNormal::new(5.0, 0.4).unwrap();
        let mut hits = 0;
        for trial in 0..40 {
            let poll = |_| {
                let value: f64 = law.sample(&mut random);
                let noise: f64 = StandardNormal.sample(&mut random);
                (value / 50.0).ceil() * 50.0 + 8.0 + 1.5 * noise
            };
            let values: Vec<f64> = (0..30).map(poll).collect();
            let found = find(&values, 0.005, 0.001, trial);
            hits += usize::from(found.is_some_and(|found| (found.step - 50.0).abs() < 2.0));
        }
        assert!(hits >= 34, "{hits} of 40");
    }

    #[test]
    fn what_cannot_be_tested_is_not() {
        assert_eq!(find(&[1.0; 50], 0.0, 0.01, 1), None);
        assert_eq!(find(&[f64::NAN; 50], 0.0, 0.01, 1), None);
        assert_eq!(find(&POLLED[..9], 0.0, 0.01, 1), None);
    }
}
