//! Raw samples of one run: named columns of integers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Histogram, sha256_hex};

/// The columns of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Samples {
    /// Columns by name; the unit stands in the name.
    pub columns: BTreeMap<String, Column>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Every sample, in order.
    Raw(Vec<i64>),
    /// Only their distribution: order and pairing are gone.
    Histogram(Histogram),
}

impl Samples {
    /// Wraps raw columns.
    pub fn from_raw(columns: BTreeMap<String, Vec<i64>>) -> Self {
        Self {
            columns: columns
                .into_iter()
                .map(|(name, values)| (name, Column::Raw(values)))
                .collect(),
        }
    }

    /// The raw values of a column, `None` where it is missing or kept as a histogram.
    pub fn raw(&self, name: &str) -> Option<&[i64]> {
        match self.columns.get(name)? {
            Column::Raw(values) => Some(values),
            Column::Histogram(_) => None,
        }
    }

    /// About as many bytes as it takes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let of_column = |(name, column): (&String, &Column)| {
            let of_values = match column {
                Column::Raw(values) => size_of_val(values.as_slice()),
                Column::Histogram(histogram) => histogram.hdr_v2_deflate.len(),
            };
            (name.len() + of_values) as u64
        };
        self.columns.iter().map(of_column).sum()
    }

    /// The bytes that are stored (before compression) and the name they are stored under.
    pub(crate) fn encode(&self) -> (String, Vec<u8>) {
        let bytes = serde_json::to_vec(self).expect("columns of integers always serialise");
        (sha256_hex(&bytes), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_raw_columns_have_raw_values() {
        let mut samples = Samples::from_raw(BTreeMap::from([("a_ns".to_owned(), vec![3, -1])]));
        let distribution = Column::Histogram(Histogram::of(&[3]));
        samples.columns.insert("b_ns".to_owned(), distribution);
        assert_eq!(samples.raw("a_ns"), Some(&[3, -1][..]));
        assert_eq!((samples.raw("b_ns"), samples.raw("c_ns")), (None, None));
    }
}
