//! Variants that are no packages of Cargo: copied under another name, or begun in a language.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use clap::ValueEnum;

use super::quoted;

/// In which a variant can be begun.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Language {
    /// Read by python3, with nothing beside its standard library
    Python,
}

const PROGRAM: &str = include_str!("program.py");

/// Names a copied folder anew: the program's file, and who its files say that they are.
pub(super) fn rename(folder: &Path, family: &str, old: &str, new: &str) -> io::Result<()> {
    let programs = [old, new].map(|name| format!("{family}-{name}"));
    name_anew(folder, &|text| {
        text.replace(&programs[0], &programs[1]).replacen(&quoted(old), &quoted(new), 1)
    })?;
    let program = folder.join(&programs[0]);
    if program.exists() { fs::rename(program, folder.join(&programs[1])) } else { Ok(()) }
}

fn name_anew(folder: &Path, named: &dyn Fn(&str) -> String) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            name_anew(&path, named)?;
        // What is no text names nobody, and the manifest has its name already.
        } else if entry.file_name() != "variant.toml"
            && let Ok(text) = fs::read_to_string(&path)
        {
            fs::write(&path, named(&text))?;
        }
    }
    Ok(())
}

/// Writes a folder whose program speaks the protocol and leaves the work to its author.
pub(super) fn begin(folder: &Path, language: Language, family: &str, name: &str) -> io::Result<()> {
    fs::create_dir(folder)?;
    let Language::Python = language;
    let program = folder.join(format!("{family}-{name}"));
    fs::write(&program, PROGRAM.replace("@FAMILY@", family).replace("@NAME@", name))?;
    fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    let manifest = format!(
        "name = \"{name}\"\nfamily = \"{family}\"\ntags = []\nsentence = \"A program in Python.\"\n\
         measures = \"python\"\nversion = \"installed\"\nfeatures = []\ninterpreter = \"python3\"\n"
    );
    fs::write(folder.join("variant.toml"), manifest)?;
    let build = "load(\"//tools/bazel:lab.bzl\", \"script\")\n\nscript(family = ";
    fs::write(folder.join("BUILD.bazel"), format!("{build}\"{family}\")\n"))
}
