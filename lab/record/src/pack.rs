//! The samples of all runs of an export in one packed file: columns together, and of each column
//! what differs from its neighbours. Integers lie byte by byte, the low bytes of a column first,
//! for the high ones are nearly all alike: that takes half of what the same numbers take as text.
//!
//! A line of JSON names the runs and the columns, in the order of what follows: for each column how
//! many values each run has, and these values. A list of integers is their number, how many bytes
//! each takes, and the first bytes of all, then the second ones, and so on.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Read},
};

use serde::{Deserialize, Serialize};

use crate::{Column, Histogram, Samples};

/// The samples of runs by the beginning of their names, in the order of the runs.
pub(crate) type Named = (String, Samples);

#[derive(Serialize, Deserialize)]
struct Head {
    names: Vec<String>,
    columns: Vec<Kept>,
}

/// A column, and how its values are written.
#[derive(Serialize, Deserialize)]
struct Kept {
    name: String,
    form: Form,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    /// Every sample.
    Raw(Less),
    /// Distributions.
    Histograms,
}

/// What is taken away from each value.
#[derive(Clone, Serialize, Deserialize)]
struct Less {
    /// What another column, which stands before this one, has in the same row.
    column: Option<String>,
    /// The value before it.
    last: bool,
    /// What divides all that is left.
    #[serde(default = "one")]
    by: i64,
}

fn one() -> i64 {
    1
}

/// Of one column: what each run has, where it has anything.
type Rows = Vec<Option<Vec<i64>>>;

/// The bytes of such a file, which are still to be packed.
///
/// # Errors
/// A sentence where a histogram cannot be read.
pub(crate) fn write(runs: &[Named]) -> Result<Vec<u8>, String> {
    let mut names: Vec<&String> =
        runs.iter().flat_map(|(_, samples)| samples.columns.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let (mut columns, mut bytes) = (Vec::new(), Vec::new());
    let mut before: Vec<(&String, Rows)> = Vec::new();
    for name in names {
        let raw: Rows =
            runs.iter().map(|(_, samples)| samples.raw(name).map(<[i64]>::to_vec)).collect();
        if raw.iter().any(Option::is_some) {
            let (less, rows) = cheapest(&raw, &before);
            put_rows(&mut bytes, &rows);
            columns.push(Kept { name: name.clone(), form: Form::Raw(less) });
            before.push((name, raw));
        }
        let of_run = |(_, samples): &Named| match samples.columns.get(name) {
            Some(Column::Histogram(histogram)) => histogram.counted().map(Some),
            _ => Ok(None),
        };
        let counted = runs.iter().map(of_run).collect::<Result<Rows, String>>()?;
        if counted.iter().any(Option::is_some) {
            put_rows(&mut bytes, &counted);
            columns.push(Kept { name: name.clone(), form: Form::Histograms });
        }
    }
    let head = Head { names: runs.iter().map(|(name, _)| name.clone()).collect(), columns };
    let mut whole = serde_json::to_vec(&head).expect("names always serialise");
    whole.push(b'\n');
    whole.extend(bytes);
    Ok(whole)
}

/// What such a file holds. `hold` is told of the bytes that are set aside, before they are.
///
/// # Errors
/// Where it cannot be read, is damaged, or `hold` refuses.
pub(crate) fn read(
    mut reader: impl BufRead,
    hold: impl Fn(u64) -> io::Result<()>,
) -> io::Result<BTreeMap<String, Samples>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let Head { names, columns } = serde_json::from_str(&line)?;
    let mut samples = vec![Samples::default(); names.len()];
    for Kept { name, form } in columns {
        let rows = take_rows(&mut reader, names.len(), &hold)?;
        for (of_run, values) in samples.iter_mut().zip(rows) {
            let Some(mut values) = values else { continue };
            let column = match &form {
                Form::Raw(less) => {
                    together(&mut values, less, of_run);
                    Column::Raw(values)
                }
                Form::Histograms => {
                    Column::Histogram(Histogram::of_counted(&values).map_err(damaged)?)
                }
            };
            of_run.columns.insert(name.clone(), column);
        }
    }
    Ok(names.into_iter().zip(samples).collect())
}

