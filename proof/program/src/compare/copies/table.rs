//! What the tries of equal files show.

use std::collections::BTreeMap;

use lab_compare::{Ran, after_themselves};
use lab_stats::after_itself::AfterItself;

use super::{Class, Copied};
use crate::compare::tables::yes_or_no;

/// Tries that the proof asks for, and how many of them may be false: at a true 1 % more are with a
/// probability of 2 %.
const ASKED: (usize, usize) = (400, 8);
/// Per cent within which the mean of all estimates lies.
const MEAN_WITHIN: f64 = 0.1;
/// The row of all classes.
const ALL: &str = "judged";

const COLUMNS: [&str; 11] = [
    "programs",
    "tries",
    "rounds",
    "false",
    "mean_percent",
    "standard_error_percent",
    "pair_sd_percent",
    "after_itself_percent",
    "median_ms",
    "target",
    "met",
];

/// A try as its row needs it.
struct Shown {
    excluded: bool,
    shift: f64,
    pair_sd: f64,
    after_itself: Option<AfterItself>,
    median_ms: f64,
    rounds: usize,
}

impl Shown {
    fn of(made: &Copied) -> Self {
        let state = made.comparison().state();
        let estimate = state.candidates[0].metrics[0].estimate.as_ref();
        let differences: Vec<f64> =
            made.wall_ns.iter().map(|[a, b]| (*b as f64 / *a as f64).ln()).collect();
        let orders = [[0, 1], [1, 0]];
        let ran: Vec<Ran<'_>> = (made.first.iter().zip(&made.wall_ns))
            .map(|(first, wall)| {
                let order = &orders[usize::from(*first)];
                let times = order.iter().map(|command| wall[*command] as f64).collect();
                Ran { wash: &[], order, times }
            })
            .collect();
        let each: Vec<AfterItself> = after_themselves(&ran, 2).into_iter().flatten().collect();
        let times: Vec<f64> = made.wall_ns.iter().flatten().map(|ns| *ns as f64 / 1e6).collect();
        Self {
            excluded: ever_excluded(made),
            shift: estimate.map_or(f64::NAN, |estimate| estimate.shift),
            pair_sd: robust_sd(&differences),
            after_itself: AfterItself::pooled(&each),
            median_ms: lab_stats::describe::median(&times).unwrap_or(f64::NAN),
            rounds: made.wall_ns.len(),
        }
    }
}

/// Whether the comparison was ever told to stop by a direction: the command line ends there, so the
/// last look is the only one that can have.
fn ever_excluded(made: &Copied) -> bool {
    let state = made.comparison().state();
    let interval = state.candidates[0].metrics[0].estimate.as_ref().and_then(|it| it.interval);
    interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
}

fn robust_sd(values: &[f64]) -> f64 {
    1.4826 * lab_stats::describe::median_deviation(values).unwrap_or(f64::NAN)
}

/// Of sets that were compared twice, in both orders: the estimates of `b/` against `a/`, in per
/// cent. A difference that lies in the files has the same sign both times.
pub fn again(tries: &[Copied]) -> String {
    let mut lines = vec!["programs\tnumber\tfirst\tagain\tboth_exclude_0\tsame_sign".to_owned()];
    for second in tries.iter().filter(|made| made.again) {
        let is_first = |made: &&Copied| {
            !made.again && (made.class, made.number) == (second.class, second.number)
        };
        let Some(first) = tries.iter().find(is_first) else { continue };
        // The first time, an odd number had the sets in the other order.
        let sign = if first.number % 2 == 1 { -1.0 } else { 1.0 };
        let [a, b] = [(first, sign), (second, -sign)].map(|(made, sign)| {
            let state = made.comparison().state();
            let estimate = state.candidates[0].metrics[0].estimate.as_ref();
            (100.0 * sign * estimate.map_or(f64::NAN, |it| it.shift), ever_excluded(made))
        });
        lines.push(format!(
            "{}\t{}\t{:+.2}\t{:+.2}\t{}\t{}",
            name(first.class),
            first.number,
            a.0,
            b.0,
            yes_or_no(a.1 && b.1),
            yes_or_no(a.0 * b.0 > 0.0)
        ));
    }
    lines.join("\n") + "\n"
}

fn name(class: Class) -> String {
    let name = serde_json::to_value(class).expect("a class is a word");
    name.as_str().unwrap_or_default().to_owned()
}

/// A row for each class, listed and not judged, and one for all.
pub fn table(tries: &[Copied]) -> String {
    let mut classes: BTreeMap<Class, Vec<Shown>> = BTreeMap::new();
    for made in tries {
        classes.entry(made.class).or_default().push(Shown::of(made));
    }
    let mut lines = vec![COLUMNS.join("\t")];
    for (class, shown) in &classes {
        lines.push(row(&name(*class), &shown.iter().collect::<Vec<_>>(), "-", "-"));
    }
    let all: Vec<&Shown> = classes.values().flatten().collect();
    let wrong = all.iter().filter(|shown| shown.excluded).count();
    let mean = 100.0 * mean(&all);
    let (asked, most) = ASKED;
    let target = format!("at most {most} false of at least {asked}, mean within ±{MEAN_WITHIN} %");
    let met = match all.len() {
        few if few < asked => "too few tries",
        _ => yes_or_no(wrong * asked <= most * all.len() && mean.abs() <= MEAN_WITHIN),
    };
    lines.push(row(ALL, &all, &target, met));
    lines.join("\n") + "\n"
}

fn mean(shown: &[&Shown]) -> f64 {
    shown.iter().map(|one| one.shift).sum::<f64>() / shown.len() as f64
}

fn row(name: &str, shown: &[&Shown], target: &str, met: &str) -> String {
    let count = shown.len() as f64;
    let mean = mean(shown);
    let variance = shown.iter().map(|one| (one.shift - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let typical = |of: fn(&Shown) -> f64| {
        let values: Vec<f64> = shown.iter().map(|one| of(one)).collect();
        lab_stats::describe::median(&values).unwrap_or(f64::NAN)
    };
    let after: Vec<AfterItself> = shown.iter().filter_map(|one| one.after_itself).collect();
    let after = AfterItself::pooled(&after).map_or("-".to_owned(), |after| {
        let [low, high] = after.interval(0.95).unwrap_or([f64::NAN; 2]);
        let percent = |shift: f64| 100.0 * shift.exp_m1();
        format!("{:+.1} ({:+.1} … {:+.1})", percent(after.shift), percent(low), percent(high))
    });
    let wrong = shown.iter().filter(|one| one.excluded).count();
    let rounds: usize = shown.iter().map(|one| one.rounds).sum();
    format!(
        "{name}\t{}\t{rounds}\t{wrong}\t{:+.3}\t{:.3}\t{:.1}\t{after}\t{:.1}\t{target}\t{met}",
        shown.len(),
        100.0 * mean,
        100.0 * (variance / count).sqrt(),
        100.0 * typical(|one| one.pair_sd),
        typical(|one| one.median_ms),
    )
}
