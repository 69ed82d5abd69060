//! The declared contrasts: a variant at one level of a factor against itself at another.

use std::collections::BTreeMap;

use lab_record::{Comparison, Contrast};

use crate::compare::{Asked, Data, Line, POWER, by_pair_but, judge_family, scaled_margin};
use crate::measure::{Measured, Unit};
use crate::page::Page;
use crate::study::{Study, show_on, word_of};
use crate::tables::{Cell, Table, show_p};

/// A declared contrast with its verdict.
pub(crate) struct Contrasted<'a> {
    pub(crate) contrast: &'a Contrast,
    pub(crate) line: Line,
    /// The margin on the contrast's scale.
    pub(crate) margin: f64,
}

/// Judges all contrasts of the experiment as one family. A metric whose A/A test failed in a
/// declared comparison gives no verdict here either.
pub(crate) fn contrasts<'a>(study: &Study<'a>) -> Vec<Contrasted<'a>> {
    let analysis = &study.frame.run_file.analysis;
    let sides: Vec<[Comparison; 2]> = analysis.contrasts.iter().map(sides).collect();
    let asked = |measured: &[Measured]| -> Vec<Asked> {
        let declared = analysis.contrasts.iter().zip(&sides);
        declared.map(|(contrast, sides)| asked(measured, contrast, sides)).collect()
    };
    let gated = study.all.len() != study.clean.len();
    let clean = gated.then(|| asked(&study.clean));
    let seed = study.frame.run_file.seed;
    let lines = judge_family(&asked(&study.all), clean.as_deref(), analysis, seed);
    let contrasted = analysis.contrasts.iter().zip(&sides).zip(lines);
    contrasted
        .map(|((contrast, [side, _]), mut line)| {
            let alarm = alarm(study, &contrast.metric);
            line.verdict = line.verdict.take().map(|v| v.withheld_for(alarm.as_deref()));
            Contrasted { contrast, line, margin: scaled_margin(side) }
        })
        .collect()
}

/// The table of all contrasts, as `contrasts.tsv`: unrounded, ratios as natural logarithms.
pub(crate) fn write(study: &Study, contrasted: &[Contrasted], page: &mut Page) {
    page.heading("Declared contrasts");
    if contrasted.is_empty() {
        page.paragraph("This experiment declares no contrast (a smoke test has none).");
        return;
    }
    let alpha = study.frame.run_file.analysis.alpha;
    page.paragraph(&format!(
        "One variant against itself at another level of one factor, paired over blocks and the \
         remaining levels of the cell; declared before anything ran. p by sign flips, Holm over \
         all {} contrasts at {alpha}; estimate and interval by Hodges and Lehmann; \"detectable\" \
         as above, power {} %. Percent of the reference here; natural logarithms of the ratio in \
         `contrasts.tsv`.",
        contrasted.len(),
        100.0 * POWER
    ));
    let mut table = Table::new(&[
        ("contrast", "name"),
        ("variant", "variant"),
        ("metric", "metric"),
        ("level", "level"),
        ("against", "reference"),
        ("pairs", "n"),
        ("estimate", "estimate"),
        ("interval", "interval"),
        ("p (Holm)", "p_holm"),
        ("margin", "margin"),
        ("detectable", "detectable"),
        ("verdict", "verdict"),
    ]);
    contrasted.iter().for_each(|one| table.row(row(one)));
    page.markdown.push_str(&format!("{}\n", table.markdown()));
    page.data("contrasts", &numbers(contrasted));
}

impl Contrasted<'_> {
    /// A difference on the contrast's scale, for people.
    pub(crate) fn show(&self, difference: f64) -> String {
        show_on(self.contrast.scale, &self.contrast.metric, difference)
    }
}

fn sides(contrast: &Contrast) -> [Comparison; 2] {
    [&contrast.level, &contrast.reference].map(|level| {
        let mut cells = contrast.cells.clone();
        cells.insert(contrast.factor.clone(), vec![level.clone()]);
        Comparison {
            metric: contrast.metric.clone(),
            cells,
            scale: contrast.scale,
            margin: contrast.margin,
        }
    })
}

fn asked<'a>(measured: &[Measured], contrast: &Contrast, sides: &'a [Comparison; 2]) -> Asked<'a> {
    let values = |side: &Comparison| -> BTreeMap<_, _> {
        by_pair_but(measured, side, &contrast.variant, &contrast.factor)
    };
    // Two levels within a variant always saw the same block, whatever the variants did.
    let data = Data::paired(values(&sides[0]), values(&sides[1]));
    (data, contrast.name.clone(), &sides[0])
}

/// Why the verdicts on a metric are withheld: its A/A test failed in a declared comparison.
pub(crate) fn alarm(study: &Study, metric: &str) -> Option<String> {
    let same = study.judged.iter().filter(|judged| judged.comparison.metric == metric);
    let mut tests = same.flat_map(|judged| &judged.aa);
    let failed = tests.find(|(_, test)| test.failed());
    failed.map(|(twin, test)| {
        format!("A/A failed (`{twin}`, p {})", show_p(test.p.unwrap_or_default()))
    })
}

fn row(one: &Contrasted) -> Vec<Cell> {
    let (contrast, line) = (one.contrast, &one.line);
    let text = |text: Option<String>| text.map_or(Cell::Missing, Cell::Text);
    let interval = line.shift.and_then(|shift| shift.interval);
    let interval = interval.map(|i| format!("{} … {}", one.show(i.low), one.show(i.high)));
    let verdict = line.verdict.as_ref().map_or_else(
        || format!("none: fewer than 6 pairs ({})", line.n),
        |verdict| verdict.to_string(),
    );
    vec![
        Cell::code(&contrast.name),
        Cell::code(&contrast.variant),
        Cell::code(&contrast.metric),
        Cell::text(format!("{} {}", contrast.factor, contrast.level)),
        Cell::text(&contrast.reference),
        Cell::count(line.n),
        text(line.shift.map(|shift| one.show(shift.estimate))),
        text(interval),
        text(line.p_adjusted.map(show_p)),
        Cell::text(format!("±{}", one.show(one.margin).trim_start_matches('+'))),
        text(line.detectable.map(|effect| one.show(effect))),
        Cell::text(verdict),
    ]
}

fn numbers(contrasted: &[Contrasted]) -> Table {
    let keys = [
        "name",
        "variant",
        "metric",
        "factor",
        "level",
        "reference",
        "n",
        "estimate",
        "low",
        "high",
        "confidence",
        "p_holm",
        "margin",
        "detectable",
        "verdict",
    ];
    let mut table = Table::new(&keys.map(|key| (key, key)));
    for one in contrasted {
        let (contrast, line) = (one.contrast, &one.line);
        let interval = line.shift.and_then(|shift| shift.interval);
        let number = |value: Option<f64>| Cell::value(value, Unit::Count);
        table.row(vec![
            Cell::text(&contrast.name),
            Cell::text(&contrast.variant),
            Cell::text(&contrast.metric),
            Cell::text(&contrast.factor),
            Cell::text(&contrast.level),
            Cell::text(&contrast.reference),
            Cell::count(line.n),
            number(line.shift.map(|shift| shift.estimate)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            number(interval.map(|interval| interval.confidence)),
            number(line.p_adjusted),
            number(Some(one.margin)),
            number(line.detectable),
            line.verdict.as_ref().map_or(Cell::Missing, |verdict| Cell::text(word_of(verdict))),
        ]);
    }
    table
}
