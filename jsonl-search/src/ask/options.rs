//! The options of the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};
use clap_complete::Shell;

use super::when::moment;
use crate::merge::Order;
use crate::parse::{Kind, Scope};
use crate::render::Output;
use crate::{Read, Time};

const EXIT_CODES: &str = "\
Exit codes:
  0  something was found
  1  nothing was found
  2  trouble, whatever was found: a bad query or option, a path that is not there, a file or folder
     that cannot be read, a line that holds what is looked for and cannot be read as a message";

const FIELDS: &str = "\
What is searched: what was said (strings, parts, summaries), what tools were given and printed, and
what a model thought, as Claude Code, Codex, Gemini, Ollama and OpenAI write them. --in chooses.
Lines that are no JSON are repaired where that is possible; such messages are marked.";

const PATHS: &str = "\
A path that is no UTF-8 is written as it is to a pipe, as $'a\\xff' to a terminal, and in JSON with
its bytes in hexadecimal as path_hex.";

/// Finds messages in chat sessions that are kept as JSON Lines
#[derive(Debug, Parser)]
#[command(name = "jsonl-search", version, args_override_self = true)]
#[command(override_usage = "jsonl-search [OPTIONS] QUERY [PATH]...")]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{FIELDS}\n\n{PATHS}\n\n{EXIT_CODES}"))]
pub(crate) struct Options {
    /// What to look for: words that must all be there, "a phrase", AND, OR, NOT, (), /a regex/i;
    /// "" finds every message
    ///
    /// In quotes, a backslash takes the next character as it is. A regex has the flags i, m, s and
    /// u. Operators are upper case.
    pub(super) query: Option<OsString>,
    /// Files, - for standard input, and folders whose *.jsonl, also *.jsonl.gz and *.jsonl.zst, are
    /// searched [default: .]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// A query, also one that begins with a dash; of several one has to match. QUERY is a path then
    #[arg(short = 'e', long = "query", value_name = "QUERY", allow_hyphen_values = true)]
    #[arg(help_heading = "Query")]
    pub(super) queries: Vec<String>,
    /// The query is one literal and has no operators
    #[arg(short = 'F', long, help_heading = "Query")]
    pub(super) fixed_strings: bool,
    /// Letters match in either case, in a regex too [words do unless an option says otherwise]
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    #[arg(help_heading = "Query")]
    pub(super) ignore_case: bool,
    /// Letters match in their own case only
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    #[arg(help_heading = "Query")]
    pub(super) case_sensitive: bool,
    /// A word or regex with a capital matches in its own case only
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    #[arg(help_heading = "Query")]
    pub(super) smart_case: bool,
    /// Whole words: no letter, digit or underscore on either side
    #[arg(short, long, help_heading = "Query")]
    pub(super) word_regexp: bool,
    /// Messages that the query does not match; filters apply as ever
    #[arg(short = 'v', long, help_heading = "Query")]
    pub(super) invert_match: bool,
    /// Which texts of a message are searched
    #[arg(long = "in", value_name = "TEXTS", value_enum, default_value_t = Texts::All)]
    #[arg(help_heading = "Query")]
    pub(super) texts: Texts,

    /// Only messages of this role; may be given several times
    #[arg(long, value_name = "ROLE", help_heading = "Filters")]
    pub(super) role: Vec<String>,
    /// Only messages of this session; may be given several times
    #[arg(long, value_name = "ID", help_heading = "Filters")]
    pub(super) session: Vec<String>,
    /// Only messages whose working folder is this one or below it
    #[arg(long, value_name = "DIR", help_heading = "Filters")]
    pub(super) project: Option<String>,
    /// Only messages at or after this time: 2026-01-31, 2026-01-31T12:00, 2h, 3d, 1w, yesterday
    ///
    /// A day is its first moment, and a time without a zone is UTC. 2h is two hours ago; minutes
    /// are m, seconds s, days d, weeks w.
    #[arg(long, visible_alias = "since", value_name = "TIME", value_parser = moment)]
    #[arg(help_heading = "Filters")]
    pub(super) after: Option<Time>,
    /// Only messages before this time, which is written as that of --after
    #[arg(long, visible_alias = "until", value_name = "TIME", value_parser = moment)]
    #[arg(help_heading = "Filters")]
    pub(super) before: Option<Time>,

