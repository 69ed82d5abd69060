//! The declared contrasts: a variant at one level of a factor against itself at another.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_record::{Comparison, Contrast};

use crate::compare::{Asked, POWER, by_pair_but, in_rounds, judge_family, scaled_margin};
use crate::data::Data;
use crate::study::show_on;
use crate::tables::show_p;
use crate::{Entry, Line, Measured, Page, Study, Table};

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
    let apart = declared.iter().zip(&sides).map(|(one, [side, _])| {
        Some(in_rounds(study, side, study.questions.contrast(&one.id)?).into_iter().next())
    });
    let lines: Vec<Line> = match apart.collect::<Option<Vec<_>>>() {
        Some(lines) => lines
            .into_iter()
            .zip(declared)
            .map(|(line, one)| line.unwrap_or_else(|| Line::not_measured(&one.id)))
            .collect(),
        None => judge_family(study, |measured| {
            declared.iter().zip(&sides).map(|(one, sides)| asked(measured, one, sides)).collect()
        }),
    };
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
    match study.frame.run_file.analysis.rounds {
        Some(_) => page.paragraph(&format!(
            "One variant against itself at another level of one factor, in rounds of their own as \
             the comparisons above, at {alpha} divided by the {} contrasts; declared before \
             anything ran. Percent of the reference here; natural logarithms of the ratio in \
             `contrasts.tsv`.",
            contrasted.len(),
        )),
        None => page.paragraph(&format!(
            "One variant against itself at another level of one factor, paired over blocks and the \
         remaining levels of the cell; declared before anything ran. p by sign flips, Holm over \
         all {} contrasts at {alpha}; estimate and interval by Hodges and Lehmann; \"detectable\" \
         as above, power {} %. Percent of the reference here; natural logarithms of the ratio in \
         `contrasts.tsv`.",
            contrasted.len(),
            100.0 * POWER
        )),
    }
    let code = |name: &String| Entry::code(name);
    let table = Table::of(
        contrasted,
        &[
            ("contrast", "id", &|one| code(&one.contrast.id)),
            ("variant", "variant", &|one| code(&one.contrast.variant)),
            ("metric", "metric", &|one| code(&one.contrast.metric)),
            ("level", "level", &|Contrasted { contrast, .. }| {
                Entry::text(format!("{} {}", contrast.factor, contrast.level))
            }),
            ("against", "reference", &|one| Entry::text(&one.contrast.reference)),
            ("pairs", "n", &|one| Entry::count(one.line.n)),
            ("estimate", "estimate", &|one| one.shown(one.line.estimate())),
            ("interval", "interval", &|one| Entry::optional(one.interval())),
            ("p (Holm)", "p_holm", &|one| Entry::optional(one.line.p_adjusted.map(show_p))),
            ("margin", "margin", &|one| {
                Entry::text(format!("±{}", one.show(one.margin).trim_start_matches('+')))
            }),
            ("detectable", "detectable", &|one| one.shown(one.line.detectable)),
            ("outcome", "outcome", &|one| one.line.finding.word()),
            ("why", "why", &|one| one.line.finding.reason()),
        ],
    );
    page.markdown_table(&table);
    page.data("contrasts", &numbers(contrasted));
}

impl Contrasted<'_> {
    /// A difference on the contrast's scale, for people.
    pub fn show(&self, difference: f64) -> String {
        show_on(self.contrast.scale, self.unit, difference)
    }

    fn shown(&self, difference: Option<f64>) -> Entry {
        Entry::optional(difference.map(|difference| self.show(difference)))
    }

    fn interval(&self) -> Option<String> {
        let interval = self.line.interval()?;
        Some(format!("{} … {}", self.show(interval.low), self.show(interval.high)))
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
    let data = Data::paired(&values(&sides[0]), &values(&sides[1]), contrast.scale);
    (data, contrast.id.clone(), &sides[0])
}

fn numbers(contrasted: &[Contrasted]) -> Table {
    let number = |value: Option<f64>| Entry::value(value, Unit::Count);
    Table::of(
        contrasted,
        &[
            ("id", "id", &|one| Entry::text(&one.contrast.id)),
            ("variant", "variant", &|one| Entry::text(&one.contrast.variant)),
            ("metric", "metric", &|one| Entry::text(&one.contrast.metric)),
            ("factor", "factor", &|one| Entry::text(&one.contrast.factor)),
            ("level", "level", &|one| Entry::text(&one.contrast.level)),
            ("reference", "reference", &|one| Entry::text(&one.contrast.reference)),
            ("n", "n", &|one| Entry::count(one.line.n)),
            ("estimate", "estimate", &|one| number(one.line.estimate())),
            ("low", "low", &|one| number(one.line.interval().map(|i| i.low))),
            ("high", "high", &|one| number(one.line.interval().map(|i| i.high))),
            ("confidence", "confidence", &|one| number(one.line.interval().map(|i| i.confidence))),
            ("p_holm", "p_holm", &|one| number(one.line.p_adjusted)),
            ("margin", "margin", &|one| number(Some(one.margin))),
            ("detectable", "detectable", &|one| number(one.line.detectable)),
            ("outcome", "outcome", &|one| one.line.finding.word()),
            ("why", "why", &|one| one.line.finding.reason()),
        ],
    )
}
