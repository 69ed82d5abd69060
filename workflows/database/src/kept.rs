//! A server that is kept up over runs, and the database in it that each run has for itself.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use postgres::{Config, NoTls};
use serde_json::{Value, json};
use workflows_kit::{Keepable, Keeps, RunError};

use crate::server::{DATA, Server, socket};
use crate::{Handle, lost, said};

/// As the manifests of those name it who can use it.
pub const POSTGRESQL: Keepable = Keepable { name: "postgresql", start };

/// The run's, in a server that has one run at a time.
const DATABASE: &str = "run";
/// A run that was killed has left its database, and perhaps sessions.
const DROP: &str = "drop database if exists run with (force)";
/// A server that restarts its processes may end a session that it has just taken.
const TRIES: u32 = 10;

/// Autovacuum would fall into some runs and not into others: it looks once a minute, which a
/// server of a run's own has never lived for. What it would clean is dropped with the database.
const SETTINGS: [&str; 2] = ["-c", "autovacuum=off"];

fn start(folder: &Path) -> Result<Box<dyn Keeps>, RunError> {
    let server = Server::own(folder, &SETTINGS)?;
    Ok(Box::new(Up { server, data: folder.join(DATA) }))
}

/// Kept up by this process.
struct Up {
    server: Server,
    data: PathBuf,
}

impl Keeps for Up {
    fn offer(&self) -> String {
        json!({ "process": self.process(), "data": self.data }).to_string()
    }

    fn process(&self) -> u32 {
        self.server.own_process().expect("this process has started it")
    }
}

/// Kept up by another process.
pub(crate) struct Kept {
    pub(crate) process: u32,
    data: PathBuf,
}

impl Kept {
    /// What is offered to this run, unless its folder has the data of an earlier one.
    ///
    /// # Errors
    /// The offer is none of ours.
    pub(crate) fn of(run: &Path) -> Result<Option<Self>, RunError> {
        let Some(offer) = POSTGRESQL.offered().filter(|_| !run.join(DATA).is_dir()) else {
            return Ok(None);
        };
        let said: Value = serde_json::from_str(&offer).unwrap_or_default();
        match (said["process"].as_u64(), said["data"].as_str()) {
            (Some(process), Some(data)) => {
                Ok(Some(Self { process: process as u32, data: PathBuf::from(data) }))
            }
            _ => Err(RunError::setup(format!("the server that is kept up is {offer:?}"))),
        }
    }

    /// How sessions in the run's database are opened.
    pub(crate) fn socket(&self) -> Result<(Arc<File>, Config), RunError> {
        let (data, mut config) = socket(&self.data)?;
        config.dbname(DATABASE);
        Ok((data, config))
    }

    /// A new one. What earlier runs have left to be written is written first. Where one of them has
    /// made the server restart its processes, this waits until it has replayed its log.
    pub(crate) fn make_database(&self) -> Result<(), RunError> {
        let none = |why: String| {
            RunError::setup(format!("the server that is kept up makes no database: {why}"))
        };
        let handle = Handle::kept(self.process, &self.data)?;
        let mut last = String::new();
        for _ in 0..TRIES {
            let mut session = handle.open().map_err(none)?;
            // Each is a transaction of its own, as these must be.
            let mut statements = [DROP, "checkpoint", "create database run"].into_iter();
            match statements.try_for_each(|statement| session.batch_execute(statement)) {
                Ok(()) => return Ok(()),
                Err(error) if lost(&session, &error) => last = said(&error),
                Err(error) => return Err(none(said(&error))),
            }
        }
        Err(none(last))
    }
}

/// Drops the database of a configuration for it. Where that fails the next run does it.
pub(crate) fn drop_database(config: &Config) {
    let mut config = config.clone();
    if let Ok(mut session) = config.dbname("postgres").connect(NoTls) {
        let _ = session.batch_execute(DROP);
    }
}
