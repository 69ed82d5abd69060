//! `lab serve`: records as pages for a browser on this machine.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use lab_console::exit_codes;
use lab_site::records::serve::{Server, Shelf};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{Exit, Failure, paths::Paths};

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
    let shelf = Shelf::of(folders(&args.folders, paths)?)?;
    let server = Server::open(shelf, args.listen)?;
    let lost = |error: std::io::Error| Failure::lab(format!("cannot serve pages: {error}"));
    let address = server.address().map_err(lost)?;
    // Before anybody can know that the server is there.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(lost)?;
    server.start().map_err(lost)?;
    println!("http://{address}/");
    eprintln!("lab: open this address in a browser; Ctrl-C ends the server");
    signals.forever().next();
    Ok(Exit::Interrupted)
}

/// The folders that were named, or those of the checkout, each with its name for people.
fn folders(given: &[PathBuf], paths: Option<&Paths>) -> Result<Vec<(PathBuf, String)>, Failure> {
    let dirs: Vec<PathBuf> = match (given, paths) {
        ([], Some(paths)) => {
            let usual = ["results", "reports"].map(|name| paths.workspace.join(name));
            usual.into_iter().filter(|dir| dir.is_dir()).collect()
        }
        ([], None) => Vec::new(),
        (given, Some(paths)) => given.iter().map(|dir| paths.results(dir)).collect(),
        (given, None) => given.to_vec(),
    };
    if dirs.is_empty() {
        let sentence = "there is no results/ or reports/ here; name a folder, or change into a \
                        checkout";
        return Err(Failure::input(sentence));
    }
    let shown =
        |dir: &PathBuf| paths.map_or_else(|| dir.display().to_string(), |paths| paths.shown(dir));
    Ok(dirs.into_iter().map(|dir| (dir.clone(), shown(&dir))).collect())
}
