//! What fair coins would have to be lucky for: the bets on one shift, and what they have become.

/// The clip in standard deviations: noise is left alone, a hiccup has bounded influence.
pub(super) const CLIP: f64 = 3.0;
/// The increment of a pair without a scale: half of the increments of normal noise are larger.
const TYPICAL: f64 = 0.674_489_750_196_081_7;
/// The least bet; each of the others is twice the one before, up to 4. A bet λ is the best one on
/// a shift of about λ standard deviations: the least ones for hundreds of pairs, the largest for
/// ten.
const LEAST_BET: f64 = 1.0 / 64.0;
/// The weight of each bet, in hundredths.
const WEIGHTS: [f64; 9] = [3.0, 5.0, 9.0, 16.0, 21.0, 18.0, 12.0, 8.0, 8.0];
/// Factors that are multiplied before their logarithm is taken: none is above cosh(12).
const AT_ONCE: u32 = 32;

/// The clipped residual in standard deviations; its sign alone where there is no scale.
pub(super) fn increment(residual: f64, scale: f64) -> f64 {
    match residual {
        0.0 => 0.0,
        _ if scale == 0.0 => TYPICAL.copysign(residual),
        _ => (residual / scale).clamp(-CLIP, CLIP),
    }
}

/// Σx, and for each bet λ the factors of Π cosh(λx): logarithms of most and the product of the
/// last ones.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    sum: f64,
    logs: [f64; WEIGHTS.len()],
    products: [f64; WEIGHTS.len()],
    multiplied: u32,
}

impl Default for Evidence {
    fn default() -> Self {
        let (logs, products) = ([0.0; WEIGHTS.len()], [1.0; WEIGHTS.len()]);
        Self { sum: 0.0, logs, products, multiplied: 0 }
    }
}

impl Evidence {
    pub(super) fn add(&mut self, increment: f64) {
        self.sum += increment;
        let power = (LEAST_BET * increment).exp();
        let mut factor = f64::midpoint(power, power.recip());
        for product in &mut self.products {
            *product *= factor;
            // cosh 2y = 2 cosh² y − 1.
            factor = 2.0 * factor * factor - 1.0;
        }
        self.multiplied += 1;
        if self.multiplied == AT_ONCE {
            let logs = self.logs.iter_mut().zip(&mut self.products);
            logs.for_each(|(log, product)| *log += std::mem::replace(product, 1.0).ln());
            self.multiplied = 0;
        }
    }

    /// ln of ½ Σ w E(`sign`·λ): that increments are as large as these on the side of the sign. With
    /// so many `times` these increments.
    pub(super) fn log_against(&self, sign: f64, times: f64) -> f64 {
        let mut logs = [0.0; WEIGHTS.len()];
        let mut bet = LEAST_BET;
        for (at, log) in logs.iter_mut().enumerate() {
            let cost = self.logs[at] + self.products[at].ln();
            *log = times * (sign * bet * self.sum - cost);
            bet *= 2.0;
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let parts = logs.iter().zip(WEIGHTS).map(|(log, weight)| weight * (log - most).exp());
        let weights: f64 = WEIGHTS.iter().sum();
        most + (parts.sum::<f64>() / (2.0 * weights)).ln()
    }
}

impl FromIterator<f64> for Evidence {
    fn from_iter<I: IntoIterator<Item = f64>>(increments: I) -> Self {
        let mut evidence = Self::default();
        increments.into_iter().for_each(|increment| evidence.add(increment));
        evidence
    }
}
