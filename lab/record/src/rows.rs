//! Rows of JSON by column: lines that differ in numbers alone are one text with gaps, and what
//! stands in the gaps is packed as samples are. That takes half of what packed lines take.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
};

use crate::{
    Samples,
    pack::{self, damaged},
};

/// In the place of a number. No line of JSON holds such a letter.
const NUMBER: char = '\u{1}';
/// In the place of four hexadecimal digits of a name of samples.
const DIGITS: char = '\u{2}';
const GAPS: [char; 2] = [NUMBER, DIGITS];
/// The column with the places of lines in the file. The others end in a number: see [`gap`].
const PLACE: &str = "place";
/// Of 18 digits, every number fits.
const MOST_DIGITS: usize = 18;

type Columns = BTreeMap<String, Vec<i64>>;

/// The bytes of all whole lines of a text, which are still to be packed.
///
/// # Errors
/// A sentence where it is no text, or holds what no JSON does.
pub(crate) fn write(text: &[u8]) -> Result<Vec<u8>, String> {
    let text = str::from_utf8(text).map_err(|error| error.to_string())?;
    if text.contains(GAPS) {
        return Err("a line holds a letter that no JSON does".to_owned());
    }
    let mut kinds = BTreeMap::<String, Columns>::new();
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    for (line, place) in lines.zip(0..) {
        let (kind, values) = apart(line);
        let columns = kinds.entry(kind).or_default();
        for (name, value) in [(PLACE.to_owned(), place)].into_iter().chain(values) {
            columns.entry(name).or_default().push(value);
        }
    }
    let kinds: Vec<(String, Samples)> =
        kinds.into_iter().map(|(kind, columns)| (kind, Samples::from_raw(columns))).collect();
    pack::write(&kinds)
}

/// The lines again. `hold` is told of the bytes that are set aside, before they are.
///
/// # Errors
/// Where it cannot be read, is damaged, or `hold` refuses.
pub(crate) fn read(
    reader: impl BufRead,
    hold: impl Fn(u64) -> io::Result<()>,
) -> io::Result<String> {
    let kinds = pack::read(reader, &hold)?;
    let mut lines = BTreeMap::new();
    for (kind, samples) in &kinds {
        let column = |name: &str| samples.raw(name).ok_or_else(|| damaged("a column is missing"));
        let names = gaps(kind);
        let gaps: Vec<&[i64]> =
            names.iter().map(|name| column(name)).collect::<io::Result<Vec<_>>>()?;
        for (row, place) in column(PLACE)?.iter().enumerate() {
            hold(kind.len() as u64)?;
            if lines.insert(*place, together(kind, &gaps, row)?).is_some() {
                return Err(damaged("two lines have one place"));
            }
        }
    }
    Ok(lines.into_values().map(|line| line + "\n").collect())
}

/// A line with gaps, and by the name of each what stood in it.
fn apart(line: &str) -> (String, Vec<(String, i64)>) {
    let (mut kind, mut values, mut rest) = (String::new(), Vec::new(), line);
    let mut seen = BTreeMap::new();
    while let Some(at) = rest.find("\":") {
        let (before, after) = rest.split_at(at + 2);
        kind.push_str(before);
        rest = after;
        if let Some((value, behind)) = number(rest) {
            values.push((gap(&kind, &mut seen), value));
            kind.push(NUMBER);
            rest = behind;
        } else if let Some(name) = rest.strip_prefix('"').filter(|_| kind.ends_with("samples\":")) {
            kind.push('"');
            rest = name;
            while let Some((value, behind)) = digits(rest) {
                values.push((gap(&kind, &mut seen), value));
                kind.push(DIGITS);
                rest = behind;
            }
        }
    }
    kind.push_str(rest);
    (kind, values)
}

/// The way back, of one row of the gaps' columns.
fn together(kind: &str, gaps: &[&[i64]], row: usize) -> io::Result<String> {
    let (mut line, mut gaps) = (String::with_capacity(kind.len()), gaps.iter());
    for letter in kind.chars() {
        if !GAPS.contains(&letter) {
            line.push(letter);
            continue;
        }
        let value = gaps.next().and_then(|column| column.get(row));
        let value = value.ok_or_else(|| damaged("a column ends before its lines"))?;
        match letter {
            NUMBER => line.push_str(&value.to_string()),
            _ => line.push_str(&format!("{:04x}", (*value as i16).cast_unsigned())),
        }
    }
    Ok(line)
}

