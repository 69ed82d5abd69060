//! The command line of a person who searches: `--search QUERY [PATH…] [OPTION…]`.

use std::ffi::OsString;
use std::path::PathBuf;

use lab_protocol::engines::{Advise, Granularity, Parser, Query, Read, Workload};

/// Messages that are shown where nobody says how many.
const LIMIT: u32 = 50;

/// What `--help` says of it.
pub(crate) const HELP: &str = "\
A search for a person: --search QUERY [PATH…] [OPTION…]
Looks through every *.jsonl below the paths (the current folder where none is named; a file is
searched whatever its name) and shows the messages that match, newest first.

  QUERY  words that must all be there, \"quoted\" or 'quoted'; AND, OR, NOT, parentheses;
         /regex/ with the flags i, m, s, u; \"\" for every message
  --role ROLE, --session ID, --project DIR   only messages of these
  --after TIME, --since TIME, --before TIME  only messages of that time (RFC 3339)
  --case-sensitive                           letters match in their own case only
  --limit N                                  show so many at most [50]; `all` for all
  --output text|json|jsonl                   [text]
  --                                         what follows is no option

Exit codes of a search: 0 something was found, 1 nothing was, 2 an error, also where something was
found: a bad query or option, a path that is not there, a file that cannot be read";

/// How messages are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// For the eye.
    Text,
    /// One object.
    Json,
    /// An object per message and line.
    Jsonl,
}

/// What a person asks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) query: Query,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) output: Output,
}

impl Asked {
    /// Reads what follows `--search`.
    ///
    /// # Errors
    /// A sentence that names the argument.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, String> {
        let mut query = Query { limit: Some(LIMIT), ..Query::default() };
        let (mut text, mut roots, mut output) = (None, Vec::new(), Output::Text);
        let mut rest = arguments.iter();
        let mut options = true;
        while let Some(argument) = rest.next() {
            let option = argument.to_str().filter(|text| options && text.starts_with("--"));
            let mut value = || {
                let name = option.unwrap_or_default();
                let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
                value.to_str().map(str::to_owned).ok_or_else(|| format!("{name} is no UTF-8"))
            };
            match option {
                Some("--") => options = false,
                Some("--role") => query.role = Some(value()?),
                Some("--session") => query.session = Some(value()?),
                Some("--project") => query.project = Some(value()?),
                Some("--after" | "--since") => query.after = Some(value()?),
                Some("--before") => query.before = Some(value()?),
                Some("--case-sensitive") => query.case_sensitive = true,
                Some("--limit") => query.limit = limit(&value()?)?,
                Some("--output") => output = Output::of(&value()?)?,
                Some(other) => return Err(format!("no option {other}: see --help")),
                None if text.is_none() => {
                    let utf8 = argument.to_str().ok_or("the query is no UTF-8")?;
                    text = Some(utf8.to_owned());
                }
                None => roots.push(PathBuf::from(argument)),
            }
        }
        query.text = text.ok_or("--search needs a query; \"\" finds every message")?;
        if roots.is_empty() {
            roots.push(PathBuf::from("."));
        }
        Ok(Self { query, roots, output })
    }

    /// The same as an engine takes it, everything else left to the engine.
    pub(crate) fn workload(&self) -> Workload {
        Workload {
            corpus: String::new(),
            query: self.query.clone(),
            threads: None,
            read: Read::Buffered,
            chunk: Granularity::Own,
            buffer_bytes: None,
            buffer_adapts: false,
            channel_bound: None,
            semaphore: None,
            result_capacity: 0,
            prefilter: true,
            parser: Parser::Spans,
            advise: Advise::None,
            cold: false,
        }
    }
}

impl Output {
    fn of(name: &str) -> Result<Self, String> {
        match name {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            "jsonl" => Ok(Self::Jsonl),
            _ => Err(format!("no output {name}: text, json or jsonl")),
        }
    }
}

fn limit(value: &str) -> Result<Option<u32>, String> {
    match value {
        "all" => Ok(None),
        _ => value.parse().map(Some).map_err(|_| format!("--limit {value}: a number or `all`")),
    }
}
