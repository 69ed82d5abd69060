//! The command line: `jsonl-search QUERY [PATH…] [OPTION…]`.

use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::thread::available_parallelism;

use crate::again::Texts;
use crate::kernel::{Plan, Showing};
use crate::parse::{Kind, Scope};
use crate::query::{Query, QueryError};
use crate::render::{Output, Style};
use crate::{Prefilter, Read, Wanted};

/// Messages that are shown where nobody says how many.
const LIMIT: u32 = 50;

/// What `--help` says of it.
pub(crate) const HELP: &str = "\
jsonl-search QUERY [PATH…] [OPTION…]: finds messages in chat sessions

Looks through every *.jsonl below the paths (the current folder where none is named; a file is
searched whatever its name) and shows the messages that match, newest first.

  QUERY  words that must all be there, \"quoted\" or 'quoted'; AND, OR, NOT, parentheses;
         /regex/ with the flags i, m, s, u; \"\" for every message
  --in text|tools|thinking|all               search what was said, what tools were given and printed,
                                             what a model thought, or all of these [all]
  --role ROLE, --session ID, --project DIR   only messages of these
  --after TIME, --since TIME, --before TIME  only messages of that time (RFC 3339)
  --case-sensitive                           letters match in their own case only
  --limit N                                  show so many at most [50]; `all` for all
  --output text|json|jsonl                   [text]
  --escape auto|always|never                 spell out control characters of messages and names,
                                             which a terminal obeys [auto: on a terminal]
  --threads N                                worker threads [as many as CPUs]
  --read auto|buffered|mmap                  how files are read [auto: large ones are mapped]
  --help                                     print this
  --                                         what follows is no option

A path that is no UTF-8 is written as it is to a pipe, as $'a\\xff' to a terminal, and in JSON with
its bytes in hexadecimal as path_hex.

Exit codes: 0 something was found, 1 nothing was, 2 an error, also where something was
found: a bad query or option, a path that is not there, a file or folder that cannot be read";

/// What a person asks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) query: Wanted,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) style: Style,
    scope: Scope,
    limit: Option<u32>,
    threads: Option<u32>,
    read: Read,
}

impl Asked {
    /// Reads the arguments; `None` where they ask for help.
    ///
    /// # Errors
    /// A sentence that names the argument.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Option<Self>, String> {
        let mut query = Wanted::default();
        let (mut limit, mut scope) = (Some(LIMIT), Scope::ALL);
        let (mut text, mut roots, mut output) = (None, Vec::new(), Output::Text);
        let (mut threads, mut read, mut escapes) = (None, Read::Auto, None);
        let mut rest = arguments.iter();
        let mut options = true;
        while let Some(argument) = rest.next() {
            let is_option = |text: &&str| options && (text.starts_with("--") || *text == "-h");
            let option = argument.to_str().filter(is_option);
            let mut value = || {
                let name = option.unwrap_or_default();
                let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
                value.to_str().map(str::to_owned).ok_or_else(|| format!("{name} is no UTF-8"))
            };
            match option {
                Some("--help" | "-h") => return Ok(None),
                Some("--") => options = false,
                Some("--role") => query.role = Some(value()?),
                Some("--session") => query.session = Some(value()?),
                Some("--project") => query.project = Some(value()?),
                Some("--after" | "--since") => query.after = Some(value()?),
                Some("--before") => query.before = Some(value()?),
                Some("--case-sensitive") => query.case_sensitive = true,
                Some("--limit") => limit = most(&value()?)?,
                Some("--in") => scope = one_of("--in", &value()?, &SCOPES)?,
                Some("--output") => output = one_of("--output", &value()?, &OUTPUTS)?,
                Some("--escape") => escapes = one_of("--escape", &value()?, &ESCAPES)?,
                Some("--threads") => threads = Some(count("--threads", &value()?)?),
                Some("--read") => read = one_of("--read", &value()?, &READS)?,
                Some(other) => return Err(format!("no option {other}: see --help")),
                None if text.is_none() => {
                    let utf8 = argument.to_str().ok_or("the query is no UTF-8")?;
                    text = Some(utf8.to_owned());
                }
                None => roots.push(PathBuf::from(argument)),
            }
        }
        query.text = text.ok_or("a query is missing; \"\" finds every message")?;
        if roots.is_empty() {
            roots.push(PathBuf::from("."));
        }
        let escapes = escapes.unwrap_or_else(|| stdout().is_terminal());
        let style = Style { output, escapes };
        Ok(Some(Self { query, roots, style, scope, limit, threads, read }))
    }

    /// How that is searched.
    ///
    /// # Errors
    /// What is wrong with the query.
    pub(crate) fn plan(&self) -> Result<Plan, QueryError> {
        let query = Query::compile(&self.query)?;
        let prefilter = Prefilter::lenient(&query);
        let mut plan = Plan::new(query);
        plan.prefilter = prefilter;
        plan.scope = self.scope;
        plan.read = self.read;
        plan.limit = self.limit.map(|limit| limit as usize);
        plan.showing = Some(Showing::new(self.style));
        plan.texts = Some(Texts::default());
        Ok(plan)
    }

    /// Worker threads: what was asked for, or as many as this process may use.
    pub(crate) fn threads(&self) -> usize {
        let own = || available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(own, |threads| threads as usize)
    }
}

const SCOPES: [(&str, Scope); 4] = [
    ("text", Scope::of(Kind::Text)),
    ("tools", Scope::of(Kind::Tools)),
    ("thinking", Scope::of(Kind::Thinking)),
    ("all", Scope::ALL),
];
const OUTPUTS: [(&str, Output); 3] =
    [("text", Output::Text), ("json", Output::Json), ("jsonl", Output::Jsonl)];
const READS: [(&str, Read); 3] =
    [("auto", Read::Auto), ("buffered", Read::Buffered), ("mmap", Read::Mmap)];
const ESCAPES: [(&str, Option<bool>); 3] =
    [("auto", None), ("always", Some(true)), ("never", Some(false))];

fn one_of<T: Copy>(option: &str, value: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        format!("{option} {value}: one of {}", names.join(", "))
    })
}

fn count(option: &str, value: &str) -> Result<u32, String> {
    let count = value.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| format!("{option} {value}: a number from 1"))
}

fn most(value: &str) -> Result<Option<u32>, String> {
    match value {
        "all" => Ok(None),
        _ => value.parse().map(Some).map_err(|_| format!("--limit {value}: a number or `all`")),
    }
}