/// The names of a line's gaps, in their order.
fn gaps(kind: &str) -> Vec<String> {
    let mut seen = BTreeMap::new();
    kind.match_indices(GAPS).map(|(at, _)| gap(&kind[..at], &mut seen)).collect()
}

/// The name of the gap that follows on a text: its key, and how often that was there.
fn gap(before: &str, seen: &mut BTreeMap<String, usize>) -> String {
    let end = before.trim_end_matches([NUMBER, DIGITS, '"', ':']);
    let key = &end[end.rfind('"').map_or(0, |at| at + 1)..];
    let times = seen.entry(key.to_owned()).or_default();
    *times += 1;
    format!("{key} {times}")
}

/// A number as this lab writes one, and what is behind it.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, behind) = text.split_at(end);
    let is_plain = (1..=MOST_DIGITS).contains(&end) && (end == 1 || !digits.starts_with('0'));
    let value = digits.parse().ok().filter(|_| is_plain && behind.starts_with([',', '}', ']']))?;
    Some((value, behind))
}

/// Four digits of a name; as a number with a sign, which takes no more than two bytes.
fn digits(text: &str) -> Option<(i64, &str)> {
    let (four, behind) = text.split_at_checked(4)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let value = u16::from_str_radix(four, 16).ok().filter(|_| four.bytes().all(is_digit))?;
    Some((i64::from(value.cast_signed()), behind))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn again(text: &str) -> String {
        read(write(text.as_bytes()).unwrap().as_slice(), |_| Ok(())).unwrap()
    }

    #[test]
    fn lines_come_back_as_they_were() {
        let text = [
            r#"{"order":0,"start_ns":25744121849722,"gpu":[{"max":7},{"max":-1}],"f":1.5,"e":1e9}"#,
            r#"{"order":1,"start_ns":25744121849723,"samples":"0123456789abcdeff"}"#,
            r#"{"order":1,"start_ns":18446744073709551615,"samples":"ABCD"}"#,
            r#"{"order":007,"reason":"said \"x\":12, then","l":[1,2],"samples":null}"#,
            "",
            "é no JSON",
        ];
        let text = text.join("\n") + "\n";
        assert_eq!(again(&text), text);
        assert_eq!(again(&(text.clone() + "{\"torn\":")), text, "what was no line stays none");
        assert!(write("{\"a\":\"\u{1}\"}\n".as_bytes()).is_err());
    }

    #[test]
    fn lines_that_differ_in_numbers_alone_are_one_text() {
        let line = |order: u64| format!("{{\"order\":{order},\"samples\":\"00ff{order:08x}\"}}\n");
        let lines: String = (0..500).map(|order| line(order * 1_000)).collect();
        let bytes = write(lines.as_bytes()).unwrap();
        assert!(bytes.len() < 500 * 15, "{}", bytes.len());
        assert_eq!(again(&lines), lines);
    }

    #[test]
    fn a_text_that_is_told_a_million_times_is_held_against_the_limit() {
        let lines = "{\"long\":\"and the same in every line\"}\n".repeat(100);
        let bytes = write(lines.as_bytes()).unwrap();
        let left = std::cell::Cell::new(2_000_u64);
        let hold = |bytes: u64| {
            let less = left.get().checked_sub(bytes);
            left.set(less.ok_or_else(|| io::Error::other("too much"))?);
            Ok(())
        };
        assert!(read(bytes.as_slice(), hold).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read(lines in prop::collection::vec("[^\n\u{1}\u{2}]*", 0..9)) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(again(&text), text);
        }

        #[test]
        fn what_is_cut_short_or_changed_is_no_panic(at in 0usize..300, byte in any::<u8>()) {
            let text = "{\"order\":1,\"samples\":\"0011\"}\n{\"order\":30,\"samples\":\"0011\"}\n";
            let mut bytes = write(text.as_bytes()).unwrap();
            prop_assert!(read(&bytes[..at.min(bytes.len() - 1)], |_| Ok(())).is_err());
            let place = at % bytes.len();
            bytes[place] = byte;
            let _ = read(bytes.as_slice(), |_| Ok(()));
        }
    }
}
