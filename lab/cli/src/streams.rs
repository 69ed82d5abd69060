//! What is printed. A reader that closes its end, as `head` does, has seen enough: that is no
//! reason to end, and none to lose what is written to files.

use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
};

use crate::Failure;

/// Prints to the standard output.
///
/// # Errors
/// Where it cannot be written and somebody still reads it, such as a file on a full disk: code 4.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure { code: 4, sentence: format!("cannot print the result: {error}") })
        }
        _ => Ok(()),
    }
}

/// A line to the standard error; what becomes of it changes nothing.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
