//! How much the runs of one configuration differ, by variant: which variant is steady, and where.

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table};
use lab_stats::describe::{Summary, summarize};

use super::groups::{Group, by_configuration, by_variant, is_of_tr115};

const EFFICIENCY: &str = "efficiency_as_published";

/// A figure of a configuration.
type Figure = fn(&Summary) -> Option<f64>;

/// One variant.
struct Within<'g> {
    variant: &'g str,
    /// Over all configurations together.
    all: Summary,
    /// Each by itself.
    configs: Vec<(&'g str, Summary)>,
}

impl Within<'_> {
    /// The configurations by a figure, the smallest first.
    fn ranked(&self, figure: Figure) -> Vec<(f64, &str)> {
        let figures = self.configs.iter().filter_map(|(name, of)| Some((figure(of)?, *name)));
        let mut figures: Vec<(f64, &str)> = figures.collect();
        figures.sort_by(|a, b| a.0.total_cmp(&b.0));
        figures
    }

    fn mean(&self, figure: Figure) -> Option<f64> {
        let figures: Vec<f64> = self.ranked(figure).iter().map(|(value, _)| *value).collect();
        summarize(&figures).map(|of| of.mean)
    }
}

/// Of the configurations of the published report.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let groups = by_configuration(study);
    let pooled = by_variant(study, |one| is_of_tr115(study, one));
    let rows = pooled.iter().filter_map(|group| {
        let all = summarize(&group.values(EFFICIENCY))?;
        let own = groups.iter().filter(|of| of.variant == group.variant && is_published(study, of));
        let configs =
            own.filter_map(|of| Some((of.config.as_str(), summarize(&of.values(EFFICIENCY))?)));
        Some(Within { variant: group.variant, all, configs: configs.collect() })
    });
    let share = |value: Option<f64>| Entry::value(value, Unit::Share);
    let value = |end: Option<&(f64, &str)>| share(end.map(|(value, _)| *value));
    let place = |end: Option<&(f64, &str)>| Entry::optional(end.map(|(_, name)| *name));
    let sd: Figure = |of| of.sd;
    let cv: Figure = |of| of.cv;
    let table = Table::of(
        rows,
        &[
            ("variant", "variant", &|of| Entry::code(of.variant)),
            ("configurations", "configs", &|of| Entry::count(of.configs.len())),
            ("mean sd", "sd_mean", &|of| share(of.mean(sd))),
            ("largest sd", "sd_max", &|of| value(of.ranked(sd).last())),
            ("in", "sd_max_config", &|of| place(of.ranked(sd).last())),
            ("CV of all runs", "cv", &|of| share(of.all.cv)),
            ("smallest CV", "cv_min", &|of| value(of.ranked(cv).first())),
            ("in", "cv_min_config", &|of| place(of.ranked(cv).first())),
            ("largest CV", "cv_max", &|of| value(of.ranked(cv).last())),
            ("in", "cv_max_config", &|of| place(of.ranked(cv).last())),
        ],
    );
    if !table.is_empty() {
        let what = "Spread within a configuration, where least and most, and over all";
        page.beside("within", what, &table);
    }
}

fn is_published(study: &Study, group: &Group) -> bool {
    group.runs.iter().all(|one| is_of_tr115(study, one))
}
