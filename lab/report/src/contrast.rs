//! The declared contrasts: a variant at one level of a factor against itself at another.

use std::collections::BTreeMap;

use lab_record::{Comparison, Contrast};

use crate::compare::{Asked, Data, Line, POWER, by_pair_but, judge_family, scaled_margin};
use lab_family::Unit;

use crate::judge::COLUMNS;
use crate::measure::Measured;
use crate::page::Page;
use crate::study::{Study, show_on};
use crate::tables::{Entry, Table, show_p};

/// A declared contrast with its verdict.
pub struct Contrasted<'a> {
    /// As declared.
    pub contrast: &'a Contrast,
    /// What was found.
    pub line: Line,
    /// The margin on the contrast's scale.
    pub margin: f64,
    unit: Unit,
}

/// Judges all contrasts of the experiment as one family.
pub fn contrasts<'a>(study: &Study<'a>) -> Vec<Contrasted<'a>> {
    let declared = &study.frame.run_file.analysis.contrasts;
    let sides: Vec<[Comparison; 2]> = declared.iter().map(sides).collect();
    let lines = judge_family(study, |measured| {
        declared.iter().zip(&sides).map(|(one, sides)| asked(measured, one, sides)).collect()
    });
    let contrasted = declared.iter().zip(&sides).zip(lines);
    contrasted
        .map(|((contrast, [side, _]), line)| {
            let unit = study.unit(&contrast.metric);
            Contrasted { contrast, line, margin: scaled_margin(side), unit }
        })
        .collect()
}

/// The table of all contrasts, as `contrasts.tsv`: unrounded, ratios as natural logarithms.
pub fn write(study: &Study, page: &mut Page) {
    let contrasted = &study.contrasted;
    if contrasted.is_empty() {
        return;
    }
    page.heading("Declared contrasts");
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
        ("contrast", "id"),
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
        COLUMNS[0],
        COLUMNS[1],
    ]);
    contrasted.iter().for_each(|one| table.row(row(one)));
    page.markdown_table(&table);
    page.data("contrasts", &numbers(contrasted));
}

impl Contrasted<'_> {
    /// A difference on the contrast's scale, for people.
    pub fn show(&self, difference: f64) -> String {
        show_on(self.contrast.scale, self.unit, difference)
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
    (data, contrast.id.clone(), &sides[0])
}

fn row(one: &Contrasted) -> Vec<Entry> {
    let (contrast, line) = (one.contrast, &one.line);
    let text = |text: Option<String>| text.map_or(Entry::Missing, Entry::Text);
    let interval = line.shift.and_then(|shift| shift.interval);
    let interval = interval.map(|i| format!("{} … {}", one.show(i.low), one.show(i.high)));
    let mut row = vec![
        Entry::code(&contrast.id),
        Entry::code(&contrast.variant),
        Entry::code(&contrast.metric),
        Entry::text(format!("{} {}", contrast.factor, contrast.level)),
        Entry::text(&contrast.reference),
        Entry::count(line.n),
        text(line.shift.map(|shift| one.show(shift.estimate))),
        text(interval),
        text(line.p_adjusted.map(show_p)),
        Entry::text(format!("±{}", one.show(one.margin).trim_start_matches('+'))),
        text(line.detectable.map(|effect| one.show(effect))),
    ];
    row.extend(line.finding.entries());
    row
}

fn numbers(contrasted: &[Contrasted]) -> Table {
    let keys = [
        "id",
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
        "outcome",
        "why",
    ];
    let mut table = Table::new(&keys.map(|key| (key, key)));
    for one in contrasted {
        let (contrast, line) = (one.contrast, &one.line);
        let interval = line.shift.and_then(|shift| shift.interval);
        let number = |value: Option<f64>| Entry::value(value, Unit::Count);
        let mut row = vec![
            Entry::text(&contrast.id),
            Entry::text(&contrast.variant),
            Entry::text(&contrast.metric),
            Entry::text(&contrast.factor),
            Entry::text(&contrast.level),
            Entry::text(&contrast.reference),
            Entry::count(line.n),
            number(line.shift.map(|shift| shift.estimate)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            number(interval.map(|interval| interval.confidence)),
            number(line.p_adjusted),
            number(Some(one.margin)),
            number(line.detectable),
        ];
        row.extend(line.finding.entries());
        table.row(row);
    }
    table
}
