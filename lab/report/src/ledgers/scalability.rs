//! The universal scalability law, where there are counts enough to fit it.

use lab_stats::usl::{PARAMETERS, fit};

use super::sweep::{Sweep, counts, with};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("The universal scalability law");
    let (fits, residuals, most) = fitted(sweep);
    if fits.is_empty() {
        page.paragraph(&format!(
            "Not fitted. X(N) = λN / (1 + σ(N − 1) + κN(N − 1)) has {PARAMETERS} parameters and \
             describes workers that each have a CPU; this machine has {} CPUs, and no variant ran \
             with more than {most} numbers of workers up to that. A curve through as many points \
             as parameters fits anything.",
            sweep.cpus()
        ));
        return;
    }
    page.paragraph(&format!(
        "X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), least squares on the medians over blocks, counts \
         up to the {} CPUs alone. σ is contention, κ coherency; residuals are measured minus \
         fitted.",
        sweep.cpus()
    ));
    page.table("usl", &fits);
    page.folded("usl-residuals", "Residuals", &residuals);
}

/// Fits, residuals, and the largest number of counts within the CPUs.
fn fitted(sweep: &Sweep) -> (Table, Table, usize) {
    let mut fits = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("counts", "counts"),
        ("λ", "lambda_per_s"),
        ("σ", "sigma"),
        ("κ", "kappa"),
        ("peak at", "peak"),
        ("largest residual", "largest_residual_share"),
    ]);
    let mut residuals = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("workers", "workers"),
        ("measured", "measured_per_s"),
        ("fitted", "fitted_per_s"),
        ("residual", "residual_per_s"),
    ]);
    let mut most = 0;
    for variant in sweep.ledgers() {
        for (rest, levels) in sweep.curves(variant) {
            let within: Vec<u32> =
                counts(&levels).into_iter().filter(|n| *n <= sweep.cpus()).collect();
            most = most.max(within.len());
            let rate = |count: &u32| {
                let cell = with(&rest, "workers", &count.to_string());
                sweep.median(variant, &cell, "transactions_per_s")
            };
            let points: Vec<(f64, f64)> =
                within.iter().filter_map(|n| Some((f64::from(*n), rate(n)?))).collect();
            let (workers, rates): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
            let Some(fit) = fit(&workers, &rates) else { continue };
            let number = |value: f64| Cell::Value(value, Unit::Count);
            let (code, cell) = (Cell::code(variant), Cell::text(sweep.label(&rest)));
            let shares = fit.residuals.iter().zip(&rates).map(|(r, rate)| (r / rate).abs());
            fits.row(vec![
                code.clone(),
                cell.clone(),
                Cell::count(points.len()),
                Cell::Value(fit.lambda, Unit::PerSecond),
                number(fit.sigma),
                number(fit.kappa),
                Cell::value(fit.peak(), Unit::Count),
                Cell::Value(shares.fold(0.0, f64::max), Unit::Share),
            ]);
            for ((count, rate), residual) in points.iter().zip(&fit.residuals) {
                residuals.row(vec![
                    code.clone(),
                    cell.clone(),
                    number(*count),
                    Cell::Value(*rate, Unit::PerSecond),
                    Cell::Value(rate - residual, Unit::PerSecond),
                    Cell::Value(*residual, Unit::PerSecond),
                ]);
            }
        }
    }
    (fits, residuals, most)
}
