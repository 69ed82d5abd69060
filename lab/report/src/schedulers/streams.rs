//! Sections 3 and 5: items of real work through a stream, by class, policy and ratio of threads.

use lab_stats::describe::median;

use super::bars::ratio;
use super::grid::{self, Line, Row};
use super::slim::classes;
use super::trials::{Asked, INLINE, OFFLOAD, ORACLE, OURS, PUBLISHED, Trials};
use super::wakes::LOAD;
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series, or_not_measured};
use crate::tables::show;

/// Of `work`: compute_map and adaptive_map, and the gain that was concluded.
const SAID: [(&str, &str); 4] = [
    ("fast", "compute_map 85,761/s, adaptive_map 1,392,286/s (+1,523 %)"),
    ("medium", "compute_map 55,222/s, adaptive_map 209,818/s (+280 %)"),
    ("slow", "compute_map 27,802/s, adaptive_map 44,509/s (+60 %)"),
    ("mixed", "compute_map 58,673/s, adaptive_map 249,178/s (+325 %)"),
];
/// Tokio and Rayon threads: mixed compute_map and adaptive_map, and the published latency.
const RATIOS: [(&str, &str, &str); 3] = [
    ("1:15", "59,333/s and 242,489/s", "P95 1,962 idle, 1,860 µs loaded"),
    ("2:14", "54,140/s and 241,836/s", "P95 1,996 idle, 1,678 µs loaded"),
    ("8:8", "63,619/s and 242,915/s", "P95 1,962 idle, 1,673 µs loaded"),
];

