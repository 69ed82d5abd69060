//! The book of what was tried against the lab. A test names each attack before it looks at what
//! came of it; `tools/proof attacks` runs those tests and counts.
//!
//! ```
//! use proof_kit::Attack;
//!
//! for name in ["a quote", "a newline"] {
//!     let _attack = Attack::on("pictures", name);
//!     // What must hold is asserted while it lives.
//! }
//! ```

use std::{fs::OpenOptions, io::Write, thread};

/// The variable that names the book, a file; without it nothing is written.
const BOOK: &str = "LAB_ATTACKS";

/// One attack: it was held off where this value goes away without a panic.
#[derive(Debug)]
pub struct Attack {
    line: String,
}

impl Attack {
    /// `kind` is what is attacked, `name` what this one tries: both are for readers of the report.
    #[must_use = "it is judged when it goes away"]
    pub fn on(kind: &str, name: &str) -> Self {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { line: format!("{}\t{}", plain(kind), plain(name)) }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        let Some(book) = std::env::var_os(BOOK) else { return };
        let came_of_it = if thread::panicking() { "wrong" } else { "right" };
        // A line at once: tests beside this one write too.
        let line = format!("{}\t{came_of_it}\n", self.line);
        let file = OpenOptions::new().create(true).append(true).open(&book);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            eprintln!("{}: {error}", book.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_cell_of_the_book() {
        assert_eq!(Attack::on("two\nlines", "a\ttab").line, "two lines\ta tab");
    }
}
