//! The records of some folders, served to a browser on this machine.

mod history;
mod http;
mod record;
mod shelf;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::{Mutex, PoisonError},
    thread,
};

use lab_console::{Exit, Failure};

use self::http::{Answer, Asked};
pub use self::shelf::Shelf;
use super::against::changed;
use crate::{Link, SCRIPTS, compared, listed};

/// A server that listens and answers nobody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shelf: Shelf,
}

impl Server {
    /// One at a loopback address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is no loopback address, or cannot be listened on.
    pub fn open(shelf: Shelf, address: SocketAddr) -> Result<Self, Failure> {
        Ok(Self { listener: http::open(address)?, shelf })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers from now on, in a thread that ends with the process.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(self) -> io::Result<()> {
        // One page is made at a time: whoever measures here should lose one CPU at most.
        let shelf = Mutex::new(self.shelf);
        let answer = move |asked: &Asked| {
            let shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
            answer(asked, &shelf)
        };
        let server = thread::Builder::new().name("pages".into());
        server.spawn(move || http::serve(&self.listener, answer)).map(drop)
    }
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
