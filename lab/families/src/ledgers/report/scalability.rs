//! The universal scalability law, where there are counts enough to fit it.

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table, study::with};
use lab_stats::usl::{PARAMETERS, fit};

use super::workers::{counts, curves, ledgers};

pub(crate) fn write(study: &Study, page: &mut Page) {
    let (fits, residuals, most) = fitted(study);
    if fits.is_empty() {
        page.paragraph(&format!(
            "The universal scalability law: Not fitted. It has {PARAMETERS} parameters; at most \
             {most} numbers of workers up to the {} CPUs were run.",
            study.cpus()
        ));
        return;
    }
    page.paragraph(&format!(
        "The universal scalability law, X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), by least squares \
         on the medians over blocks up to the {} CPUs; σ is contention, κ coherency.",
        study.cpus()
    ));
    page.table("usl", &fits);
    page.beside("usl-residuals", "Residuals, measured minus fitted", &residuals);
}

/// Fits, residuals, and the largest number of counts within the CPUs.
fn fitted(study: &Study) -> (Table, Table, usize) {
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
    for variant in ledgers(study) {
        for (rest, levels) in curves(study, variant) {
            let within: Vec<u32> =
                counts(&levels).into_iter().filter(|n| *n <= study.cpus()).collect();
            most = most.max(within.len());
            let rate = |count: &u32| {
                let cell = with(&rest, "workers", &count.to_string());
                study.median(variant, &cell, "transactions_per_s")
            };
            let points: Vec<(f64, f64)> =
                within.iter().filter_map(|n| Some((f64::from(*n), rate(n)?))).collect();
            let (workers, rates): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
            let Some(fit) = fit(&workers, &rates) else { continue };
            let number = |value: f64| Entry::Value(value, Unit::Count);
            let (code, cell) = (Entry::code(variant), Entry::text(study.label(&rest)));
            let shares = fit.residuals.iter().zip(&rates).map(|(r, rate)| (r / rate).abs());
            fits.row(vec![
                code.clone(),
                cell.clone(),
                Entry::count(points.len()),
                Entry::Value(fit.lambda, Unit::PerSecond),
                number(fit.sigma),
                number(fit.kappa),
                Entry::value(fit.peak(), Unit::Count),
                Entry::Value(shares.fold(0.0, f64::max), Unit::Share),
            ]);
            for ((count, rate), residual) in points.iter().zip(&fit.residuals) {
                residuals.row(vec![
                    code.clone(),
                    cell.clone(),
                    number(*count),
                    Entry::Value(*rate, Unit::PerSecond),
                    Entry::Value(rate - residual, Unit::PerSecond),
                    Entry::Value(*residual, Unit::PerSecond),
                ]);
            }
        }
    }
    (fits, residuals, most)
}
