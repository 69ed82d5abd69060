//! The runs as a table in Apache Parquet, whose columns have types.

use std::sync::Arc;

use lab_report::Flat;
use parquet::{
    basic::{LogicalType, Repetition, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::Result,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};

/// A column's values; `None` is null in the file.
#[derive(Debug, PartialEq)]
enum Column {
    Flags(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<ByteArray>>),
}

/// The file's bytes: a column for each one of `flat`, which may all hold nulls.
///
/// A metric is a DOUBLE in every file. What identifies a run has the narrowest type that holds all
/// its values, so that the levels 1, 2, 4 of a factor sort as numbers.
pub(super) fn table(flat: &Flat) -> Result<Vec<u8>> {
    let first_metric = flat.columns.len() - flat.metrics;
    let column = |at: usize| {
        let texts: Vec<&str> = flat.rows.iter().map(|row| row[at].as_str()).collect();
        Column::of(&texts, at >= first_metric)
    };
    let columns: Vec<Column> = (0..flat.columns.len()).map(column).collect();
    let names = distinct(&flat.columns);
    let fields = names.iter().zip(&columns).map(|(name, column)| {
        let built = Type::primitive_type_builder(name, column.physical())
            .with_logical_type(column.logical())
            .with_repetition(Repetition::OPTIONAL);
        built.build().map(Arc::new)
    });
    let schema =
        Type::group_type_builder("runs").with_fields(fields.collect::<Result<_>>()?).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties)?;
    if !flat.rows.is_empty() {
        let mut group = writer.next_row_group()?;
        columns.iter().try_for_each(|column| column.write(&mut group))?;
        group.close()?;
    }
    writer.into_inner()
}

/// The names, of which a second one of its kind ends in `_2`: a factor may be called `order`, as
/// the place of a run is, and not every reader takes two columns of one name.
fn distinct(names: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = [name.clone()].into_iter().chain(numbered);
        all.extend(candidates.find(|candidate| !all.contains(candidate)));
    }
    all
}

impl Column {
    /// The narrowest type that holds all texts, of which empty ones are absent.
    fn of(texts: &[&str], is_metric: bool) -> Self {
        // A level that is the word `inf` is a word.
        let number = |text: &str| text.parse().ok().filter(|it: &f64| is_metric || it.is_finite());
        let numbers = || all(texts, number).map(Self::Numbers);
        let narrow = || {
            let flags = all(texts, |text| text.parse().ok()).map(Self::Flags);
            flags.or_else(|| all(texts, |text| text.parse().ok()).map(Self::Integers))
        };
        let typed = if is_metric || texts.iter().all(|text| text.is_empty()) {
            numbers()
        } else {
            narrow().or_else(numbers)
        };
        typed.unwrap_or_else(|| {
            let text = |text: &&str| (!text.is_empty()).then(|| ByteArray::from(*text));
            Self::Texts(texts.iter().map(text).collect())
        })
    }

    fn physical(&self) -> Physical {
        match self {
            Self::Flags(_) => Physical::BOOLEAN,
            Self::Integers(_) => Physical::INT64,
            Self::Numbers(_) => Physical::DOUBLE,
            Self::Texts(_) => Physical::BYTE_ARRAY,
        }
    }

    fn logical(&self) -> Option<LogicalType> {
        matches!(self, Self::Texts(_)).then_some(LogicalType::String)
    }

    fn write<W: std::io::Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        match self {
            Self::Flags(values) => write::<BoolType, W>(group, values),
            Self::Integers(values) => write::<Int64Type, W>(group, values),
            Self::Numbers(values) => write::<DoubleType, W>(group, values),
            Self::Texts(values) => write::<ByteArrayType, W>(group, values),
        }
    }
}

/// Every text as a value; `None` where one that is not empty is none.
fn all<T>(texts: &[&str], parse: impl Fn(&str) -> Option<T>) -> Option<Vec<Option<T>>> {
    let value = |text: &&str| match *text {
        "" => Some(None),
        text => parse(text).map(Some),
    };
    texts.iter().map(value).collect()
}

/// Writes the next column of a group. The level of a value is 1 and that of a null 0, after which
/// no value is stored.
fn write<D: DataType, W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[Option<D::T>],
) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<D::T> = values.iter().flatten().cloned().collect();
    let mut column = group.next_column()?.expect("the schema has a column for each of ours");
    column.typed::<D>().write_batch(&present, Some(&levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_narrowest_type_that_holds_all_its_values() {
        let of = |texts: &[&str]| Column::of(texts, false);
        assert_eq!(of(&["true", "false"]), Column::Flags(vec![Some(true), Some(false)]));
        assert_eq!(of(&["1", "", "-4"]), Column::Integers(vec![Some(1), None, Some(-4)]));
        assert_eq!(of(&["1", "2.5"]), Column::Numbers(vec![Some(1.0), Some(2.5)]));
        let text = |text: &str| Some(ByteArray::from(text));
        assert_eq!(of(&["1", "cores", ""]), Column::Texts(vec![text("1"), text("cores"), None]));
        assert_eq!(of(&["inf", "8"]), Column::Texts(vec![text("inf"), text("8")]));
        assert_eq!(of(&["", ""]), Column::Numbers(vec![None, None]));
        assert_eq!(Column::of(&["3", ""], true), Column::Numbers(vec![Some(3.0), None]));
    }

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let names = ["order", "load", "order", "order"].map(str::to_owned);
        assert_eq!(distinct(&names), ["order", "load", "order_2", "order_3"]);
    }
}
