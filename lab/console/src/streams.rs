//! What is printed. A reader that closes its end, as `head` does, has seen enough: that is no
//! reason to end, and none to lose what is written to files.

use std::{
    fmt::Display,
    io::{self, BufWriter, ErrorKind, Write},
};

use crate::{Failure, plain};

/// Prints to the standard output.
///
/// # Errors
/// Where it cannot be written and somebody still reads it, such as a file on a full disk: code 4.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    printed(output.write_all(bytes).and_then(|()| output.flush()))
}

/// Prints texts to the standard output, one after the other.
///
/// # Errors
/// As [`print`].
pub fn print_all(mut texts: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut output = BufWriter::new(io::stdout().lock());
    let written = texts.try_for_each(|text| output.write_all(text.as_bytes()));
    printed(written.and_then(|()| output.flush()))
}

fn printed(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::files(format!("cannot print the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// A line to the standard error; what becomes of it changes nothing. Strangers' words in it do
/// nothing to a terminal or a CI system.
pub fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "{}", plain::lines(&line.to_string()));
}

/// A line that a CI system obeys.
pub fn tell_ci(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