/// What leaves the fewest bits, and what it leaves: nothing is taken, or another column, or the
/// last value as well.
fn cheapest(raw: &Rows, before: &[(&String, Rows)]) -> (Less, Rows) {
    let columns = before.iter().map(|(name, _)| Some((*name).clone()));
    let all = [None].into_iter().chain(columns);
    let all = all.flat_map(|column| [false, true].map(|last| (column.clone(), last)));
    let left = all.map(|(column, last)| {
        let mut less = Less { column, last, by: 1 };
        let mut rows = apart(raw, &less, before);
        less.by = divisor(&rows);
        rows.iter_mut().flatten().flatten().for_each(|value| *value /= less.by);
        (less, rows)
    });
    let bits = |(_, rows): &(Less, Rows)| -> u64 {
        let values = rows.iter().flatten().flatten();
        values.map(|value| u64::from(u64::BITS - folded(*value).leading_zeros())).sum()
    };
    left.min_by_key(bits).expect("to take nothing is one way")
}

/// The largest number that divides all values; 1 where they are all 0.
fn divisor(rows: &Rows) -> i64 {
    let of_two = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let all = rows.iter().flatten().flatten().map(|value| value.unsigned_abs());
    i64::try_from(all.fold(0, of_two)).map_or(1, |by| by.max(1))
}

fn apart(raw: &Rows, less: &Less, before: &[(&String, Rows)]) -> Rows {
    let other = |name: &String| before.iter().find(|(before, _)| *before == name);
    let other = less.column.as_ref().and_then(other).map(|(_, rows)| rows);
    let one = |(place, values): (usize, &Option<Vec<i64>>)| {
        let mut values = values.clone()?;
        let other = other.and_then(|rows| rows[place].as_ref());
        if let Some(other) = other.filter(|other| other.len() == values.len()) {
            values.iter_mut().zip(other).for_each(|(one, other)| *one = one.wrapping_sub(*other));
        }
        if less.last {
            let mut last = 0;
            for value in &mut values {
                (last, *value) = (*value, value.wrapping_sub(last));
            }
        }
        Some(values)
    };
    raw.iter().enumerate().map(one).collect()
}

/// The way back.
fn together(values: &mut [i64], less: &Less, of_run: &Samples) {
    values.iter_mut().for_each(|value| *value = value.wrapping_mul(less.by));
    if less.last {
        let mut last = 0i64;
        for value in values.iter_mut() {
            last = last.wrapping_add(*value);
            *value = last;
        }
    }
    let other = less.column.as_ref().and_then(|name| of_run.raw(name));
    if let Some(other) = other.filter(|other| other.len() == values.len()) {
        values.iter_mut().zip(other).for_each(|(one, other)| *one = one.wrapping_add(*other));
    }
}

/// How many values each run has, one more than that, for a run may have a column without values.
fn put_rows(bytes: &mut Vec<u8>, rows: &Rows) {
    let length = |row: &Option<Vec<i64>>| row.as_ref().map_or(0, |row| row.len() as i64 + 1);
    put(bytes, &rows.iter().map(length).collect::<Vec<_>>());
    put(bytes, &rows.iter().flatten().flatten().copied().collect::<Vec<_>>());
}

fn take_rows(
    reader: &mut impl Read,
    runs: usize,
    hold: &impl Fn(u64) -> io::Result<()>,
) -> io::Result<Rows> {
    let (lengths, values) = (take(reader, hold)?, take(reader, hold)?);
    let mut rest = values.as_slice();
    let mut row = |length: i64| match length {
        0 => Ok(None),
        _ => {
            let count = usize::try_from(length - 1).ok();
            let (row, after) = count
                .and_then(|count| rest.split_at_checked(count))
                .ok_or_else(|| damaged("fewer values than its runs have"))?;
            rest = after;
            Ok(Some(row.to_vec()))
        }
    };
    let rows = lengths.into_iter().map(&mut row).collect::<io::Result<Rows>>()?;
    if rows.len() != runs || !rest.is_empty() {
        return Err(damaged("other values than its runs have"));
    }
    Ok(rows)
}

