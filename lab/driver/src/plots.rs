//! gnuplot draws what the report has computed.

use std::{fs, io, path::Path, process::Command, time::Duration};

use tempfile::TempDir;

use crate::child::{Limits, Unfinished, ask};

/// The largest picture takes seconds.
const DRAWING: Limits = Limits { time: Duration::from_secs(120), output_bytes: 1 << 20 };

/// Scripts as files, for gnuplot reads nothing else: each finds the others beside it.
#[derive(Debug)]
pub struct Scripts(TempDir);

impl Scripts {
    /// Writes them, by name and text, into a folder that goes away with them.
    ///
    /// # Errors
    /// The folder for temporary files cannot be written.
    pub fn unpack(scripts: &[(&str, &str)]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        for (name, text) in scripts {
            fs::write(folder.path().join(name), text)?;
        }
        Ok(Self(folder))
    }

    /// Runs one of them with the folder of the tables and the folder for the picture.
    ///
    /// # Errors
    /// gnuplot's own first line, or that it is missing.
    pub fn draw(&self, name: &str, tables: &Path, out: &Path) -> Result<(), String> {
        let mut command = Command::new("gnuplot");
        command.arg("-c").arg(self.0.path().join(name)).arg(tables).arg(out);
        let output = ask(command, DRAWING).map_err(|unfinished| match unfinished {
            Unfinished::CannotStart(error) => {
                format!("gnuplot cannot be started ({error}); install it or use ./enter")
            }
            other => format!("gnuplot {name} {other}"),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
        Err(format!("gnuplot {name}: {}", line.trim()))
    }
}
