//! The folder that every agent reads before its first call.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

/// Writes `files` files of `bytes` bytes of Markdown-like text into `dir`. The content is a fixed
/// sequence, so two sweeps ingest the same bytes.
pub(crate) fn make_folder(dir: &Path, files: u32, bytes: u32) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    for file in 0..files {
        let line = format!("| run {file} | tokens per second | {} |\n", 40 + file % 70);
        let text: String = line.chars().cycle().take(bytes as usize).collect();
        let path = dir.join(format!("report_{file:03}.md"));
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444))?;
    }
    Ok(())
}
