//! The declared contrasts: a variant at one level of a factor against itself at another.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_record::{Comparison, Contrast};
use lab_stats::outcome::Outcome;

use crate::compare::{Asked, by_pair_but, in_rounds, judge_family, scaled_margin};
use crate::data::Data;
use crate::study::show_on;
use crate::tables::show_with_ends;
use crate::{Entry, Line, Measured, Page, Study, Table, method};

/// Of more contrasts, those that cannot tell are named alone.
const SHOWN_WHOLE: usize = 8;

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
    let analysis = &study.frame.run_file.analysis;
    let (judged, by) = match analysis.rounds {
        Some(_) => ("in rounds", "divided by"),
        None => ("paired over blocks and further levels of the cell", "by Holm over"),
    };
    page.paragraph(&format!(
        "One variant at two levels of a factor, {judged}; at {} {by} {} contrasts ({}). Levels: \
         `contrasts.tsv`.",
        analysis.alpha,
        contrasted.len(),
        method("Comparisons"),
    ));
    let (open, shown): (Vec<&Contrasted>, Vec<&Contrasted>) =
        contrasted.iter().partition(|one| contrasted.len() > SHOWN_WHOLE && one.is_open());
    let table = Table::of(
        shown,
        &[
            ("contrast", "", &|one| Entry::code(&one.contrast.id)),
            ("variant", "", &|one| Entry::code(&one.contrast.variant)),
            ("metric", "", &|one| Entry::code(&one.contrast.metric)),
            ("pairs", "", &|one| Entry::count(one.line.n)),
            ("estimate", "", &|one| Entry::optional(one.in_short())),
            ("margin", "", &|one| Entry::text(one.size(one.margin))),
            ("detectable", "", &|one| Entry::optional(one.line.detectable.map(|d| one.size(d)))),
            ("outcome", "outcome", &|one| one.line.finding.word()),
            ("why", "", &|one| one.line.finding.reason_in_short()),
        ],
    );
    page.markdown_table(&table);
    if !open.is_empty() {
        let named: Vec<String> = open.iter().map(|one| one.name_and_detectable()).collect();
        page.paragraph(&format!("Cannot tell (detectable): {}.", named.join(", ")));
    }
    page.data("contrasts", &numbers(contrasted));
}

impl Contrasted<'_> {
    /// A difference on the contrast's scale, for people.
    pub fn show(&self, difference: f64) -> String {
        show_on(self.contrast.scale, self.unit, difference)
    }

    /// "±5.00 %".
    fn size(&self, difference: f64) -> String {
        format!("±{}", self.show(difference).trim_start_matches('+'))
    }

    /// "-10.1 % (-16.5 % … -3.03 %)".
    fn in_short(&self) -> Option<String> {
        let estimate = self.show(self.line.estimate()?);
        let ends = self.line.interval().map(|i| [self.show(i.low), self.show(i.high)]);
        Some(match ends {
            Some([low, high]) => show_with_ends(&estimate, [&low, &high]),
            None => estimate,
        })
    }

    fn is_open(&self) -> bool {
        self.line.finding.outcome == Outcome::CannotTell
    }

    fn name_and_detectable(&self) -> String {
        let size = self.line.detectable.map(|d| format!(" {}", self.size(d)));
        format!("`{}`{}", self.contrast.id, size.unwrap_or_default())
    }
}

/// The level, and what it is held against.
pub(crate) fn sides(contrast: &Contrast) -> [Comparison; 2] {
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
