//! A new experiment from one there is: its first question, with the cells that answer it, and
//! nothing that somebody expected of the results.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Cell, InputError};
use lab_record::{Comparison, Contrast, Scale};
use toml::{Table, Value};

use crate::{Experiment, cells::VARIANT, contrasts::SHARED, order::twin_name};

/// Seconds of one question in rounds, at least.
const BUDGET_S_LEAST: u32 = 60;
/// What a smoke test keeps of the profile `quick`, where that has it.
const KEPT_OF_QUICK: [&str; 2] = ["time_scale", "divide_by"];
/// The text's tables, in this order; the family's section lies before the profile.
const TABLES: [&str; 3] = ["variants", "cells", "analysis"];

/// A group of cells: levels by factor, and perhaps [`VARIANT`].
type Group = BTreeMap<String, Vec<String>>;

/// The text of an experiment of this name. With a `factor` it asks what that changes for the
/// reference; else it asks the first comparison, or the first contrast.
///
/// # Errors
/// Where there is no such factor, or no cell varies it, or nothing is compared.
pub fn begun(like: &Experiment, name: &str, factor: Option<&str>) -> Result<String, InputError> {
    let analysis = &like.written.analysis;
    let mut table = like.table.clone();
    table.insert("name".to_owned(), name.into());
    table.remove("expect");
    let comparison = answered(like).filter(|_| factor.is_none());
    let groups = if let Some((comparison, groups)) = comparison {
        ask_comparison(&mut table, like, comparison);
        groups
    } else {
        let contrast = match factor {
            Some(factor) => Some(of_factor(like, factor)?),
            None => analysis.contrasts.first().cloned(),
        };
        let answered = contrast.and_then(|one| Some((of_contrast(like, &one)?, one)));
        let (group, contrast) = answered.ok_or_else(|| {
            let message = "declares nothing that its cells answer; name another experiment";
            InputError::value(&like.file, "analysis", message)
        })?;
        ask_contrast(&mut table, like, &contrast, factor.is_some());
        vec![group]
    };
    keep_levels(&mut table, like, &groups);
    let groups: Vec<Value> = groups.into_iter().map(Value::from).collect();
    table.insert("cells".to_owned(), groups.into());
    table.insert("profile".to_owned(), quick(&table).into());
    Ok(text(&table))
}

/// The first comparison that cells answer, and these.
fn answered(like: &Experiment) -> Option<(&Comparison, Vec<Group>)> {
    let all = like.written.analysis.comparisons.iter().map(|one| (one, groups(like, &one.cells)));
    all.into_iter().find(|(_, groups)| !groups.is_empty())
}

/// The declared contrast of the factor, or one of the ends of its levels in the cells.
fn of_factor(like: &Experiment, factor: &str) -> Result<Contrast, InputError> {
    let (analysis, file) = (&like.written.analysis, &like.file);
    let known: Vec<&str> = like.family.factors().iter().map(|one| one.name).collect();
    if !known.contains(&factor) {
        let what = format!("factor of {}", like.family.name());
        return Err(InputError::unknown(file, "--factor", &what, factor, known));
    }
    if let Some(declared) = analysis.contrasts.iter().find(|one| one.factor == factor) {
        return Ok(declared.clone());
    }
    let is_varied = |group: &&Group| group.get(factor).is_some_and(|levels| levels.len() > 1);
    let varied = like.written.cells.iter().find(is_varied);
    let (Some(group), Some((first, _))) = (varied, answered(like)) else {
        let varied: BTreeSet<&str> =
            like.written.cells.iter().flat_map(|group| group.keys().map(String::as_str)).collect();
        let varied: Vec<&str> = varied.into_iter().filter(|one| *one != VARIANT).collect();
        let message =
            format!("no cell of it varies `{factor}`; its cells have {}", varied.join(", "));
        return Err(InputError::value(file, "--factor", message));
    };
    let [reference, level] = [&group[factor][0], &group[factor][group[factor].len() - 1]];
    // The levels that the comparison has, or else one.
    let narrow = |(name, levels): (&String, &Vec<String>)| {
        let compared = first.cells.get(name).into_iter().flatten();
        let shared: Vec<String> = compared.filter(|one| levels.contains(one)).cloned().collect();
        let kept = if shared.is_empty() { vec![levels[0].clone()] } else { shared };
        (name.clone(), kept)
    };
    let others = group.iter().filter(|(name, _)| *name != factor && *name != VARIANT);
    let cells = others.map(narrow).collect();
    Ok(Contrast {
        id: format!("{level}_against_{reference}"),
        variant: analysis.reference.clone(),
        metric: first.metric.clone(),
        factor: factor.to_owned(),
        level: level.clone(),
        reference: reference.clone(),
        cells,
        scale: first.scale,
        margin: first.margin,
        rounds: true,
    })
}

