//! gnuplot draws what the report has computed.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Runs one script with the folder of the tables and the folder for the picture.
///
/// # Errors
/// gnuplot's own first line, or that it is missing.
pub fn draw(script: &Path, tables: &Path, out: &Path) -> Result<(), String> {
    let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let output = Command::new("gnuplot")
        .arg("-c")
        .arg(script)
        .arg(tables)
        .arg(out)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            format!("gnuplot cannot be started ({error}); install it or use ./enter")
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
    Err(format!("gnuplot {name}: {}", line.trim()))
}
