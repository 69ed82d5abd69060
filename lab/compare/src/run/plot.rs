//! --plot: gnuplot draws where it is installed, and letters do where it is not.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lab_console::{Failure, streams};
use lab_driver::plots::Scripts;

use super::{
    commands::{Command, is_program},
    record::Round,
};
use crate::{Picture, Settings, State};

const SCRIPT: &str = include_str!("plot.gp");
/// Letters of a command in a picture.
const NAME_CHARS: usize = 40;

/// What a picture is of.
pub(crate) struct Drawing<'a> {
    pub(crate) commands: &'a [Command],
    pub(crate) settings: &'a Settings,
    pub(crate) metrics: &'a [&'a str],
    pub(crate) rounds: &'a [Round],
    pub(crate) state: &'a State,
}

/// Where a picture goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plot {
    /// Into what is printed, in letters.
    Printed,
    /// Into a file, by this terminal of gnuplot.
    File(PathBuf, &'static str),
}

impl Plot {
    /// By the name that was given.
    ///
    /// # Errors
    /// A name that no picture can be written to.
    pub fn named(to: PathBuf) -> Result<Self, Failure> {
        let terminal = to.extension().and_then(|ending| match ending.to_str()? {
            "svg" => Some("svg"),
            "png" => Some("png"),
            _ => None,
        });
        match terminal {
            Some(terminal) => Ok(Self::File(to, terminal)),
            None if to == Path::new("-") => Ok(Self::Printed),
            None => {
                let to = to.display();
                let sentence = format!("--plot {to}: give a file that ends in .svg or .png, or -");
                Err(Failure::input(sentence))
            }
        }
    }

    /// The file.
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Printed => None,
            Self::File(path, _) => Some(path.clone()),
        }
    }
}

impl Drawing<'_> {
    /// Draws into a file, or answers with the lines of a terminal's picture.
    pub(crate) fn draw(&self, to: &Plot) -> Result<Vec<String>, Failure> {
        let rounds = self.of_good_ends();
        let rounds: Vec<_> = rounds.iter().map(Round::timed).collect();
        let picture = Picture::new(self.settings, self.metrics, &rounds);
        let picture = picture.map_err(|error| Failure::lab(error.to_string()))?;
        let Plot::File(to, terminal) = to else { return Ok(self.in_letters(&picture)) };
        if !is_program("gnuplot") {
            let to = to.display();
            streams::tell(format_args!("note: gnuplot is not installed, so {to} is not written"));
            return Ok(self.in_letters(&picture));
        }
        let Some(range) = picture.range() else { return Ok(self.in_letters(&picture)) };
        self.with_gnuplot(&picture, range, to, terminal)?;
        Ok(Vec::new())
    }

    /// The rounds without the runs of commands of which no ratio is told.
    fn of_good_ends(&self) -> Vec<Round> {
        let mut rounds = self.rounds.to_vec();
        for (number, candidate) in self.state.candidates.iter().enumerate() {
            if candidate.endings.is_some() {
                rounds.iter_mut().for_each(|round| round.runs[number + 1].clear());
            }
        }
        rounds.retain(|round| round.runs[1..].iter().any(|run| !run.is_empty()));
        rounds
    }

    fn in_letters(&self, picture: &Picture) -> Vec<String> {
        let lines = picture.lines(0);
        if lines.is_empty() {
            return vec!["there is nothing to draw before there is an interval".to_owned()];
        }
        let (first, others) = (&self.commands[1].name, self.commands.len() - 2);
        let note = match others {
            0 => Vec::new(),
            _ => vec![format!("the picture shows {first}; a file has all commands")],
        };
        [lines, note].concat()
    }

    fn with_gnuplot(
        &self,
        picture: &Picture,
        [low, high]: [f64; 2],
        to: &Path,
        terminal: &str,
    ) -> Result<(), Failure> {
        let names: Vec<String> =
            self.commands[1..].iter().map(|command| short(&command.name)).collect();
        let control = picture.control.then_some("control");
        let series: Vec<&str> =
            control.into_iter().chain(names.iter().map(String::as_str)).collect();
        // Before it is drawn: what cannot be written costs no time.
        fs::write(to, "").map_err(|error| not_drawn(to, error))?;
        let drawn = self.picture_file(picture, &series, [low, high], terminal);
        let written =
            drawn.and_then(|bytes| fs::write(to, bytes).map_err(|error| error.to_string()));
        written.map_err(|sentence| {
            let _ = fs::remove_file(to);
            not_drawn(to, sentence)
        })
    }

    fn picture_file(
        &self,
        picture: &Picture,
        series: &[&str],
        [low, high]: [f64; 2],
        terminal: &str,
    ) -> Result<Vec<u8>, String> {
        let names = &series[usize::from(picture.control)..];
        let tables =
            [("looks.tsv", picture.looks_tsv(series)), ("histogram.tsv", picture.histogram_tsv())];
        let outside = picture.histogram.as_ref().map_or(0, |histogram| histogram.outside);
        let arguments = [
            terminal,
            &format!("{} {low} {high}", picture.margin),
            &usize::from(picture.control).to_string(),
            &names.len().to_string(),
            self.metrics[0],
            &self.title(names),
            &outside.to_string(),
        ];
        let scripts = Scripts::unpack(&[("plot.gp", SCRIPT)]).map_err(|error| error.to_string())?;
        scripts.draw_own("plot.gp", &tables, &arguments, &format!("picture.{terminal}"))
    }

    fn title(&self, names: &[&str]) -> String {
        let reference = short(&self.commands[0].name);
        match names {
            [name] => format!("{name} against {reference}: {}", self.state.candidates[0].verdict),
            _ => format!("{} commands against {reference}", names.len()),
        }
    }
}

/// A name as gnuplot takes it, in a table and in a title.
fn short(name: &str) -> String {
    let read = |letter| match letter {
        '"' => '”',
        '`' => '’',
        '\\' => '·',
        _ => letter,
    };
    let name: String = name.chars().map(read).collect();
    if name.chars().count() <= NAME_CHARS {
        return name;
    }
    name.chars().take(NAME_CHARS - 1).chain(['…']).collect()
}

fn not_drawn(to: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::files(format!("cannot draw {}: {error}", to.display()))
}
