//! Why a program that is there cannot be started: the system says of it what it means of its
//! interpreter.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::FileExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    unistd::{AccessFlags, access},
};

use crate::found;

/// What a system reads of a file to know how to start it.
const HEAD_BYTES: u64 = 256;
/// The longest name of a loader.
const LOADER_BYTES: usize = 4096;
/// Of the part of an ELF file that names its loader.
const PT_INTERP: u64 = 3;

/// The sentence in which a file keeps this program from being started; `None` where none does. A
/// name without `/` is looked for on `PATH`.
pub fn hindrance(program: &OsStr) -> Option<String> {
    let name = program.to_string_lossy();
    let path = if name.contains('/') { PathBuf::from(program) } else { found(&name)? };
    let file = File::open(&path).ok()?;
    let there = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let shown = path.display();
    if there.permissions().mode() & 0o111 == 0 {
        return Some(format!("{shown} is not executable; `chmod +x {shown}` makes it so"));
    }
    let mut head = Vec::new();
    (&file).take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    match interpreter(&head) {
        Some(interpreter) => is_missing(&interpreter, &path),
        None => loader(&file, &head).filter(|loader| !can_run(loader)).map(|loader| {
            let loader = loader.display();
            format!(
                "the loader {loader} of {shown} cannot be found: it was built for another system"
            )
        }),
    }
}

/// The system's answer, or what it means.
pub(crate) fn told(program: &OsStr, error: io::Error) -> io::Error {
    let why = match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::EACCES) => hindrance(program),
        Some(Errno::ENOEXEC) => hindrance(program).or_else(|| {
            Some("it is no program of this machine, and does not begin with #!".to_owned())
        }),
        Some(Errno::E2BIG) => Some(
            "its arguments and environment are longer than the system allows, which is 128 KiB \
             for each and a quarter of `ulimit -s` for all"
                .to_owned(),
        ),
        _ => None,
    };
    why.map_or(error, io::Error::other)
}

fn can_run(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}

/// What a first line `#!` names: a file, or what `env` is to find.
enum Interpreter {
    File(String),
    ByEnv(String),
}

/// Only spaces and tabs end a word there, so that a carriage return is part of it.
fn interpreter(head: &[u8]) -> Option<Interpreter> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split([' ', '\t', '\0']).filter(|word| !word.is_empty());
    let file = words.next()?.to_owned();
    let is_name = |word: &&str| !word.starts_with('-') && !word.contains('=');
    match words.find(is_name).filter(|_| file.ends_with("/env")) {
        Some(name) if can_run(Path::new(&file)) => Some(Interpreter::ByEnv(name.to_owned())),
        _ => Some(Interpreter::File(file)),
    }
}

fn is_missing(interpreter: &Interpreter, script: &Path) -> Option<String> {
    let (name, is_there) = match interpreter {
        Interpreter::File(file) => (file, can_run(Path::new(file))),
        Interpreter::ByEnv(name) if name.contains('/') => (name, can_run(Path::new(name))),
        Interpreter::ByEnv(name) => (name, found(name).is_some()),
    };
    let windows = if name.ends_with('\r') { " (Windows line ends)" } else { "" };
    let (name, script) = (name.replace('\r', "\\r"), script.display());
    (!is_there).then(|| format!("the interpreter {name} of {script} cannot be found{windows}"))
}

/// The loader that an ELF file of this machine's byte order names.
fn loader(file: &File, head: &[u8]) -> Option<PathBuf> {
    // Bytes of an address, and where things stand: the table of parts, the size and number of its
    // rows, and in a row the place and the length of what it is about.
    let (word, at) = match head.get(..5)? {
        b"\x7fELF\x02" => (8, [0x20, 0x36, 0x38, 0x08, 0x20]),
        b"\x7fELF\x01" => (4, [0x1c, 0x2a, 0x2c, 0x04, 0x10]),
        _ => return None,
    };
    let [table, size, count, place, length] = at;
    let [table, size, count] =
        [(table, word), (size, 2), (count, 2)].map(|(at, bytes)| number(head, at, bytes));
    let (table, size) = (table?, size?);
    for row in 0..count? {
        let mut part = [0; 0x28];
        let bytes = file.read_at(&mut part, table + row * size).ok()?;
        if number(&part[..bytes], 0, 4)? == PT_INTERP {
            let length = usize::try_from(number(&part, length, word)?).ok()?;
            let mut name = vec![0; length.min(LOADER_BYTES)];
            file.read_exact_at(&mut name, number(&part, place, word)?).ok()?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(PathBuf::from(OsStr::from_bytes(name)));
        }
    }
    None
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let mut number = [0; 8];
    number[..length].copy_from_slice(bytes.get(at..at + length)?);
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    fn of(bytes: &[u8], mode: u32) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool");
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let said = hindrance(path.as_os_str())?;
        Some(said.replace(&path.display().to_string(), "tool"))
    }

    #[test]
    fn the_interpreter_that_is_missing_is_named() {
        for (text, said) in [
            ("#!/no/such/sh -e\n", "the interpreter /no/such/sh of tool cannot be found"),
            (
                "#!/bin/sh\r\n",
                "the interpreter /bin/sh\\r of tool cannot be found (Windows line ends)",
            ),
            (
                "#! /usr/bin/env no-such-tool\n",
                "the interpreter no-such-tool of tool cannot be found",
            ),
            (
                "#!/usr/bin/env -S A=1 sh\r\n",
                "the interpreter sh\\r of tool cannot be found (Windows line ends)",
            ),
        ] {
            assert_eq!(of(text.as_bytes(), 0o755).as_deref(), Some(said));
        }
        assert_eq!(of(b"#!/bin/sh", 0o755), None);
        assert_eq!(of(b"#!/usr/bin/env sh\n", 0o755), None);
        assert_eq!(of(b"", 0o755), None);
        let mode = "tool is not executable; `chmod +x tool` makes it so";
        assert_eq!(of(b"#!/bin/sh\n", 0o644).as_deref(), Some(mode));
    }

    #[test]
    fn the_loader_that_is_missing_is_named() {
        let own = fs::read(env::current_exe().unwrap()).unwrap();
        assert_eq!(of(&own, 0o755), None);
        let name = b"/ld-linux";
        if let Some(at) = own.windows(name.len()).position(|bytes| bytes == name) {
            let mut other = own.clone();
            other[at + 1..at + 3].copy_from_slice(b"xx");
            let said = of(&other, 0o755).unwrap();
            assert!(said.starts_with("the loader /") && said.contains("/xx-linux"), "{said}");
        }
    }
}