    /// Show so many messages at most; `all` for all [default: 50]
    #[arg(short = 'm', long, visible_alias = "max-count", value_name = "N", value_parser = limit)]
    #[arg(help_heading = "Output")]
    pub(super) limit: Option<Limit>,
    /// Which messages come first
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Order::Newest)]
    #[arg(help_heading = "Output")]
    pub(super) sort: Order,
    /// Show so many messages of the file behind each one that matches
    #[arg(short = 'A', long, value_name = "N", value_parser = number, help_heading = "Output")]
    pub(super) after_context: Option<u32>,
    /// Show so many messages of the file before each one that matches
    #[arg(short = 'B', long, value_name = "N", value_parser = number, help_heading = "Output")]
    pub(super) before_context: Option<u32>,
    /// Show so many messages of the file before and behind each one that matches
    #[arg(short = 'C', long, value_name = "N", value_parser = number, help_heading = "Output")]
    pub(super) context: Option<u32>,
    /// Print how many messages of each file match, where any does
    #[arg(short, long, overrides_with = "files_with_matches", help_heading = "Output")]
    pub(super) count: bool,
    /// Print the paths of files that have messages that match
    #[arg(short = 'l', long, overrides_with = "count", help_heading = "Output")]
    pub(super) files_with_matches: bool,
    /// Print nothing, and end with the first message that matches
    #[arg(short, long, visible_alias = "silent", help_heading = "Output")]
    pub(super) quiet: bool,
    /// Show a line's number, from 1, in place of its offset in bytes
    #[arg(short = 'n', long, help_heading = "Output")]
    pub(super) line_number: bool,
    /// Print one JSON object: the same as --output json
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub(super) json: bool,
    /// How messages are written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Output::Text)]
    #[arg(help_heading = "Output")]
    pub(super) output: Output,
    /// Whether colours are shown [auto: on a terminal; NO_COLOR and CLICOLOR_FORCE count]
    #[arg(long, visible_alias = "colour", value_name = "WHEN", value_enum)]
    #[arg(default_value_t = When::Auto, hide_default_value = true, help_heading = "Output")]
    pub(super) color: When,
    /// Whether a path is a link to its file [auto: on a terminal with colours]
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    #[arg(hide_default_value = true)]
    #[arg(help_heading = "Output")]
    pub(super) hyperlink: When,
    /// Whether control characters of messages and names are spelled out, for a terminal obeys them
    /// [auto: on a terminal, and with colours]
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    #[arg(hide_default_value = true)]
    #[arg(help_heading = "Output")]
    pub(super) escape: When,

    /// Follow links to folders
    #[arg(long, help_heading = "Work")]
    pub(super) follow: bool,
    /// Worker threads [default: as many as CPUs]
    #[arg(long, value_name = "N", value_parser = number_from_1)]
    #[arg(help_heading = "Work")]
    pub(super) threads: Option<u32>,
    /// How files are read
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Read::Auto)]
    #[arg(help_heading = "Work")]
    pub(super) read: Read,

    /// Print what this shell completes: source <(jsonl-search --completions bash)
    #[arg(long, value_name = "SHELL", exclusive = true, action = ArgAction::Set)]
    pub(super) completions: Option<Shell>,
    /// Print the manual page: jsonl-search --man | man -l -
    #[arg(long, exclusive = true)]
    pub(super) man: bool,
}

/// How many messages are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    All,
    Most(u32),
}

fn limit(value: &str) -> Result<Limit, &'static str> {
    match value {
        "all" => Ok(Limit::All),
        _ => value.parse().map(Limit::Most).map_err(|_| "give a number or `all`"),
    }
}

fn number(value: &str) -> Result<u32, &'static str> {
    value.parse().map_err(|_| "give a number")
}

fn number_from_1(value: &str) -> Result<u32, &'static str> {
    value.parse().ok().filter(|&number| number > 0).ok_or("give a number from 1")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

impl When {
    pub(super) fn or(self, auto: bool) -> bool {
        match self {
            Self::Auto => auto,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Texts of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Texts {
    /// What was said
    Text,
    /// What tools were given and printed
    Tools,
    /// What a model thought
    Thinking,
    /// All of these
    All,
}

impl Texts {
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::Text => Scope::of(Kind::Text),
            Self::Tools => Scope::of(Kind::Tools),
            Self::Thinking => Scope::of(Kind::Thinking),
            Self::All => Scope::ALL,
        }
    }
}
