//! The declared contrasts: a variant at one level of a factor against itself at another.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_record::{Comparison, Contrast};
use lab_stats::outcome::Outcome;

use crate::chapter::Column::{self, Any, Code, Count, Text};
use crate::chapter::number;
use crate::compare::Line;
use crate::compare::{Asked, by_pair_but, in_rounds, judge_family, scaled_margin};
use crate::data::Data;
use crate::measure::Measured;
use crate::page::{Page, method};
use crate::study::Study;
use crate::study::show_on;
use crate::tables::show_with_ends;
use crate::tables::{Entry, Table};
use crate::words::Words;

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

/// Judges all contrasts of the experiment as one family: those that were asked in rounds, each at
/// its part of the level, and by Holm those that the blocks answer.
pub fn contrasts<'a>(study: &Study<'a>) -> Vec<Contrasted<'a>> {
    let analysis = &study.frame.run_file.analysis;
    let sides: Vec<[Comparison; 2]> = analysis.contrasts.iter().map(sides).collect();
    let declared = || analysis.contrasts.iter().zip(&sides);
    let is_left = |one: &Contrast| analysis.is_left_to_blocks(one.rounds);
    let left = declared().filter(|(one, _)| is_left(one)).count();
    let of_blocks = judge_family(study, analysis.contrasts.len() - left, |measured| {
        let left = declared().filter(|(one, _)| is_left(one));
        left.map(|(one, sides)| asked(measured, one, sides)).collect()
    });
    let mut of_blocks = of_blocks.into_iter();
    let line = |(one, [side, _]): (&Contrast, &[Comparison; 2])| {
        let line = match study.questions.contrast(&one.id) {
            Some(trials) => in_rounds(study, side, trials).into_iter().next(),
            None => of_blocks.next(),
        };
        line.unwrap_or_else(|| Line::not_measured(&one.id))
    };
    let lines: Vec<Line> = declared().map(line).collect();
    let contrasted = declared().zip(lines);
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
    let left = analysis.contrasts.iter().filter(|one| analysis.is_left_to_blocks(one.rounds));
    let (judged, by) = match analysis.contrasts.len() - left.count() {
        0 => ("paired over blocks and further levels of the cell", "by Holm over"),
        asked if asked == analysis.contrasts.len() => ("in rounds", "divided by"),
        _ => {
            ("in rounds, or over blocks where there is a `p_holm`", "divided by, or by Holm over,")
        }
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
    page.markdown_table(&Table::over(
        shown,
        &[
            Code("contrast", "", &|one| &one.contrast.id),
            Code("variant", "", &|one| &one.contrast.variant),
            Column::Words("metric", "", &|one| study.noun(&one.contrast.metric)),
            Count("pairs", "", &|one| one.line.n),
            Any("estimate", "", &|one| Entry::optional(one.in_short())),
            Column::Words("margin", "", &|one| one.size(one.margin)),
            Any("detectable", "", &|one| Entry::optional(one.detectable())),
            Any("outcome", "outcome", &|one| one.line.finding.word()),
            Any("why", "", &|one| one.line.finding.reason_in_short()),
        ],
    ));
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

    pub(crate) fn words(&self, study: &Study) -> Words {
        Words::of(study.metric(&self.contrast.metric), self.contrast.scale)
    }

    /// "±5.00 %".
    pub(crate) fn size(&self, difference: f64) -> String {
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

    pub(crate) fn detectable(&self) -> Option<String> {
        self.line.detectable.map(|detectable| self.size(detectable))
    }

    fn is_open(&self) -> bool {
        self.line.finding.outcome == Outcome::CannotTell
    }

    fn name_and_detectable(&self) -> String {
        let size = self.detectable().map(|size| format!(" {size}"));
        format!("`{}`{}", self.contrast.id, size.unwrap_or_default())
    }
}

/// The level of a contrast as a comparison, and the level that it is held against.
pub fn sides(contrast: &Contrast) -> [Comparison; 2] {
    [&contrast.level, &contrast.reference].map(|level| {
        let mut cells = contrast.cells.clone();
        cells.insert(contrast.factor.clone(), vec![level.clone()]);
        Comparison {
            metric: contrast.metric.clone(),
            cells,
            scale: contrast.scale,
            margin: contrast.margin,
            rounds: contrast.rounds,
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
    Table::over(
        contrasted,
        &[
            Text("", "id", &|one| &one.contrast.id),
            Text("", "variant", &|one| &one.contrast.variant),
            Text("", "metric", &|one| &one.contrast.metric),
            Text("", "factor", &|one| &one.contrast.factor),
            Text("", "level", &|one| &one.contrast.level),
            Text("", "reference", &|one| &one.contrast.reference),
            Count("", "n", &|one| one.line.n),
            number("estimate", &|one| one.line.estimate()),
            number("low", &|one| Some(one.line.interval()?.low)),
            number("high", &|one| Some(one.line.interval()?.high)),
            number("confidence", &|one| Some(one.line.interval()?.confidence)),
            number("p_holm", &|one| one.line.p_adjusted),
            number("margin", &|one| Some(one.margin)),
            number("detectable", &|one| one.line.detectable),
            Any("", "outcome", &|one| one.line.finding.word()),
            Any("", "why", &|one| one.line.finding.reason()),
        ],
    )
}
