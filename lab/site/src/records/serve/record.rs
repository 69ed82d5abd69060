//! The page of one record, and its entry in the list.

use std::collections::BTreeMap;

use lab_console::{Exit, Failure};
use lab_record::{Folder, Rows, RunFile, State};
use lab_report::{day, question};

use super::shelf::{Record, Shelf};
use crate::{
    Going, Link, Listed, Source, encoded, links, page_under,
    records::{
        bound::{check_alone, check_shown},
        load::{self, make},
        runs::add_runs,
        source::source,
    },
};

/// The key of an address that asks for a report on a sweep that goes on.
pub(super) const SO_FAR: &str = "so_far";

/// What the list says of a record.
pub(super) fn entry(record: &Record) -> Listed {
    let first = match (&record.run_file, record.has_report()) {
        (_, true) => match first_screen(record) {
            Ok(text) => text,
            Err(failure) => format!("**{}**\n", failure.sentence),
        },
        (Some(file), false) => format!("**{}**\n", question(file)),
        (None, false) => String::new(),
    };
    Listed {
        address: record.address.clone(),
        place: record.place.clone(),
        shown: record.shown.clone(),
        facts: facts(record),
        first,
        is_sweep: record.run_file.is_some(),
    }
}

/// The first screen of a report that was written.
fn first_screen(record: &Record) -> Result<String, Failure> {
    let text = Folder::at(&record.dir).text("report.md").unwrap_or_default();
    check_alone(&record.dir, "report.md", &text)?;
    Ok(text)
}

/// When, of what, and whether it has all its runs.
fn facts(record: &Record) -> String {
    let Some(file) = &record.run_file else { return "A report of its own.".to_owned() };
    let profile = file.profile.iter().map(|name| format!(", profile {name}")).collect::<String>();
    let state = match record.state() {
        Ok(State::Finished) => String::new(),
        Ok(State::GoingOn) => "; it goes on".to_owned(),
        Ok(State::Stopped) => "; it was stopped".to_owned(),
        Err(error) => format!("; {error}"),
    };
    format!("{}: {}{profile}, {}{state}", day(file.started_unix_s), file.experiment, commit(file))
}

/// The commit, as far as people need it.
pub(super) fn commit(file: &RunFile) -> String {
    let Some(git) = &file.git else { return "no commit".to_owned() };
    let short: String = git.commit.chars().take(9).collect();
    format!("{short}{}", if git.dirty { "+" } else { "" })
}

/// A record's page: how far it is while it goes on, else its report.
pub(super) fn page(record: &Record, shelf: &Shelf, so_far: bool) -> Result<String, Failure> {
    let state = record.state()?;
    if let (State::GoingOn, false, Some(file)) = (state, so_far, &record.run_file) {
        return going(record, file);
    }
    let mut sentence = match state {
        State::Finished => String::new(),
        State::GoingOn => "This sweep goes on; the page is of its records until now.".to_owned(),
        State::Stopped => {
            format!("This sweep was stopped: lab run --resume {} goes on.", record.shown)
        }
    };
    let is_written = state == State::Finished && record.has_report();
    let mut source = match is_written {
        true => source(&record.dir).map_err(|error| {
            Failure::files(format!("{}: cannot read the report: {error}", record.shown))
        })?,
        false => made(record)?,
    };
    // A sweep that goes on measures this machine, which reads the runs for no picture then.
    if state != State::GoingOn && Folder::at(&record.dir).has("run.json") {
        let results = load::results(&record.dir)?;
        if is_written {
            check_shown(&record.dir, &results, &source)?;
        }
        match add_runs(&mut source, &record.dir, &results) {
            // What cannot be drawn costs the picture; a chained record has its samples.
            Err(failure) if failure.exit != Exit::Input && results.heads().is_some() => {
                return Err(failure);
            }
            Err(Failure { exit: Exit::File, sentence: why }) => {
                sentence = format!("Its record cannot be read: {why}. {sentence}");
            }
            _ => {}
        }
    }
    Ok(page_under(&source, &links(sentence.trim_end(), &around(record, shelf))))
}

fn going(record: &Record, file: &RunFile) -> Result<String, Failure> {
    let rows = Rows::of(&record.dir, file)?;
    let mut facts = vec![facts(record), format!("{} failed.", rows.failed)];
    if rows.further > 0 {
        let further = rows.further;
        facts.push(format!("{further} more rows: of rounds, repeats and start-up times."));
    }
    if let Some((variant, block)) = &rows.last {
        facts.push(format!("The last row is of {variant} in block {block}."));
    }
    Ok(crate::going(&Going {
        shown: record.shown.clone(),
        question: question(file),
        planned: file.runs_planned,
        rows: rows.planned,
        facts,
        so_far: format!("{}?{SO_FAR}=1", record.address),
    }))
}

/// Pages about the same experiment.
fn around(record: &Record, shelf: &Shelf) -> Vec<Link> {
    let Some(file) = &record.run_file else { return Vec::new() };
    let history = Link {
        address: format!("/history?experiment={}", encoded(&file.experiment)),
        text: format!("{} over time", file.experiment),
    };
    let is_earlier = |other: &Record| {
        other.run_file.as_ref().is_some_and(|other| {
            other.experiment == file.experiment && other.started_unix_s < file.started_unix_s
        })
    };
    // The newest come first.
    let earlier = shelf.records().into_iter().find(is_earlier).map(|earlier| {
        let (of, with) = (encoded(&record.place), encoded(&earlier.place));
        let text = format!("what changed since {}", earlier.shown);
        Link { address: format!("/against?of={of}&with={with}"), text }
    });
    [history].into_iter().chain(earlier).collect()
}

/// A report that nobody has written yet, without its pictures.
fn made(record: &Record) -> Result<Source, Failure> {
    let report = make(&record.dir)?;
    let chapter = |(file, text): (String, String)| {
        let name = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".md").to_owned();
        (name, text)
    };
    Ok(Source {
        name: record.shown.clone(),
        first: report.markdown,
        chapters: report.details.into_iter().map(chapter).collect(),
        pictures: BTreeMap::new(),
        tables: report.tables,
        ..Source::default()
    })
}