/// The first group that holds cells of these levels, cut down to them, and what other variants run
/// of the same factors.
fn groups(like: &Experiment, wanted: &Group) -> Vec<Group> {
    let defaults = like.section.defaults();
    let fits = |group: &Group| -> Option<Group> {
        let mut own = group.clone();
        for (factor, levels) in wanted {
            match own.get_mut(factor) {
                Some(present) => present.retain(|level| levels.contains(level)),
                None if levels.contains(defaults.get(factor)?) => {}
                None => return None,
            }
        }
        own.values().all(|levels| !levels.is_empty()).then_some(own)
    };
    let mut fitting: Vec<Group> = like.written.cells.iter().filter_map(fits).collect();
    let factors = |group: &Group| group.keys().filter(|key| *key != VARIANT).cloned().collect();
    let first: Option<BTreeSet<String>> = fitting.first().map(factors);
    fitting.retain(|group| Some(factors(group)) == first);
    fitting.dedup();
    fitting
}

/// One group with both levels, for the contrast's variant alone.
fn of_contrast(like: &Experiment, contrast: &Contrast) -> Option<Group> {
    let mut wanted = contrast.cells.clone();
    wanted.insert(contrast.factor.clone(), vec![contrast.level.clone()]);
    let mut group = groups(like, &wanted).into_iter().next()?;
    let twin = twin_name(&contrast.variant);
    group.insert(VARIANT.to_owned(), vec![contrast.variant.clone(), twin]);
    let sides = vec![contrast.reference.clone(), contrast.level.clone()];
    group.insert(contrast.factor.clone(), sides);
    Some(group)
}

fn ask_comparison(table: &mut Table, like: &Experiment, comparison: &Comparison) {
    let analysis = asked(table, like);
    let mut kept = Table::new();
    kept.insert("metric".to_owned(), comparison.metric.as_str().into());
    kept.insert("scale".to_owned(), scale(comparison.scale).into());
    kept.insert("margin".to_owned(), comparison.margin.into());
    kept.insert("cells".to_owned(), Table::from_iter(values(&comparison.cells)).into());
    analysis.insert("comparisons".to_owned(), Value::Array(vec![kept.into()]));
}

/// `is_own`: the question is of the factor that the user named.
fn ask_contrast(table: &mut Table, like: &Experiment, contrast: &Contrast, is_own: bool) {
    let Contrast { id, variant, metric, factor, level, reference, cells, .. } = contrast;
    if is_own {
        let sides = [level, reference].map(|level| format!("{factor} {level}")).join(" or ");
        let question = format!("Which suits `{variant}` better: {sides}?");
        table.insert("question".to_owned(), question.into());
    }
    if let Some(Value::Table(variants)) = table.get_mut("variants") {
        // Its answers may be the expected ones.
        let names = [Some(variant), like.written.analysis.floor.as_ref()].into_iter().flatten();
        let names: BTreeSet<String> = names.cloned().collect();
        variants.insert("names".to_owned(), Vec::from_iter(names).into());
        variants.insert("twin".to_owned(), variant.as_str().into());
    }
    let defaults = like.section.defaults();
    let is_default = |(factor, levels): &(&String, &Vec<String>)| {
        defaults.get(*factor).is_some_and(|level| **levels == [level.clone()])
    };
    let named: Group =
        cells.iter().filter(|one| !is_default(one)).map(|(f, l)| (f.clone(), l.clone())).collect();
    let words = [
        ("id", id.as_str()),
        ("variant", variant),
        ("metric", metric),
        ("factor", factor),
        ("level", level),
        ("reference", reference),
        ("scale", scale(contrast.scale)),
    ];
    let mut kept = Table::from_iter(words.map(|(key, word)| (key.to_owned(), word.into())));
    kept.insert("margin".to_owned(), contrast.margin.into());
    kept.insert("cells".to_owned(), Table::from_iter(values(&named)).into());
    let analysis = asked(table, like);
    analysis.insert("reference".to_owned(), variant.as_str().into());
    analysis.insert("comparisons".to_owned(), Value::Array(vec![]));
    analysis.insert("contrasts".to_owned(), Value::Array(vec![kept.into()]));
}

