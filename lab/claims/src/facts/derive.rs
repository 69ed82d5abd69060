//! Raw data and a claim file's derivations in, facts out.

use super::{Facts, Group, kinds};
use crate::{Claims, Derive, Kind, Names, OneOrMore, RawInfo, Scope};
use lab_audit::{Expression, Raw, Value, checks::Span};

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
    /// The cell within the group.
    pub cell: Option<String>,
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

/// A derivation's reader of rows.
struct Reader<'a> {
    derive: &'a Derive,
    info: &'a RawInfo,
    raw: &'a Raw,
    names: &'a Names,
    value: &'a Expression,
    other: Option<&'a Expression>,
}

fn rows(derive: &Derive, info: &RawInfo, raw: &Raw, names: &Names) -> Result<Vec<Row>, FactsError> {
    let read = |text: &String| {
        let message = format!("`{text}` is no formula");
        let wrong = FactsError::Formula { derive: derive.id.clone(), message };
        Expression::parse(text).ok_or(wrong)
    };
    let value = read(&derive.value)?;
    let other = derive.other.as_ref().map(read).transpose()?;
    let columns = columns(derive, [&value].into_iter().chain(&other));
    if let Some(column) = columns.into_iter().find(|column| !raw.columns.contains_key(column)) {
        let (derive, raw) = (derive.id.clone(), info.file.clone());
        return Err(FactsError::Column { derive, raw, column });
    }
    let reader = Reader { derive, info, raw, names, value: &value, other: other.as_ref() };
    Ok((0..raw.rows).filter(|&row| reader.keeps(row)).map(|row| reader.row(row)).collect())
}

/// Every column that a derivation names.
fn columns<'f>(derive: &Derive, formulas: impl Iterator<Item = &'f Expression>) -> Vec<String> {
    let Derive { subject, by, place, cells, only, without, .. } = derive;
    let columns = subject.iter().chain(by.values()).chain(place.values());
    let columns = columns.chain(cells.values()).chain(only.keys()).chain(without.keys());
    let names = formulas.flat_map(Expression::names).map(str::to_owned);
    columns.cloned().chain(names).collect()
}

impl Reader<'_> {
    fn label(&self, column: &str, row: usize) -> String {
        self.raw.values(column)[row].label().unwrap_or_default()
    }

    fn keeps(&self, row: usize) -> bool {
        let listed = |(column, texts): (&String, &OneOrMore)| {
            texts.names().contains(&self.label(column, row))
        };
        self.derive.only.iter().all(listed) && !self.derive.without.iter().any(listed)
    }

    fn row(&self, row: usize) -> Row {
        let number = |column: &str| match self.raw.values(column)[row] {
            Value::Number(number) => Some(Span::exact(number)),
            _ => None,
        };
        let of = |formula: &Expression| {
            formula.value(&number).map(|span| span.middle() * self.derive.times)
        };
        let level = |(factor, column): (&String, &String)| {
            self.names.level(factor, &self.label(column, row))
        };
        let mut scope = self.info.scope.clone();
        scope.extend(self.derive.scope.clone());
        let by = self.derive.by.iter().map(|by| (by.0.clone(), level(by)));
        scope.extend(by);
        let subject = self.derive.subject.as_deref();
        let subject = subject.map(|column| self.names.subject(&self.label(column, row)));
        let text = &self.derive.value;
        let is_column = self.raw.columns.contains_key(text);
        Row {
            subject: subject.or_else(|| self.derive.of.clone()).unwrap_or_default(),
            scope,
            label: if is_column { self.label(text, row) } else { String::new() },
            value: of(self.value),
            other: self.other.and_then(of),
            place: self.derive.place.iter().next().map(level),
            cell: self.derive.cells.iter().next().map(level),
        }
    }
}
