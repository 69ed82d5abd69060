//! A command of the user's that is told of alerts.

use std::{
    ffi::OsString,
    io::Write,
    sync::{Arc, atomic::AtomicBool, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use lab_process::{Ended, Output, Run, RunError};
use tempfile::NamedTempFile;

use crate::Event;

/// Runs a command for each alert, one after the other and beside the watch.
#[derive(Debug)]
pub struct OnAlert {
    alerts: mpsc::Sender<String>,
    worker: JoinHandle<()>,
}

impl OnAlert {
    /// `sh` runs the command, with the alert as JSON on its standard input. One that takes longer
    /// than `limit` is ended with everything it started, and so are all when `interrupted` is set.
    /// What goes wrong is handed to `complain`.
    pub fn start(
        command: String,
        limit: Duration,
        interrupted: Arc<AtomicBool>,
        complain: impl Fn(String) + Send + 'static,
    ) -> Self {
        let (alerts, waiting) = mpsc::channel::<String>();
        let worker = thread::spawn(move || {
            for alert in waiting {
                if let Err(complaint) = tell(&command, &alert, limit, &interrupted) {
                    complain(format!("the command of --on-alert {complaint}"));
                }
            }
        });
        Self { alerts, worker }
    }

    /// Has the command told of this, soon.
    pub fn tell(&self, event: &Event) {
        let text = serde_json::to_string(event).expect("an event serialises");
        // The worker is there until `finish`.
        let _ = self.alerts.send(text + "\n");
    }

    /// Waits until the command has been told of everything.
    pub fn finish(self) {
        drop(self.alerts);
        // A worker that panicked has said so.
        let _ = self.worker.join();
    }
}

/// Runs the command once. Its process group is ended by id, whatever is left of it.
fn tell(
    command: &str,
    alert: &str,
    limit: Duration,
    interrupted: &AtomicBool,
) -> Result<(), String> {
    let file = |error: std::io::Error| format!("has no file for the alert: {error}");
    let mut input = NamedTempFile::new().map_err(file)?;
    input.write_all(alert.as_bytes()).map_err(file)?;
    let run = Run {
        argv: ["sh", "-c", command].map(OsString::from).to_vec(),
        input: Some(input.path().to_owned()),
        output: Output::Null,
        timeout: Some(limit),
        ..Run::default()
    };
    let finished = run.execute(interrupted).map_err(|error: RunError| error.to_string())?;
    match finished.ended {
        Ended::Exited(0) => Ok(()),
        Ended::Exited(status) => Err(format!("ended with status {status}")),
        Ended::Signalled(signal) => Err(format!("ended by signal {signal}")),
        Ended::TimedOut => Err(format!("took longer than {limit:?} and was ended")),
        Ended::Interrupted => Err("was ended with the watch".to_owned()),
        Ended::PrintedTooMuch | Ended::ComplainedTooMuch | Ended::Hid => {
            Err("printed too much".to_owned())
        }
    }
}