/// The table `analysis` without its questions, and with the time of one of them.
fn asked<'t>(table: &'t mut Table, like: &Experiment) -> &'t mut Table {
    let analysis = table.entry("analysis").or_insert_with(|| Table::new().into());
    let Value::Table(analysis) = analysis else { unreachable!("the experiment was read") };
    for key in ["comparisons", "contrasts", SHARED] {
        analysis.remove(key);
    }
    let written = &like.written.analysis;
    if let (Some(rounds), Some(Value::Table(kept))) = (written.rounds, analysis.get_mut("rounds")) {
        let questions = (written.comparisons.len() + written.contrasts.len()).max(1) as u32;
        let budget_s = (rounds.budget_s / questions).max(BUDGET_S_LEAST);
        kept.insert("budget_s".to_owned(), i64::from(budget_s).into());
    }
    analysis
}

/// Takes the levels that no cell has out of the section's tables of levels.
fn keep_levels(table: &mut Table, like: &Experiment, groups: &[Group]) {
    let defaults: Cell = like.section.defaults();
    let Some(Value::Table(section)) = table.get_mut(like.family.name()) else { return };
    for factor in like.family.factors() {
        let Some(Value::Table(levels)) = section.get_mut(factor.name) else { continue };
        let in_cells = groups.iter().filter_map(|group| group.get(factor.name)).flatten();
        let used: BTreeSet<&str> =
            in_cells.chain(defaults.get(factor.name)).map(String::as_str).collect();
        if used.iter().all(|level| levels.contains_key(*level)) {
            levels.retain(|level, _| used.contains::<str>(level));
        }
    }
}

/// A smoke test.
fn quick(table: &Table) -> Table {
    let mut quick = Table::new();
    quick.insert("blocks".to_owned(), 1.into());
    quick.insert("verdicts".to_owned(), false.into());
    let was = table.get("profile").and_then(|profile| profile.get("quick"));
    for key in KEPT_OF_QUICK {
        let kept = was.and_then(|was| was.get(key));
        quick.extend(kept.map(|value| (key.to_owned(), value.clone())));
    }
    Table::from_iter([("quick".to_owned(), quick.into())])
}

/// The keys of the file first, then its tables in the order in which one reads an experiment.
fn text(table: &Table) -> String {
    let part = |keys: &dyn Fn(&str, &Value) -> bool| {
        let own = table.iter().filter(|(key, value)| keys(key, value));
        let own = Table::from_iter(own.map(|(key, value)| (key.clone(), value.clone())));
        toml::to_string(&own).expect("what was read can be written")
    };
    let is_table =
        |value: &Value| value.is_table() || value.as_array().is_some_and(|array| of_tables(array));
    let mut parts = vec![part(&|_, value| !is_table(value))];
    parts.extend(TABLES.map(|name| part(&|key, _| key == name)));
    let is_named = |key: &str| TABLES.contains(&key) || key == "profile";
    parts.push(part(&|key, value| is_table(value) && !is_named(key)));
    parts.push(part(&|key, _| key == "profile"));
    parts.join("\n")
}

fn of_tables(array: &[Value]) -> bool {
    !array.is_empty() && array.iter().all(Value::is_table)
}

fn values(group: &Group) -> impl Iterator<Item = (String, Value)> {
    group.iter().map(|(factor, levels)| (factor.clone(), levels.clone().into()))
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => "ratio",
        Scale::Difference => "difference",
    }
}
