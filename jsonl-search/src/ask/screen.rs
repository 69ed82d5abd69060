//! What standard output can show.

use std::env;
use std::io::{IsTerminal, stdout};

pub(super) fn is_terminal() -> bool {
    stdout().is_terminal()
}

/// Whether colours are wanted where no option says so: `NO_COLOR` forbids them, `CLICOLOR_FORCE`
/// wants them everywhere, and else a terminal that is not dumb has them.
pub(super) fn has_colours() -> bool {
    let value = |name| env::var_os(name).filter(|value| !value.is_empty());
    if value("NO_COLOR").is_some() {
        return false;
    }
    if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    is_terminal() && value("TERM").is_some_and(|term| term != "dumb")
}
