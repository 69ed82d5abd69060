//! `lab serve`: records as pages for a browser on this machine.

mod door;
mod history;
mod record;
mod shelf;

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    thread,
};

use clap::Args;
use lab_console::exit_codes;
use lab_site::{Link, SCRIPTS, compared, listed};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{Exit, Failure, against::changed, paths::Paths};
use door::{Answer, Asked};
use shelf::Shelf;

/// The list of all records, the newest first, each with its question and answer; behind it reports
/// with every run as a dot, the progress of a sweep that goes on, what changed between two sweeps,
/// and a metric over all sweeps of an experiment with its change points. Nothing can be changed
/// through the pages, and nothing is served but the folders that are named here.
#[derive(Args)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct ServeArgs {
    /// Folders of results, or single ones [default: results/ and reports/ of the checkout]
    #[arg(value_name = "FOLDERS")]
    folders: Vec<PathBuf>,
    /// Loopback address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8377")]
    listen: SocketAddr,
}

const CODES: [(Exit, &str); 2] = [
    (
        Exit::Input,
        "the command line is wrong, a folder is not there, or the address cannot be listened on",
    ),
    (Exit::Interrupted, "ended by Ctrl-C, as it always is"),
];

pub(crate) fn serve(args: &ServeArgs, paths: Option<&Paths>) -> Result<Exit, Failure> {
    let shelf = Shelf::of(&args.folders, paths)?;
    let listener = door::open(args.listen)?;
    let lost = |error: std::io::Error| Failure::lab(format!("cannot serve pages: {error}"));
    let address = listener.local_addr().map_err(lost)?;
    // Before anybody can know that the server is there.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(lost)?;
    // One page is made at a time: whoever measures here should lose one CPU at most.
    let shelf = Mutex::new(shelf);
    let answer = move |asked: &Asked| {
        let shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        answer(asked, &shelf)
    };
    let server = thread::Builder::new().name("pages".into());
    server.spawn(move || door::serve(&listener, answer)).map_err(lost)?;
    println!("http://{address}/");
    eprintln!("lab: open this address in a browser; Ctrl-C ends the server");
    signals.forever().next();
    Ok(Exit::Interrupted)
}

fn answer(asked: &Asked, shelf: &Shelf) -> Answer {
    let path: Vec<&str> = asked.path.iter().map(String::as_str).collect();
    let page = match path[..] {
        [""] => Ok(Some(list(shelf))),
        ["r", _, "index.html"] => Ok(Some(list(shelf))),
        ["r", folder, file] => one(shelf, folder, file, asked),
        ["against"] => against(shelf, asked),
        ["history"] => history::page(asked, shelf).map(Some),
        // Browsers ask on their own, and call it an error where there is none.
        ["favicon.ico"] => return Answer::nothing(),
        [file] => match SCRIPTS.iter().find(|(name, _)| *name == file) {
            Some((_, script)) => return Answer::script(script),
            None => Ok(None),
        },
        _ => Ok(None),
    };
    match page {
        Ok(Some(page)) => Answer::page(&page),
        Ok(None) => Answer::sorry("404 Not Found", "There is no such page."),
        Err(Failure { exit: Exit::Input, sentence }) => Answer::sorry("400 Bad Request", &sentence),
        Err(Failure { sentence, .. }) => Answer::sorry("500 Internal Server Error", &sentence),
    }
}

fn list(shelf: &Shelf) -> String {
    listed(&shelf.records().iter().map(record::entry).collect::<Vec<_>>())
}

fn one(shelf: &Shelf, folder: &str, file: &str, asked: &Asked) -> Result<Option<String>, Failure> {
    let found = file.strip_suffix(".html").and_then(|name| shelf.record(folder, name));
    let so_far = asked.value(record::SO_FAR).is_some();
    found.map(|found| record::page(&found, shelf, so_far)).transpose()
}

fn against(shelf: &Shelf, asked: &Asked) -> Result<Option<String>, Failure> {
    let sides = ["of", "with"].map(|key| asked.value(key));
    let [Some(of), Some(with)] = sides else {
        return Err(Failure::input("Name two records: /against?of=NEWER&with=EARLIER."));
    };
    let (Some(new), Some(old)) = (shelf.named(of), shelf.named(with)) else { return Ok(None) };
    let changed = changed(&new.dir, &old.dir)?;
    let sides = [new, old].map(|side| Link { address: side.address, text: side.shown });
    Ok(Some(compared(&sides, &changed.notes, &changed.tables)))
}
