//! What an experiment declares, held against what its family has: a slip of the pen is refused
//! before anything runs, with the file, the key and the nearest known name.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Better, Cell, InputError, Metric};
use lab_record::{Expectation, OneOrMore, Quantity};

use crate::{
    Experiment, Manifest,
    cells::{self, Entry},
    order::twin_name,
};

/// The level that takes all levels of a factor.
const ANY: &str = "*";
/// What a contrast may be expected to be.
const OF_CONTRAST: [&str; 3] = ["faster", "slower", "equivalent"];

/// Checks everything that names a metric, a factor, a level, a contrast or an expectation.
pub(crate) fn check(experiment: &Experiment) -> Result<(), InputError> {
    let declared = Declared::of(experiment);
    for group in &experiment.written.cells {
        for factor in group.keys().filter(|factor| *factor != cells::VARIANT) {
            declared.factor("cells", factor)?;
        }
    }
    for (name, profile) in &experiment.written.profile {
        for (factor, levels) in &profile.only {
            declared.levels(&format!("profile.{name}.only"), factor, levels)?;
        }
        for factor in profile.defaults.keys() {
            declared.factor(&format!("profile.{name}.defaults"), factor)?;
        }
    }
    for (place, comparison) in experiment.written.analysis.comparisons.iter().enumerate() {
        let key = format!("analysis.comparisons[{}]", place + 1);
        declared.directed_metric(&key, &comparison.metric)?;
        declared.cells(&key, comparison.cells.iter().map(|(f, l)| (f, l.as_slice())))?;
    }
    declared.contrasts()?;
    declared.expectations()
}

/// Checks everything that names a variant, against the manifests of the family.
pub(crate) fn check_variants(
    experiment: &Experiment,
    manifests: &[Manifest],
) -> Result<(), InputError> {
    let written = &experiment.written;
    let family = experiment.family.name();
    let own = manifests.iter().filter(|manifest| manifest.family == family);
    let mut known: BTreeSet<String> = own.map(|manifest| manifest.name.clone()).collect();
    let unknown = |key: &str, name: &str, known: &BTreeSet<String>| {
        let what = format!("variant of {family}");
        let known = known.iter().map(String::as_str);
        InputError::unknown(&experiment.file, key, &what, name, known)
    };
    if let Some(twin) = &written.variants.twin {
        // First: everything that names its copy is wrong with it.
        if !known.contains(twin) {
            return Err(unknown("variants.twin", twin, &known));
        }
        known.insert(twin_name(twin));
    }
    let check = |key: &str, name: &str| match known.contains(name) {
        true => Ok(()),
        false => Err(unknown(key, name, &known)),
    };
    for text in written.cells.iter().filter_map(|group| group.get(cells::VARIANT)).flatten() {
        match Entry::read(text).0 {
            Entry::Name(name) => check("cells.variant", name)?,
            Entry::Tag(tag) => {
                let own = manifests.iter().filter(|manifest| manifest.family == family);
                let tags: Vec<&str> =
                    own.flat_map(|manifest| manifest.tags.iter().map(String::as_str)).collect();
                if !tags.contains(&tag) {
                    let what = format!("tag of a variant of {family}");
                    let file = &experiment.file;
                    return Err(InputError::unknown(file, "cells.variant", &what, tag, tags));
                }
            }
        }
    }
    let floor = written.analysis.floor.iter().map(|name| ("analysis.floor", name));
    let names = written.variants.names.iter().map(|name| ("variants.names", name));
    for (key, name) in floor.chain(names) {
        check(key, name)?;
    }
    for (profile, name) in
        written.profile.iter().flat_map(|(key, p)| p.names.iter().map(move |name| (key, name)))
    {
        check(&format!("profile.{profile}.names"), name)?;
    }
    for contrast in &written.analysis.contrasts {
        check(&format!("analysis.contrasts.{}.variant", contrast.id), &contrast.variant)?;
    }
    for expectation in &written.expect {
        for quantity in expectation.quantities() {
            for name in quantity.variant.iter().flat_map(OneOrMore::names) {
                check(&format!("expect.{}.variant", expectation.id), name)?;
            }
        }
    }
    Ok(())
}

