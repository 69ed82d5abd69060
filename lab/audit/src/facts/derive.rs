//! Raw data and a claim file's derivations in, facts out.

use std::collections::BTreeMap;

use super::{Facts, Group, formula::Formula, kinds};
use crate::{
    Raw, Value,
    checks::Span,
    claims::{Claims, Derive, Kind, Names, OneOrMore, RawInfo, Scope},
};

/// Why facts could not be derived.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// A formula is none.
    #[error("derive.{derive}: {message}")]
    Formula {
        /// The derivation.
        derive: String,
        /// What is wrong.
        message: String,
    },
    /// A column that a derivation names is not there.
    #[error("derive.{derive}: {raw} has no column `{column}`")]
    Column {
        /// The derivation.
        derive: String,
        /// The raw file.
        raw: String,
        /// The column.
        column: String,
    },
    /// Nothing came out.
    #[error("derive.{derive}: no row of {raw} has a value; check `value`, `only` and `without`")]
    Empty {
        /// The derivation.
        derive: String,
        /// The raw file.
        raw: String,
    },
}

/// One row of a derivation.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub subject: String,
    pub scope: Scope,
    /// The value's text, for ordering by what is no number.
    pub label: String,
    pub value: Option<f64>,
    pub other: Option<f64>,
    /// The level that an extreme is reported with.
    pub place: Option<String>,
}

/// Derives every fact that `claims` declares of the raw file `info`.
///
/// # Errors
/// Names the derivation and the column.
pub fn derive(
    claims: &Claims,
    info: &RawInfo,
    sha256: &str,
    raw: &Raw,
) -> Result<Facts, FactsError> {
    let names = Names::of(claims);
    let mut fact = Vec::new();
    for derive in claims.derive.iter().filter(|derive| derive.raw.names().contains(&info.name)) {
        let rows = rows(derive, info, raw, &names)?;
        let groups = match derive.kind {
            Kind::Summary => kinds::summary(derive, &rows),
            Kind::Identity => kinds::identity(&rows),
            Kind::Correlation => kinds::correlation(&rows),
            Kind::Welch => kinds::welch(&rows),
            Kind::Blocks => kinds::blocks(&rows),
            Kind::Lattice => kinds::lattice(&rows),
        };
        if groups.is_empty() {
            let (derive, raw) = (derive.id.clone(), info.file.clone());
            return Err(FactsError::Empty { derive, raw });
        }
        fact.extend(groups.into_iter().map(|((subject, scope), values)| Group {
            derive: derive.id.clone(),
            metric: derive.metric.clone(),
            subject,
            scope,
            values,
        }));
    }
    Ok(Facts {
        schema: 1,
        raw: info.name.clone(),
        sha256: sha256.to_owned(),
        source: info.source.clone(),
        rows: raw.rows,
        fact,
    })
}

fn rows(derive: &Derive, info: &RawInfo, raw: &Raw, names: &Names) -> Result<Vec<Row>, FactsError> {
    let read = |text: &String| {
        let wrong = |message| FactsError::Formula { derive: derive.id.clone(), message };
        Formula::parse(text).map_err(wrong)
    };
    let value = read(&derive.value)?;
    let other = derive.other.as_ref().map(read).transpose()?;
    let columns = derive.subject.iter().chain(derive.by.values()).chain(derive.place.values());
    let columns = columns.chain(derive.only.keys()).chain(derive.without.keys());
    let wanted = columns.map(String::as_str).chain(value.names());
    for column in wanted.chain(other.iter().flat_map(Formula::names)) {
        if !raw.columns.contains_key(column) {
            return Err(FactsError::Column {
                derive: derive.id.clone(),
                raw: info.file.clone(),
                column: column.to_owned(),
            });
        }
    }
    let label = |column: &str, row: usize| raw.values(column)[row].label().unwrap_or_default();
    let listed = |lists: &BTreeMap<String, OneOrMore>, row: usize| -> Vec<bool> {
        let one =
            |(column, texts): (&String, &OneOrMore)| texts.names().contains(&label(column, row));
        lists.iter().map(one).collect()
    };
    let kept = |row: &usize| {
        listed(&derive.only, *row).iter().all(|found| *found)
            && !listed(&derive.without, *row).contains(&true)
    };
    let row = |row: usize| {
        let number = |column: &str| match raw.values(column)[row] {
            Value::Number(number) => Some(Span::exact(number)),
            _ => None,
        };
        let of =
            |formula: &Formula| formula.value(&number).map(|span| span.middle() * derive.times);
        let mut scope = info.scope.clone();
        scope.extend(derive.scope.clone());
        for (factor, column) in &derive.by {
            scope.insert(factor.clone(), names.level(factor, &label(column, row)));
        }
        let subject = derive.subject.as_deref().map(|column| names.subject(&label(column, row)));
        Row {
            subject: subject.or_else(|| derive.of.clone()).unwrap_or_default(),
            scope,
            label: raw
                .columns
                .get(&derive.value)
                .map(|_| label(&derive.value, row))
                .unwrap_or_default(),
            value: of(&value),
            other: other.as_ref().and_then(of),
            place: derive
                .place
                .iter()
                .next()
                .map(|(factor, column)| names.level(factor, &label(column, row))),
        }
    };
    Ok((0..raw.rows).filter(kept).map(row).collect())
}
