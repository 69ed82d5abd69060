//! gnuplot draws what the report has computed.
//!
//! A record may come from a stranger, and its tables hold names of its own. gnuplot is given
//! nothing of them that it could take for more than a name: tables are copied into a folder of
//! ours, under names of ours, without any letter that a shell or gnuplot reads otherwise, and
//! pictures are taken out of another one. No script asks another program, and gnuplot is held to
//! that folder: see [`Hold`].

use std::{collections::BTreeMap, ffi::OsStr, fs, io, path::Path, time::Duration};

use lab_process::{Hold, Limits, Run, Unfinished};
use tempfile::TempDir;

/// The largest picture takes seconds.
const DRAWING: Limits = Limits { time: Duration::from_secs(120), output_bytes: 1 << 20 };
/// What gnuplot sees of a figure's tables, and where it draws.
const TABLES: &str = "tables";
const PICTURES: &str = "pictures";

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

    /// Runs one over these tables, texts by file name, with further arguments, and gives the
    /// picture of this file name.
    ///
    /// # Errors
    /// gnuplot's own first line, or that it is missing.
    pub fn draw(
        &self,
        name: &str,
        tables: &BTreeMap<String, String>,
        arguments: &[&str],
        file: &str,
    ) -> Result<Vec<u8>, String> {
        let tables: Vec<(&str, String)> =
            tables.iter().map(|(name, text)| (name.as_str(), plain(text))).collect();
        self.draw_own(name, &tables, arguments, file)
    }

    /// The same over tables of ours, which are taken as they are.
    ///
    /// # Errors
    /// Those of `draw`.
    pub fn draw_own(
        &self,
        name: &str,
        tables: &[(&str, String)],
        arguments: &[&str],
        file: &str,
    ) -> Result<Vec<u8>, String> {
        let folder = tempfile::tempdir().and_then(|folder| {
            fs::create_dir(folder.path().join(PICTURES))?;
            fs::create_dir(folder.path().join(TABLES))?;
            for (name, text) in tables {
                fs::write(folder.path().join(TABLES).join(name), text)?;
            }
            Ok(folder)
        });
        let folder = folder.map_err(|error| format!("a scratch folder cannot be made: {error}"))?;
        self.run(name, arguments, folder.path())?;
        fs::read(folder.path().join(PICTURES).join(file))
            .map_err(|error| format!("gnuplot {name} drew no {file}: {error}"))
    }

    fn run(&self, name: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
        let missing = |error: io::Error| {
            format!("gnuplot cannot be started ({error}); install it or use ./enter")
        };
        let gnuplot =
            lab_process::found("gnuplot").ok_or_else(|| missing(io::ErrorKind::NotFound.into()))?;
        let script = self.0.path().join(name);
        // No script of the user's home has a say.
        let own = ["--default-settings", "-c"].map(OsStr::new).into_iter();
        let given = [TABLES, PICTURES].iter().chain(arguments).map(OsStr::new);
        let run = Run::of(gnuplot, own.chain([script.as_os_str()]).chain(given));
        let output =
            Hold::here().ask(run, folder, DRAWING).map_err(|unfinished| match unfinished {
                Unfinished::CannotStart(error) => missing(error),
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

/// A table without what ends a string or begins a command anywhere: each such letter is another one
/// that looks alike, or a dot.
fn plain(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\n' | '\t' => letter,
        '\'' | '`' => '’',
        '"' => '”',
        '\\' | '$' | '@' | '{' | '}' | '|' | '<' | '>' | '&' | ';' | '!' | '#' => '·',
        _ if letter.is_control() => '·',
        _ => letter,
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_loses_what_a_shell_or_gnuplot_would_read() {
        let hostile =
            "x'; touch pwn; echo '\t`id`\t$(id)\t@a\t{/=99 b}\t\"c\"\\\r\nplain 1.5 µs, -2 %\n";
        let expected =
            "x’· touch pwn· echo ’\t’id’\t·(id)\t·a\t·/=99 b·\t”c”··\nplain 1.5 µs, -2 %\n";
        let _attack = proof_kit::Attack::on("pictures", "names that a shell or gnuplot would read");
        assert_eq!(plain(hostile), expected);
    }
}