/// An experiment with the levels that its cells have.
struct Declared<'e> {
    experiment: &'e Experiment,
    levels: BTreeMap<String, BTreeSet<String>>,
}

impl<'e> Declared<'e> {
    fn of(experiment: &'e Experiment) -> Self {
        let mut levels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let defaults: Cell = experiment.section.defaults();
        for (factor, level) in defaults {
            levels.entry(factor).or_default().insert(level);
        }
        for (factor, own) in experiment.written.cells.iter().flatten() {
            levels.entry(factor.clone()).or_default().extend(own.iter().cloned());
        }
        Self { experiment, levels }
    }

    fn refuse(&self, key: &str, message: &str) -> InputError {
        InputError::value(&self.experiment.file, key, message)
    }

    fn metric(&self, key: &str, name: &str) -> Result<&'static Metric, InputError> {
        let family = self.experiment.family;
        let key = format!("{key}.metric");
        let known = family.metrics().iter().map(|metric| metric.name);
        let what = format!("metric of {}", family.name());
        family
            .metric(name)
            .ok_or_else(|| InputError::unknown(&self.experiment.file, &key, &what, name, known))
    }

    /// A metric of which better and worse can be said.
    fn directed_metric(&self, key: &str, name: &str) -> Result<(), InputError> {
        if self.metric(key, name)?.better == Better::Neither {
            let message = format!("`{name}` is neither better when lower nor when higher");
            return Err(self.refuse(&format!("{key}.metric"), &message));
        }
        Ok(())
    }

    fn factor(&self, key: &str, name: &str) -> Result<(), InputError> {
        let family = self.experiment.family;
        let known = family.factors().iter().map(|factor| factor.name);
        if known.clone().any(|factor| factor == name) {
            return Ok(());
        }
        let what = format!("factor of {}", family.name());
        Err(InputError::unknown(&self.experiment.file, key, &what, name, known))
    }

    fn levels(&self, key: &str, factor: &str, levels: &[String]) -> Result<(), InputError> {
        self.factor(key, factor)?;
        let known = self.levels.get(factor);
        let is_known =
            |level: &String| level == ANY || known.is_some_and(|known| known.contains(level));
        let Some(unknown) = levels.iter().find(|level| !is_known(level)) else { return Ok(()) };
        let what = format!("level of `{factor}` that this experiment runs");
        let known = known.into_iter().flatten().map(String::as_str);
        let key = format!("{key}.{factor}");
        Err(InputError::unknown(&self.experiment.file, &key, &what, unknown, known))
    }

    fn cells<'c>(
        &self,
        key: &str,
        cells: impl Iterator<Item = (&'c String, &'c [String])>,
    ) -> Result<(), InputError> {
        let key = format!("{key}.cells");
        cells.into_iter().try_for_each(|(factor, levels)| self.levels(&key, factor, levels))
    }

    fn contrasts(&self) -> Result<(), InputError> {
        let mut ids = BTreeSet::new();
        for contrast in &self.experiment.written.analysis.contrasts {
            let key = format!("analysis.contrasts.{}", contrast.id);
            if !ids.insert(&contrast.id) {
                return Err(self.refuse(&key, "is there twice: give each contrast its own id"));
            }
            self.directed_metric(&key, &contrast.metric)?;
            let judged = [contrast.level.clone(), contrast.reference.clone()];
            self.levels(&key, &contrast.factor, &judged)?;
            self.cells(&key, contrast.cells.iter().map(|(f, l)| (f, l.as_slice())))?;
        }
        Ok(())
    }

    fn expectations(&self) -> Result<(), InputError> {
        let mut ids: Vec<&str> = Vec::new();
        for expectation in &self.experiment.written.expect {
            let key = format!("expect.{}", expectation.id);
            if ids.contains(&expectation.id.as_str()) {
                return Err(self.refuse(&key, "is there twice: give each expectation its own id"));
            }
            self.form(&key, expectation)?;
            for quantity in expectation.quantities() {
                self.quantity(&key, quantity)?;
            }
            self.cells(&key, expectation.cells.iter().map(|(f, l)| (f, l.names())))?;
            self.references(&key, expectation, &ids)?;
            ids.push(&expectation.id);
        }
        Ok(())
    }

    /// Exactly one thing to rest on, and what that one needs.
    fn form(&self, key: &str, expectation: &Expectation) -> Result<(), InputError> {
        let forms = [
            expectation.value.is_some(),
            expectation.contrast.is_some(),
            !expectation.all_of.is_empty(),
            expectation.not_testable.is_some(),
        ];
        if forms.into_iter().filter(|is_there| *is_there).count() != 1 {
            let message = "needs exactly one of `value`, `contrast`, `all_of` and `not_testable`";
            return Err(self.refuse(key, message));
        }
        let bounded = expectation.at_least.is_some() || expectation.at_most.is_some();
        match &expectation.value {
            Some(_) if !bounded => Err(self.refuse(key, "needs `at_least`, `at_most`, or both")),
            Some(value) if value.variant.is_none() || value.metric.is_none() => {
                Err(self.refuse(&format!("{key}.value"), "needs `variant` and `metric`"))
            }
            Some(_) if expectation.over.is_some() && expectation.minus.is_some() => {
                Err(self.refuse(key, "has both `over` and `minus`: leave one out"))
            }
            _ if expectation.rounds && expectation.over.is_none() => {
                Err(self.refuse(&format!("{key}.rounds"), "needs a ratio: give it an `over`"))
            }
            None if bounded || expectation.over.is_some() || expectation.minus.is_some() => {
                Err(self.refuse(key, "has a bound, `over` or `minus` but no `value`"))
            }
            _ if expectation.contrast.is_some() != expectation.is.is_some() => {
                Err(self.refuse(key, "`contrast` and `is` belong together"))
            }
            _ => Ok(()),
        }
    }

    fn quantity(&self, key: &str, quantity: &Quantity) -> Result<(), InputError> {
        let several = quantity.variant.as_ref().is_some_and(|one| one.names().len() > 1)
            || !quantity.best_of.is_empty();
        let mut chosen = quantity.best_of.iter();
        if let Some(factor) = chosen.find(|one| !quantity.cells.contains_key(*one)) {
            let message = format!("needs the levels of `{factor}` to choose from in `cells`");
            return Err(self.refuse(&format!("{key}.best_of"), &message));
        }
        if let Some(metric) = &quantity.metric {
            if several {
                self.directed_metric(key, metric)?;
            }
            self.metric(key, metric)?;
        }
        self.cells(key, quantity.cells.iter().map(|(f, l)| (f, l.names())))
    }

    /// Contrasts, words and other expectations that it names.
    fn references(
        &self,
        key: &str,
        expectation: &Expectation,
        before: &[&str],
    ) -> Result<(), InputError> {
        let unknown = |key: String, what: &str, name: &str, known: Vec<&str>| {
            Err(InputError::unknown(&self.experiment.file, &key, what, name, known))
        };
        let contrasts = &self.experiment.written.analysis.contrasts;
        let contrasts: Vec<&str> = contrasts.iter().map(|one| one.id.as_str()).collect();
        if let Some(id) = expectation.contrast.as_deref().filter(|id| !contrasts.contains(id)) {
            return unknown(format!("{key}.contrast"), "declared contrast", id, contrasts);
        }
        let mut words = expectation.is.iter().flat_map(OneOrMore::names);
        if let Some(word) = words.find(|word| !OF_CONTRAST.contains(&word.as_str())) {
            return unknown(format!("{key}.is"), "outcome of a contrast", word, OF_CONTRAST.into());
        }
        let mut parts = expectation.all_of.iter();
        if let Some(id) = parts.find(|id| !before.contains(&id.as_str())) {
            let what = "expectation declared before this one";
            return unknown(format!("{key}.all_of"), what, id, before.to_vec());
        }
        Ok(())
    }
}
