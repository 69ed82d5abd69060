//! Values for the places in commands, as a command line gives them.

use lab_console::Failure;

/// The numbers of a range, as texts.
///
/// # Errors
/// What is no number, and a range that is empty or too long.
pub fn values_of_range([from, to]: [&str; 2], step: f64) -> Result<Vec<String>, Failure> {
    let number = |text: &str| {
        let parsed = text.parse::<f64>().ok().filter(|number| number.is_finite());
        parsed.ok_or_else(|| Failure::input(format!("--parameter-scan: {text} is no number")))
    };
    let (from, to) = (number(from)?, number(to)?);
    let steps = ((to - from) / step + 1e-9).floor();
    if !(step > 0.0 && (0.0..1_000.0).contains(&steps)) {
        return Err(Failure::input(
            "--parameter-scan: give MIN below MAX and at most 1000 steps between them",
        ));
    }
    let decimals = decimals(from).max(decimals(step));
    let values = (0..=steps as u32).map(|at| rounded(from + f64::from(at) * step, decimals));
    Ok(values.collect())
}

/// The values of a list. As with hyperfine (`src/parameter/tokenize.rs`), a backslash before a
/// comma or a backslash makes it a letter of the value, and before anything else it is one itself.
pub fn values_of_list(list: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && [',', '\\'].contains(next));
        match (letter, escaped) {
            (',', None) => values.push(String::new()),
            _ => values.last_mut().expect("there is one").push(escaped.unwrap_or(letter)),
        }
    }
    values
}

/// Digits after the point of the shortest text that gives the number.
fn decimals(number: f64) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Without the tail that adding tenths leaves.
fn rounded(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_backslashes_are_escaped_as_hyperfine_does() {
        assert_eq!(values_of_list("a,b"), ["a", "b"]);
        assert_eq!(values_of_list(r"a\,b,c\\,\d\"), ["a,b", r"c\", r"\d\"]);
        assert_eq!(values_of_list(",a,"), ["", "a", ""]);
        assert_eq!(values_of_list(""), [""]);
    }

    #[test]
    fn ranges_have_no_tails() {
        assert_eq!(rounded(0.1 + 0.2, 1), "0.3");
        assert_eq!((rounded(10.0, 0).as_str(), rounded(10.0, 2).as_str()), ("10", "10"));
        assert_eq!(rounded(-0.1 + 0.1 - 1e-17, 1), "0");
        assert_eq!((decimals(1e-10), decimals(0.25), decimals(3.0)), (10, 2, 0));
    }
}
