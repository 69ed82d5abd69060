//! The programs that a command in a shell consists of. Of a pipeline the shell tells the last one's
//! status alone: one that never ran is found by what the check has seen.

use std::{ffi::OsStr, path::Path};

use lab_console::{Failure, plain};
use lab_process::{Ended, Finished, Run, hindrance};

use super::{
    commands::{Command, in_shell, is_program, until},
    failing::{NOT_FOUND, NOT_STARTED},
    runner::Runner,
};

/// Words behind which a command begins.
const BEFORE_COMMANDS: [&str; 14] = [
    "!", "{", "do", "elif", "else", "exec", "fi", "if", "then", "time", "until", "while", "done",
    "}",
];

impl Runner<'_> {
    /// Refuses a command of which a program never ran, though the whole ended as it may.
    pub(super) fn all_ran(&self, command: &Command, finished: &Finished) -> Result<(), Failure> {
        if matches!(finished.ended, Ended::Exited(NOT_FOUND | NOT_STARTED))
            && let Some(why) = hindrance_of(command)
        {
            return Err(Failure::input(format!("`{}`: {why}", command.shown())));
        }
        if !command.is_in_shell() {
            return Ok(());
        }
        let (said, text) = (String::from_utf8_lossy(&finished.errors), command.shown());
        let is_unheard = ["2>", "&>"].iter().any(|silence| command.text.contains(silence));
        let all = programs(command);
        // One that was not come to said nothing.
        let hindered = (is_unheard || !said.trim().is_empty()).then(|| hindrance_of(command));
        if let Some(why) = hindered.flatten() {
            return Err(Failure::input(format!("`{text}`: {why}")));
        }
        let is_told = |program: &&String| said.contains(program.as_str());
        let is_missing = |program: &&String| !is_there(program) && !self.shell_has(program);
        let missing = all.iter().filter(is_told).find(is_missing);
        missing.map_or(Ok(()), |program| {
            let program = plain::line(program);
            Err(Failure::input(format!("`{program}` of `{text}` was not found")))
        })
    }

    /// Whether it is something that the shell does itself.
    fn shell_has(&self, name: &str) -> bool {
        let mut argv = in_shell("command -v \"$0\"", self.options.shell.name());
        argv.push(name.into());
        let run = Run { argv, ..Run::default() };
        run.execute(self.interrupted).is_ok_and(|finished| finished.ended == Ended::Exited(0))
    }
}

/// What keeps one of its programs from being started.
pub(super) fn hindrance_of(command: &Command) -> Option<String> {
    programs(command).iter().find_map(|program| hindrance(OsStr::new(program)))
}

fn is_there(program: &str) -> bool {
    if program.contains('/') { Path::new(program).exists() } else { is_program(program) }
}

/// Those that can be read without a shell.
fn programs(command: &Command) -> Vec<String> {
    match command.is_in_shell() {
        true => tokens(&command.text).map(beginnings).unwrap_or_default(),
        false => command.argv.first().cloned().into_iter().collect(),
    }
}

#[derive(Debug, PartialEq)]
enum Token {
    /// Without its quotes; `None` of one that a shell expands.
    Word(Option<String>),
    /// What ends a command: `|`, `&&`, `;`, a line's end, a parenthesis.
    End,
    /// What is followed by a file.
    Redirection,
}

/// The words that commands begin with.
fn beginnings(tokens: Vec<Token>) -> Vec<String> {
    let (mut found, mut begins, mut is_file) = (Vec::new(), true, false);
    for token in tokens {
        match token {
            Token::End => (begins, is_file) = (true, false),
            Token::Redirection => is_file = true,
            Token::Word(_) if is_file => is_file = false,
            Token::Word(Some(word)) if begins => {
                let sets = word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
                begins = sets || BEFORE_COMMANDS.contains(&word.as_str());
                found.extend((!begins).then_some(word));
            }
            Token::Word(_) => begins = false,
        }
    }
    found
}

/// `None` of a text with more than commands and their words: alternatives, functions, cases, other
/// texts in it.
fn tokens(text: &str) -> Option<Vec<Token>> {
    // Where a program may fail, another stands behind it.
    let more = ["||", "()", "$(", "`", "<<", "case ", "function ", "alias "];
    if more.iter().any(|more| text.contains(more)) {
        return None;
    }
    let (mut tokens, mut letters) = (Vec::new(), text.chars().peekable());
    let (mut word, mut expands): (Option<String>, bool) = (None, false);
    while let Some(letter) = letters.next() {
        let ends = " \t\n|&;()<>".contains(letter);
        if ends {
            let whole = word.take().map(|word| (!expands).then_some(word));
            let is_descriptor = |word: &Option<String>| {
                let digits = |word: &String| word.chars().all(|digit| digit.is_ascii_digit());
                "<>".contains(letter) && word.as_ref().is_some_and(digits)
            };
            tokens.extend(whole.filter(|word| !is_descriptor(word)).map(Token::Word));
            expands = false;
        }
        match letter {
            ' ' | '\t' => {}
            '<' | '>' => {
                while letters.next_if(|next| "<>&|".contains(*next)).is_some() {}
                tokens.push(Token::Redirection);
            }
            '&' if letters.peek() == Some(&'>') => {}
            _ if ends => tokens.push(Token::End),
            '#' if word.is_none() => while letters.next_if(|next| *next != '\n').is_some() {},
            '\'' | '"' => {
                let (quoted, is_more) = until(&mut letters, letter)?;
                expands |= is_more;
                word.get_or_insert_default().push_str(&quoted);
            }
            _ => {
                expands |= "$*?[~".contains(letter);
                let next = if letter == '\\' { letters.next() } else { Some(letter) };
                word.get_or_insert_default().extend(next);
            }
        }
    }
    tokens.extend(word.map(|word| Token::Word((!expands).then_some(word))));
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        tokens(text).map(beginnings).unwrap_or_default()
    }

    #[test]
    fn every_command_of_a_text_is_found() {
        for (text, programs) in [
            ("./run.sh | cat", &["./run.sh", "cat"][..]),
            ("A=1 B='x y' ./a 2>&1 >out | b -c | 'd e'", &["./a", "b", "d e"]),
            ("if ! a; then b; else { c & d; }; fi", &["a", "b", "c", "d"]),
            ("<in a >\"o u t\" x && (cd y; ./z)\n# no | such\n e", &["a", "cd", "./z", "e"]),
            ("for f in x y; do exec ./a $f; done", &["for", "./a"]),
            ("$TOOL x | \"$OTHER\" | *.sh | ~/a | b\\ c", &["b c"]),
            ("a &> out; b", &["a", "b"]),
            ("echo '| no'#; time a", &["echo", "a"]),
            ("./a || b", &[]),
            ("f() { a; }; f", &[]),
            ("cat <<x", &[]),
            ("echo 'open", &[]),
        ] {
            assert_eq!(of(text), programs, "{text}");
        }
    }
}
