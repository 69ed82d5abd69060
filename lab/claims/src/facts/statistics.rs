//! Statistics of one group of raw values, by name.

use lab_stats::describe::{quantile, summarize};

/// The statistic `name` of `values`; `None` for an unknown name or unusable values.
///
/// `median` is the mean of the two in the middle; `upper_median` and `lower_median` are these two.
/// `p5` interpolates linearly (definition 7 of Hyndman and Fan 1996), `p5_nearest` is the nearest
/// rank (definition 1). `cv` is in percent.
pub(super) fn statistic(name: &str, values: &[f64]) -> Option<f64> {
    let summary = summarize(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match name {
        "n" => Some(n as f64),
        "value" if n == 1 => Some(sorted[0]),
        "mean" => Some(summary.mean),
        "median" => Some(summary.median),
        "lower_median" => Some(sorted[(n - 1) / 2]),
        "upper_median" => Some(sorted[n / 2]),
        "sd" => summary.sd,
        "cv" => summary.cv.map(|cv| 100.0 * cv),
        "min" => Some(summary.min),
        "max" => Some(summary.max),
        "range" => Some(summary.max - summary.min),
        "sum" => Some(values.iter().sum()),
        _ => {
            let (digits, nearest) =
                name.strip_suffix("_nearest").map_or((name, false), |digits| (digits, true));
            let p = digits.strip_prefix('p')?.parse::<f64>().ok()? / 100.0;
            if !nearest {
                return quantile(&sorted, p);
            }
            let rank = (p * n as f64).ceil() as usize;
            sorted.get(rank.max(1) - 1).copied()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::statistic;

    #[test]
    fn known_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        let of = |name| statistic(name, &values).unwrap();
        assert_eq!((of("median"), of("lower_median"), of("upper_median")), (2.5, 2.0, 3.0));
        assert_eq!((of("p25_nearest"), of("p75_nearest"), of("p50")), (1.0, 3.0, 2.5));
        assert_eq!((of("n"), of("sum"), of("range")), (4.0, 10.0, 3.0));
        assert_eq!(statistic("value", &values), None);
        assert_eq!(statistic("p200", &values), None);
        assert_eq!(statistic("mode", &values), None);
    }
}
