//! Which tool wrote a text.

use crate::{
    Contents, Tool, criterion, criterion_messages, go, google, google_text, hyperfine, jmh,
    json::Json, lenient, node::Node, pytest, reading::Reading, record, requests,
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
         Benchmark, requests of aiperf, guidellm, k6 and vLLM's benchmark, and what `lab import` \
         prints"
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
    /// Of criterion: a fraction, which reads like a time.
    #[error("{file} holds a relative change of criterion, no time; give `new/sample.json`")]
    Change {
        /// The file.
        file: String,
    },
    /// Lines with numbers and no names.
    #[error("{file}: no `Benchmark…` stands before the results of {lines}")]
    Nameless {
        /// The file.
        file: String,
        /// Such as `lines 3, 4`.
        lines: String,
    },
    /// Nothing but other units.
    #[error("{file} holds no time a call, but {units}, which are not judged")]
    NoTime {
        /// The file.
        file: String,
        /// Their names.
        units: String,
    },
    /// A file of a known tool without one benchmark.
    #[error("{file} holds no finished benchmark")]
    Empty {
        /// The file.
        file: String,
    },
}

/// The benchmarks of a file; the format is told from the content. What cannot be used is named and
/// left out; a file of which nothing is left is an error.
pub fn read(source: &Source<'_>) -> Result<Contents, ImportError> {
    let file = source.file;
    let text = source.text.trim_start_matches('\u{feff}');
    if record::is_record(text) {
        record::read(file, text)
    } else if let Some(text) = go::text(text) {
        go::read(file, &text)
    } else if google_text::is_table(text) {
        let mut into = Reading::new(Tool::GoogleBenchmark, file);
        google_text::read(text, &mut into);
        into.finish()
    } else if criterion_messages::is_messages(text) {
        let mut into = Reading::new(Tool::Criterion, file);
        criterion_messages::read(text, &mut into);
        into.finish()
    } else if let Some(tool) = requests::tool_of_lines(text) {
        let mut into = Reading::new(tool, file);
        requests::lines(text, &mut into);
        into.finish()
    } else if text.trim_start().starts_with(['{', '[']) {
        json(source, &parsed(file, text)?)
    } else {
        Err(ImportError::Unknown { file: file.to_owned() })
    }
}

fn parsed(file: &str, text: &str) -> Result<Json, ImportError> {
    let strict = serde_json::from_str(text);
    let value = strict.or_else(|error| match lenient::without_nan(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    });
    value.map_err(|error| ImportError::Json { file: file.to_owned(), reason: error.to_string() })
}

fn json(source: &Source<'_>, value: &Json) -> Result<Contents, ImportError> {
    let root = Node::root(source.file, value);
    let has = |key: &str| value.get(key).is_some();
    let item = value.first();
    let reading = |tool| Reading::new(tool, source.file);
    let mut into;
    if item.is_some_and(|item| item.get("primaryMetric").or(item.get("jmhVersion")).is_some()) {
        into = reading(Tool::Jmh);
        jmh::read(&root, &mut into)?;
    } else if has("results") {
        into = reading(Tool::Hyperfine);
        hyperfine::read(&root, &mut into)?;
    } else if has("iters") && has("times") {
        into = reading(Tool::Criterion);
        criterion::sample(&root, source.beside, &mut into)?;
    } else if value.get("mean").is_some_and(|mean| mean.get("point_estimate").is_some()) {
        into = reading(Tool::Criterion);
        criterion::estimates(&root, source.beside, &mut into)?;
    } else if has("benchmarks") && has("machine_info") {
        into = reading(Tool::PytestBenchmark);
        pytest::read(&root, &mut into)?;
    } else if has("benchmarks") && has("context") {
        into = reading(Tool::GoogleBenchmark);
        google::read(&root, &mut into)?;
    } else if has("benchmarks") && has("config") {
        into = reading(Tool::Guidellm);
        requests::guidellm(&root, &mut into)?;
    } else if has("ttfts") && has("itls") {
        into = reading(Tool::Vllm);
        requests::vllm(&root, &mut into)?;
    } else {
        return Err(ImportError::Unknown { file: source.file.to_owned() });
    }
    into.finish()
}
