//! The exit codes of all commands.

use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what was asked.
    Success = 0,
    /// It finished, and something that it ran or checked failed.
    Failed = 1,
    /// What was asked cannot be done so.
    Input = 2,
    /// A server that was named is not usable.
    Server = 3,
    /// A file cannot be read or written, or was changed.
    File = 4,
    /// The lab itself failed.
    Internal = 5,
    /// Something is slower by more than the margin.
    Slower = 10,
    /// What was asked cannot be told.
    Open = 11,
    /// An alert fired.
    Fired = 12,
    /// The user, or a signal, ended it.
    Interrupted = 130,
}

impl Exit {
    /// All of them with their meanings, for the help of `lab` as a whole.
    pub const ALL: [(Self, &str); 10] = [
        (Self::Success, "success"),
        (
            Self::Failed,
            "finished, but a run, a command or a check failed, `lab doctor` misses a program, or \
             the\naudit found an impossible value",
        ),
        (
            Self::Input,
            "invalid command line, experiment, manifest or table, a variant's program that was not \
             built,\nor unreadable audit input",
        ),
        (Self::Server, "a named server is not usable"),
        (
            Self::File,
            "a file, results folder or corpus cannot be read, written or resumed, or a program or \
             data\nwas changed amid a sweep",
        ),
        (Self::Internal, "internal error"),
        (Self::Slower, "slower by more than the margin, or --fail-on finds what it looks for"),
        (Self::Open, "what was asked cannot be told"),
        (Self::Fired, "an alert of `lab watch` fired"),
        (Self::Interrupted, "interrupted; continue a sweep with `lab run --resume DIR`"),
    ];

    /// Of something that was checked: whether it failed.
    pub fn failed_if(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Success }
    }

    /// What the shell gets.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The end of a command's help: its codes and what they say.
pub fn exit_codes(meanings: &[(Exit, &str)]) -> String {
    let line = |(exit, meaning): &(Exit, &str)| {
        format!("\n  {:<3}  {}", exit.code(), meaning.replace('\n', "\n       "))
    };
    format!("Exit codes:{}", meanings.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_in_a_column_before_their_meanings() {
        let help = exit_codes(&[(Exit::File, "a file\nis gone"), (Exit::Interrupted, "stopped")]);
        assert_eq!(help, "Exit codes:\n  4    a file\n       is gone\n  130  stopped");
    }

    #[test]
    fn all_codes_are_told_in_their_order() {
        let codes = Exit::ALL.map(|(exit, _)| exit.code());
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 10, 11, 12, 130]);
    }
}
