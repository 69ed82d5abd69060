//! How much the runs of one configuration differ, by variant: which variant is steady, and where.

use lab_family::Unit::Share;
use lab_report::Column::{Any, Code, Count, Number};
use lab_report::{Chapter, Entry, Page, Study, Table};
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
    let share = |end: Option<&(f64, &str)>| end.map(|(value, _)| *value);
    let place = |end: Option<&(f64, &str)>| Entry::optional(end.map(|(_, name)| *name));
    let sd: Figure = |of| of.sd;
    let cv: Figure = |of| of.cv;
    let table = Table::over(
        rows,
        &[
            Code("", "variant", &|of| of.variant),
            Count("", "configs", &|of| of.configs.len()),
            Number("", "sd_mean", Share, &|of| of.mean(sd)),
            Number("", "sd_max", Share, &|of| share(of.ranked(sd).last())),
            Any("", "sd_max_config", &|of| place(of.ranked(sd).last())),
            Number("", "cv", Share, &|of| of.all.cv),
            Number("", "cv_min", Share, &|of| share(of.ranked(cv).first())),
            Any("", "cv_min_config", &|of| place(of.ranked(cv).first())),
            Number("", "cv_max", Share, &|of| share(of.ranked(cv).last())),
            Any("", "cv_max_config", &|of| place(of.ranked(cv).last())),
        ],
    );
    let what = "Spread within a configuration, where least and most, and over all";
    page.chapter(Chapter::beside("within", what, table));
}

fn is_published(study: &Study, group: &Group) -> bool {
    group.runs.iter().all(|one| is_of_tr115(study, one))
}
