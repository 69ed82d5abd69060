//! gnuplot draws what the report has computed.

use std::{path::Path, process::Command, time::Duration};

use crate::child::{Limits, Unfinished, ask};

/// The largest picture takes seconds.
const DRAWING: Limits = Limits { time: Duration::from_secs(120), output_bytes: 1 << 20 };

/// Runs one script with the folder of the tables and the folder for the picture.
///
/// # Errors
/// gnuplot's own first line, or that it is missing.
pub fn draw(script: &Path, tables: &Path, out: &Path) -> Result<(), String> {
    let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut command = Command::new("gnuplot");
    command.arg("-c").arg(script).arg(tables).arg(out);
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