pub(super) fn throughput(trials: &Trials, page: &mut Page) {
    page.heading("3. Throughput by class of work");
    page.paragraph(
        "Published: 500 items one after the other, mean of 3, work of so many loop iterations; by \
         its own rates items labelled 10, 100 and 500 µs took 0.72, 4.77 and 22.5 µs, so that \
         inline was always right, and no arm ran everything inline. Here work is calibrated by the \
         clock, and what it really took stands below.",
    );
    let mut lines = Vec::new();
    let factors = ["work", "concurrency", "order", "tokio_workers", "rayon_threads"];
    for place in trials.combinations("stream", &[], &factors) {
        let levels: Vec<(&'static str, &str)> =
            factors.into_iter().zip(place.iter().map(String::as_str)).collect();
        let [work, concurrency, order, tokio, rayon] = place.as_slice() else { continue };
        let class = work.strip_prefix("published_").unwrap_or(work);
        let said = SAID
            .iter()
            .find(|(name, _)| *name == class && concurrency == "1" && order == "ordered");
        let line = Line::of("stream", &levels, "items_per_s");
        let line = line.labelled(&[work, concurrency, order, &format!("{tokio}:{rayon}")]);
        lines.push(line.published(said.map_or("", |(_, said)| said)));
    }
    grid::write(
        trials,
        page,
        "throughput",
        &["work", "concurrency", "order", "tokio:rayon"],
        &lines,
    );
    if lines.is_empty() {
        return;
    }
    durations(trials, page);
    page.paragraph(&reading(trials));
}

/// What each class really took, and which share of it each policy offloaded, in every cell in the
/// TSV and one item at a time in the text.
fn durations(trials: &Trials, page: &mut Page) {
    let mut rows = Vec::new();
    let mut text = Vec::new();
    for place in trials.combinations("stream", &[], &["work", "concurrency", "order"]) {
        let [work, concurrency, order] = place.as_slice() else { continue };
        let alone = concurrency == "1" && order == "ordered";
        let levels = [("work", work.as_str()), ("concurrency", concurrency), ("order", order)];
        let runs: Vec<Vec<Classes>> =
            trials.policies().iter().map(|policy| by_block(trials, policy, &levels)).collect();
        let most = runs.iter().flatten().map(|(_, rows)| rows.len()).max().unwrap_or(0);
        for class in 0..most {
            let of_class = |runs: &Vec<Classes>| -> Vec<(u32, [i64; 3])> {
                let row = |(block, rows): &Classes| Some((*block, *rows.get(class)?));
                runs.iter().filter_map(row).filter(|(_, row)| row[0] > 0).collect()
            };
            let took: Vec<f64> =
                runs.iter().flat_map(of_class).map(|(_, row)| row[2] as f64).collect();
            let took = median(&took).map_or("?".to_owned(), |ns| show(ns, Unit::Ns));
            let share = |runs: &Vec<Classes>| {
                let shares: Series = of_class(runs)
                    .into_iter()
                    .map(|(block, row)| (block, row[1] as f64 / row[0] as f64))
                    .collect();
                Reading::level(&shares, Unit::Share)
            };
            let row = Row {
                labels: vec![
                    work.clone(),
                    concurrency.clone(),
                    order.clone(),
                    class.to_string(),
                    took,
                ],
                published: String::new(),
                metric: "offload_share",
                readings: runs.iter().map(share).collect(),
            };
            let one = alone && row.readings.iter().any(Option::is_some);
            text.extend(one.then(|| row.labelled_by(&[0, 3, 4])));
            rows.push(row);
        }
    }
    let titles = ["work", "concurrency", "order", "class", "real work"];
    grid::keep_rows(trials, page, "classes", &titles, rows);
    if !text.is_empty() {
        page.paragraph("Share that was offloaded by class of work, one item at a time:");
        grid::write_rows(trials, page, "classes-alone", &["work", "class", "real work"], text);
    }
}

/// The classes of a run's stream, with its block.
type Classes = (u32, Vec<[i64; 3]>);

fn by_block(trials: &Trials, policy: &str, levels: Asked) -> Vec<Classes> {
    let runs = trials.rows(policy, "stream", levels).into_iter();
    runs.filter_map(|one| Some((one.row.run.block, classes(&one.row.samples)?))).collect()
}

fn reading(trials: &Trials) -> String {
    let over = |work: &str, a, b| {
        let levels = [("work", work), ("concurrency", "1"), ("order", "ordered")];
        ratio(trials, (a, b), "stream", &levels, "items_per_s")
    };
    let mut parts = Vec::new();
    for work in trials.levels("stream", "work") {
        let Some(gain) = over(&work, OURS, OFFLOAD) else { continue };
        let best_arm = [INLINE, OFFLOAD]
            .into_iter()
            .filter_map(|arm| Some((arm, over(&work, arm, OURS)?)))
            .max_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
        let arm = best_arm.map_or(String::new(), |(arm, reading)| {
            format!(
                ", and the better fixed arm, `{arm}`, {} the items of `{OURS}`",
                show(reading.estimate, Unit::Times)
            )
        });
        parts.push(format!(
            "on `{work}` `{OURS}` does {} the items of `{OFFLOAD}`{arm}",
            gain.text()
        ));
    }
    let oracle = over("mixed", OURS, ORACLE);
    let published = over("mixed", PUBLISHED, OFFLOAD);
    if parts.is_empty() {
        parts.push("nothing ran one item at a time and in order".to_owned());
    }
    format!(
        "**Reading.** One item at a time, in order: {}. On mixed work `{OURS}` over the oracle is \
         {}; `{PUBLISHED}` over `{OFFLOAD}` is {} where 4.25× was published.",
        parts.join("; "),
        or_not_measured(oracle.as_ref()),
        or_not_measured(published.as_ref()),
    )
}

pub(super) fn ratios(trials: &Trials, page: &mut Page) {
    page.heading("5. Ratios of threads");
    page.paragraph(
        "Published: three ratios whose throughputs differ by 0.4 %, a table of latencies that ran \
         one runtime three times, and a recommendation that is printed whatever was measured. Here \
         each ratio really runs, on the CPUs of this machine.",
    );
    let shared = most_ratios(trials);
    let mut lines = Vec::new();
    for (test, levels, metric, what) in [
        ("stream", shared.as_slice(), "items_per_s", "mixed items/s"),
        ("wake", &[("load", LOAD.to_owned())], "tick_p95_ns", "tick P95 under 3 ms work"),
    ] {
        let fixed: Vec<(&'static str, &str)> =
            levels.iter().map(|(factor, level)| (*factor, level.as_str())).collect();
        for place in trials.combinations(test, &fixed, &THREADS) {
            let [tokio, rayon] = place.as_slice() else { continue };
            let mut levels = fixed.clone();
            levels.extend([("tokio_workers", tokio.as_str()), ("rayon_threads", rayon)]);
            let name = format!("{tokio}:{rayon}");
            let said = RATIOS.iter().find(|(ratio, _, _)| *ratio == name);
            let said = said.map_or("", |(_, items, ticks)| match test {
                "stream" => items,
                _ => ticks,
            });
            lines.push(Line::of(test, &levels, metric).labelled(&[&name, what]).published(said));
        }
    }
    grid::write(trials, page, "ratios", &["tokio:rayon", "measure"], &lines);
    published_ratios(page);
    if !lines.is_empty() {
        page.paragraph(&best_ratio(trials));
    }
}

const THREADS: [&str; 2] = ["tokio_workers", "rayon_threads"];

/// The mixed stream that ran at the most ratios: they are compared at one concurrency and order.
fn most_ratios(trials: &Trials) -> Vec<(&'static str, String)> {
    let mixed = [("work", "mixed")];
    let places = trials.combinations("stream", &mixed, &["concurrency", "order"]).into_iter();
    let streams = places.map(|place| {
        let [concurrency, order] = [place[0].as_str(), place[1].as_str()];
        let levels = [("work", "mixed"), ("concurrency", concurrency), ("order", order)];
        let ratios = trials.combinations("stream", &levels, &THREADS).len();
        (ratios, levels.map(|(factor, level)| (factor, level.to_owned())).to_vec())
    });
    let mut streams: Vec<_> = streams.collect();
    // Stable: the first of those with as many.
    streams.sort_by_key(|(ratios, _)| std::cmp::Reverse(*ratios));
    streams
        .into_iter()
        .next()
        .map_or_else(|| vec![("work", "mixed".to_owned())], |(_, levels)| levels)
}

fn published_ratios(page: &mut Page) {
    let said = RATIOS.iter().map(|(ratio, items, ticks)| format!("{ratio}: {items}; {ticks}"));
    page.paragraph(&format!(
        "Published, 16 CPUs (compute_map and adaptive_map): {}.",
        said.collect::<Vec<_>>().join(" · ")
    ));
}

/// The ratio with the most mixed items of our policy, and whether any other is surely worse.
fn best_ratio(trials: &Trials) -> String {
    let shared = most_ratios(trials);
    let fixed: Vec<(&str, &str)> =
        shared.iter().map(|(factor, level)| (*factor, level.as_str())).collect();
    let places = trials.combinations("stream", &fixed, &THREADS);
    let series = |place: &Vec<String>| {
        let mut levels = fixed.clone();
        levels.extend([("tokio_workers", place[0].as_str()), ("rayon_threads", &place[1])]);
        trials.series(OURS, "stream", &levels, "items_per_s")
    };
    let middle = |place: &&Vec<String>| {
        median(&series(place).values().copied().collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let Some(best) = places.iter().max_by(|a, b| middle(a).total_cmp(&middle(b))) else {
        return "**Reading.** No mixed stream ran.".to_owned();
    };
    let others = places.iter().filter(|place| *place != best).map(|place| {
        let reading = Reading::ratio(&series(best), &series(place));
        let word = match reading {
            Some(reading) if reading.surely_at_least(1.0) => "slower",
            _ => "not distinguishable",
        };
        format!("{}: {word} ({})", place.join(":"), or_not_measured(reading.as_ref()))
    });
    let others: Vec<String> = others.collect();
    if others.is_empty() {
        return format!("**Reading.** One ratio ran, {}: there is no choice.", best.join(":"));
    }
    format!(
        "**Reading.** For `{OURS}` on mixed items ({}) {} has the highest median; the best over \
         the others: {}.",
        fixed[1..].iter().map(|(f, level)| format!("{f} {level}")).collect::<Vec<_>>().join(", "),
        best.join(":"),
        others.join("; ")
    )
}
