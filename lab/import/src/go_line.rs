//! What a line of Go's benchmark format says.

pub(crate) enum Line<'a> {
    /// Numbers with their units, and the name where it stands on the line.
    Result(Option<&'a str>, Vec<(f64, &'a str)>),
    /// A name alone, or before what the benchmark logged: its result may follow.
    Name(&'a str),
    /// A name and `ns/op` without numbers between.
    Broken,
    /// The name of a benchmark of which a run failed.
    Failed(&'a str),
    /// `key: value`.
    Setting(&'a str, &'a str),
    /// Of a process.
    End,
    Other,
}

/// Bytes of a line; of a longer one the words alone would take many times its room.
const LONGEST: usize = 1 << 16;
/// How a name begins.
const NAME: &str = "Benchmark";
const FAILED: &str = "--- FAIL: ";

impl<'a> Line<'a> {
    pub(crate) fn of(line: &'a str) -> Self {
        if line.len() > LONGEST {
            return Self::Other;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { return Self::Other };
        if let Some((_, rest)) = line.split_once(FAILED) {
            let name = rest.split_whitespace().next().filter(|name| is_name(name));
            return name.map_or(Self::Other, Self::Failed);
        }
        if is_name(first) {
            return match values(&words[1..]) {
                Some(values) => Self::Result(Some(first), values),
                None if words.contains(&"ns/op") => Self::Broken,
                // Logs have words that begin so too.
                None if *first == NAME || first.ends_with(':') => Self::Other,
                None => Self::Name(first),
            };
        }
        if matches!(line.trim(), "PASS" | "FAIL") || matches!(*first, "ok" | "FAIL") {
            return Self::End;
        }
        match values(&words) {
            Some(values) if values.iter().any(|(_, unit)| unit.contains('/')) => {
                Self::Result(None, values)
            }
            _ => setting(line).map_or(Self::Other, |(key, value)| Self::Setting(key, value)),
        }
    }
}

/// `Benchmark` and something that does not go on with the word.
fn is_name(word: &str) -> bool {
    let rest = word.strip_prefix(NAME);
    rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

/// Iterations and after them numbers with units up to the end of the line, behind what a benchmark
/// may have logged.
fn values<'a>(words: &[&'a str]) -> Option<Vec<(f64, &'a str)>> {
    let number = |word: &str| word.parse::<f64>().ok();
    let pairs = |words: &[&'a str]| -> Option<Vec<(f64, &'a str)>> {
        let (pairs, rest) = words.as_chunks::<2>();
        let is_whole = rest.is_empty() && !pairs.is_empty();
        let pair = |[value, unit]: &[&'a str; 2]| Some((number(value)?, *unit));
        let is_unit = |[_, unit]: &[&'a str; 2]| number(unit).is_none();
        (is_whole && pairs.iter().all(is_unit)).then(|| pairs.iter().map(pair).collect())?
    };
    let counts = (0..words.len()).filter(|at| words[*at].parse::<u64>().is_ok());
    counts.into_iter().find_map(|at| pairs(&words[at + 1..]))
}

fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(|first: char| first.is_ascii_lowercase())
        && !key.contains(|letter: char| letter.is_whitespace() || letter.is_uppercase());
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then_some((key, value.trim()))
}
