//! Which tool wrote a text.

use crate::{
    Benchmark, criterion, go, google, google_text, hyperfine, jmh, json::Json, node::Node, pytest,
    record,
};

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// As sentences name it; criterion's benchmarks are named after their folder where nothing
    /// else tells.
    pub file: &'a str,
    /// What is in it.
    pub text: &'a str,
    /// What is in the `benchmark.json` beside it, if there is one: criterion keeps the name there.
    pub beside: Option<&'a str>,
}

/// Why a file cannot be read; each sentence names the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Not one of the formats.
    #[error(
        "{file} is no result that can be imported; there are: JSON of hyperfine, criterion, JMH, \
         pytest-benchmark and Google Benchmark, the text of `go test -bench` and of Google \
         Benchmark, and what `lab import` prints"
    )]
    Unknown {
        /// The file.
        file: String,
    },
    /// Looks like JSON.
    #[error("{file} is broken JSON: {reason}")]
    Json {
        /// The file.
        file: String,
        /// Where and why.
        reason: String,
    },
    /// One of the formats, with something missing or odd.
    #[error("{file}: `{key}` should be {expected}, and is {found}")]
    Broken {
        /// The file.
        file: String,
        /// The way to the value, such as `results[0].times`.
        key: String,
        /// In words.
        expected: &'static str,
        /// In words.
        found: &'static str,
    },
    /// A line of a text.
    #[error("{file}, line {line}: expected {expected}")]
    Line {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// In words.
        expected: &'static str,
    },
    /// A file of a known tool without one benchmark.
    #[error("{file} holds no finished benchmark")]
    Empty {
        /// The file.
        file: String,
    },
}

/// The benchmarks of a file; the format is told from the content.
pub fn read(source: &Source<'_>) -> Result<Vec<Benchmark>, ImportError> {
    let file = source.file;
    let text = source.text.trim_start_matches('\u{feff}');
    let benchmarks = if record::is_record(text) {
        record::read(file, text)?
    } else if let Some(text) = go::text(text) {
        go::read(file, &text)?
    } else if google_text::is_table(text) {
        google_text::read(file, text)?
    } else if text.trim_start().starts_with(['{', '[']) {
        let value = serde_json::from_str(text).map_err(|error| ImportError::Json {
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
        json(source, &value)?
    } else {
        return Err(ImportError::Unknown { file: file.to_owned() });
    };
    if benchmarks.is_empty() {
        return Err(ImportError::Empty { file: file.to_owned() });
    }
    Ok(benchmarks)
}

fn json(source: &Source<'_>, value: &Json) -> Result<Vec<Benchmark>, ImportError> {
    let root = Node::root(source.file, value);
    let has = |key: &str| value.get(key).is_some();
    let item = value.first();
    if item.is_some_and(|item| item.get("primaryMetric").or(item.get("jmhVersion")).is_some()) {
        jmh::read(&root)
    } else if has("results") {
        hyperfine::read(&root)
    } else if has("iters") && has("times") {
        criterion::sample(&root, source.beside)
    } else if value.get("mean").is_some_and(|mean| mean.get("point_estimate").is_some()) {
        criterion::estimates(&root, source.beside)
    } else if has("benchmarks") && has("machine_info") {
        pytest::read(&root)
    } else if has("benchmarks") && has("context") {
        google::read(&root)
    } else {
        Err(ImportError::Unknown { file: source.file.to_owned() })
    }
}
