//! Options of hyperfine that `lab compare` has not: each is told what to give instead.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use lab_console::Failure;

/// An option, and what is said of it.
struct Known {
    long: &'static str,
    short: Option<char>,
    has_value: bool,
    instead: &'static str,
}

const fn with_value(long: &'static str, short: Option<char>, instead: &'static str) -> Known {
    Known { long, short, has_value: true, instead }
}

const fn flag(long: &'static str, instead: &'static str) -> Known {
    Known { long, short: None, has_value: false, instead }
}

const OPTIONS: [Known; 10] = [
    with_value(
        "min-runs",
        Some('m'),
        "rounds go on until there is an answer; --precision P asks for more of them, --runs N for \
         at most N",
    ),
    with_value(
        "min-benchmarking-time",
        None,
        "rounds go on until there is an answer; --precision P asks for more of them, --budget \
         SECONDS for at most so long",
    ),
    with_value("style", None, "text has no colours, and --json is for programs; leave it out"),
    with_value("sort", None, "several commands are ranked, the fastest first; leave it out"),
    with_value(
        "time-unit",
        Some('u'),
        "each time has the unit that shows it, and --export-json has seconds; leave it out",
    ),
    flag("show-output", "use --output inherit"),
    with_value("export-csv", None, "use --export-json FILE, which has every run"),
    with_value("export-asciidoc", None, "use --export-markdown FILE"),
    with_value("export-orgmode", None, "use --export-markdown FILE"),
    flag("debug-mode", "all commands are run; leave it out"),
];

/// The first of them that was given, by its place.
#[derive(Debug)]
pub(super) struct Refused(Option<usize>);

impl Refused {
    /// Says what to give instead.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let Some(Known { long, instead, .. }) = self.0.map(|place| &OPTIONS[place]) else {
            return Ok(());
        };
        Err(Failure::input(format!("--{long} is hyperfine's, and not here: {instead}")))
    }
}

impl FromArgMatches for Refused {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given = |option: &Known| match option.has_value {
            true => matches.contains_id(option.long),
            false => matches.get_flag(option.long),
        };
        Ok(Self(OPTIONS.iter().position(is_given)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Refused {
    fn augment_args(command: Command) -> Command {
        let argument = |option: &Known| {
            let action = if option.has_value { ArgAction::Append } else { ArgAction::SetTrue };
            let argument = Arg::new(option.long).long(option.long).action(action).hide(true);
            match option.short {
                Some(short) => argument.short(short),
                None => argument,
            }
        };
        command.args(OPTIONS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
