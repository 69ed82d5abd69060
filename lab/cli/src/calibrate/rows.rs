//! What both sides say, row by row, and how far the generator is off over all runs.

use lab_import::generators::Reported;
use lab_sim::Served;
use lab_stats::{describe, interval::median_interval};
use serde_json::{Value, json};

const CONFIDENCE: f64 = 0.95;
/// What the table has of each generator; other definitions where it reports them.
const ALWAYS: [&str; 3] = ["first_token", "reply", "gap"];

/// A number of a run. Times are nanoseconds.
#[derive(Debug, Clone)]
pub(super) struct Row {
    quantity: &'static str,
    /// `mean`, `p50` or `p99` of a time; else nothing.
    statistic: &'static str,
    server: f64,
    generator: Option<f64>,
}

impl Row {
    pub(super) fn json(&self) -> Value {
        let Self { quantity, statistic, server, generator } = self;
        json!({
            "quantity": quantity, "statistic": statistic, "server": server, "generator": generator,
        })
    }

    fn is_time(&self) -> bool {
        !self.statistic.is_empty()
    }

    fn is_shown(&self) -> bool {
        !self.is_time() || self.generator.is_some() || ALWAYS.contains(&self.quantity)
    }

    fn title(&self) -> String {
        let name = format!("{} {}", self.quantity.replace('_', " "), self.statistic);
        if self.is_time() { format!("{name}, ms") } else { name.trim().to_owned() }
    }

    fn shown(&self, value: f64) -> String {
        if self.is_time() { format!("{:.3}", value / 1e6) } else { short(value) }
    }
}

pub(super) fn rows(served: &Served, asked: Option<usize>, reported: Option<&Reported>) -> Vec<Row> {
    let said = |name: &str| reported?.quantities.iter().find(|one| one.name == name);
    let number = |quantity, server: f64| {
        let generator = said(quantity).and_then(|said| said.mean);
        Row { quantity, statistic: "", server, generator }
    };
    let tokens_per_s = served.tokens as f64 * 1e9 / served.span_ns.max(1) as f64;
    let asked = asked.map(|asked| asked as f64);
    let at_once = Row { generator: asked, ..number("at_once_most", served.most_at_once as f64) };
    let mut all = vec![
        number("requests", served.complete as f64),
        number("tokens", served.tokens as f64),
        number("tokens_per_s", tokens_per_s),
        number("arrivals_per_s", served.arrivals_per_s),
        at_once,
        number("at_once_mean", served.mean_at_once),
    ];
    for (quantity, spread) in &served.timings {
        let said = said(quantity);
        let time = |statistic, server, generator| Row { quantity, statistic, server, generator };
        all.push(time("mean", spread.mean_ns, said.and_then(|said| said.mean)));
        all.push(time("p50", spread.p50_ns as f64, said.and_then(|said| said.p50)));
        all.push(time("p99", spread.p99_ns as f64, said.and_then(|said| said.p99)));
    }
    all
}

/// Medians over the runs, and of the difference its interval, where there are runs enough.
pub(super) fn table(runs: &[&[Row]]) -> String {
    let mut lines = vec![line("", "server's stamps", "generator", "off by")];
    for row in runs[0].iter().filter(|row| row.is_shown()) {
        let same =
            |other: &&Row| (other.quantity, other.statistic) == (row.quantity, row.statistic);
        let of_runs: Vec<&Row> = runs.iter().filter_map(|run| run.iter().find(same)).collect();
        let server = median(of_runs.iter().map(|row| row.server).collect());
        let said: Vec<f64> = of_runs.iter().filter_map(|row| row.generator).collect();
        let off = of_runs.iter().filter_map(|row| Some(row.generator? - row.server)).collect();
        let generator = if said.is_empty() { "-".to_owned() } else { row.shown(median(said)) };
        lines.push(line(&row.title(), &row.shown(server), &generator, &difference(row, off)));
    }
    lines.join("\n")
}

fn line(title: &str, server: &str, generator: &str, off: &str) -> String {
    format!("{title:<22} {server:>15} {generator:>14}  {off}").trim_end().to_owned()
}

fn difference(row: &Row, off: Vec<f64>) -> String {
    if off.is_empty() {
        return String::new();
    }
    let signed =
        |value: f64| format!("{}{}", if value >= 0.0 { "+" } else { "" }, row.shown(value));
    match median_interval(&off, CONFIDENCE) {
        Some(known) => {
            format!("{} ({} … {})", signed(median(off)), signed(known.low), signed(known.high))
        }
        None => signed(median(off)),
    }
}

/// Of at least one number.
pub(super) fn median(values: Vec<f64>) -> f64 {
    describe::median(&values).unwrap_or(f64::NAN)
}

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