fn put(bytes: &mut Vec<u8>, values: &[i64]) {
    let values: Vec<[u8; 8]> = values.iter().map(|value| folded(*value).to_le_bytes()).collect();
    let is_used = |width: &usize| values.iter().any(|value| value[*width] != 0);
    let width = (0..8).rev().find(is_used).map_or(1, |last| last + 1);
    bytes.extend((values.len() as u64).to_le_bytes());
    bytes.push(width as u8);
    (0..width).for_each(|place| bytes.extend(values.iter().map(|value| value[place])));
}

fn take(reader: &mut impl Read, hold: &impl Fn(u64) -> io::Result<()>) -> io::Result<Vec<i64>> {
    let (mut count, mut width) = ([0; 8], [0; 1]);
    reader.read_exact(&mut count)?;
    reader.read_exact(&mut width)?;
    let count = u64::from_le_bytes(count);
    let width = u32::from(width[0]);
    if !(1..=8).contains(&width) {
        return Err(damaged("integers of no byte or of more than eight"));
    }
    let mut values: Vec<u64> = Vec::new();
    for place in 0..width {
        // As many as are there, not as many as it says.
        let mut bytes = Vec::new();
        reader.take(count).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != count {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if place == 0 {
            hold(count.saturating_mul(8))?;
            values.resize(bytes.len(), 0);
        }
        let all = values.iter_mut().zip(bytes);
        all.for_each(|(value, byte)| *value |= u64::from(byte) << (8 * place));
    }
    Ok(values.into_iter().map(unfolded).collect())
}

/// Small numbers below zero become small ones above it.
fn folded(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unfolded(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

pub(crate) fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column() -> impl Strategy<Value = Column> {
        prop_oneof![
            prop::collection::vec(any::<i64>(), 0..5).prop_map(Column::Raw),
            prop::collection::vec(-5i64..9_000_000_000, 0..9)
                .prop_map(|values| Column::Histogram(Histogram::of(&values))),
        ]
    }

    fn columns() -> impl Strategy<Value = BTreeMap<String, Column>> {
        prop::collection::btree_map("[a-c]", column(), 0..4)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(runs in prop::collection::vec(columns(), 0..6)) {
            let name = |(place, columns)| (format!("{place:02}"), Samples { columns });
            let runs: Vec<Named> = runs.into_iter().enumerate().map(name).collect();
            let bytes = write(&runs).unwrap();
            let held = read(bytes.as_slice(), |_| Ok(())).unwrap();
            prop_assert_eq!(held.into_iter().collect::<Vec<_>>(), runs);
        }

        #[test]
        fn what_is_cut_short_or_changed_is_no_panic(at in 0usize..200, byte in any::<u8>()) {
            let samples = Samples::from_raw(BTreeMap::from([("a".to_owned(), vec![1, 2, 300])]));
            let mut bytes = write(&[("run".to_owned(), samples)]).unwrap();
            prop_assert!(read(&bytes[..at.min(bytes.len() - 1)], |_| Ok(())).is_err());
            let place = at % bytes.len();
            bytes[place] = byte;
            let _ = read(bytes.as_slice(), |_| Ok(()));
        }
    }

    #[test]
    fn more_than_is_there_is_not_set_aside() {
        let mut bytes = br#"{"names":["a"],"columns":[{"name":"x","form":"histograms"}]}"#.to_vec();
        bytes.push(b'\n');
        bytes.extend(u64::MAX.to_le_bytes());
        bytes.push(1);
        assert!(read(bytes.as_slice(), |_| Ok(())).is_err());
        let refuse = |_| Err(io::Error::other("too much"));
        let small = write(&[("a".to_owned(), Samples::from_raw([("x".into(), vec![1])].into()))]);
        assert!(read(small.unwrap().as_slice(), refuse).is_err());
    }
}
