//! From a query's text to its expression.

use regex::RegexBuilder;

use super::expr::Literal;
use super::{Expr, Manner, QueryError};

/// Parentheses and NOTs within each other; deeper ones are refused, for each costs stack.
const DEPTH: usize = 100;

pub(super) fn parse(text: &str, manner: Manner) -> Result<Expr, QueryError> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, manner };
    parser.skip_space();
    if parser.peek().is_none() {
        return Ok(Expr::All);
    }
    let expr = parser.or()?;
    match parser.peek() {
        None => Ok(expr),
        Some(_) => Err(parser.wrong(parser.at, "no parenthesis is open here")),
    }
}

struct Parser {
    text: Vec<char>,
    /// Index of the next character; white space before it has been skipped.
    at: usize,
    depth: usize,
    manner: Manner,
}

impl Parser {
    fn or(&mut self) -> Result<Expr, QueryError> {
        let mut any = vec![self.and()?];
        while self.operator("OR") {
            any.push(self.and()?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Expr::Or(any) })
    }

    fn and(&mut self) -> Result<Expr, QueryError> {
        let mut all = vec![self.not()?];
        loop {
            let named = self.operator("AND");
            let ends = self.peek().is_none_or(|next| next == ')') || self.is_operator("OR");
            if ends && !named {
                break;
            }
            all.push(self.not()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::And(all) })
    }

    fn not(&mut self) -> Result<Expr, QueryError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.wrong(self.at, "too many parentheses within each other"));
        }
        let expr =
            if self.operator("NOT") { Expr::Not(Box::new(self.not()?)) } else { self.term()? };
        self.depth -= 1;
        Ok(expr)
    }

    fn term(&mut self) -> Result<Expr, QueryError> {
        let start = self.at;
        let expr = match self.peek() {
            None => return Err(self.wrong(start, "a word, a quote or a regex is missing here")),
            Some(')') => return Err(self.wrong(start, "a term is missing before this parenthesis")),
            Some('(') => {
                self.at += 1;
                self.skip_space();
                let expr = self.or()?;
                if self.peek() != Some(')') {
                    return Err(self.wrong(start, "this parenthesis is never closed"));
                }
                self.at += 1;
                expr
            }
            Some(quote @ ('"' | '\'')) => {
                let text = self.enclosed(quote, "this quote is never closed")?;
                if text.is_empty() {
                    return Err(self.wrong(start, "there is nothing between these quotes"));
                }
                self.literal(text)
            }
            Some('/') => self.regex()?,
            Some(_) => {
                let word = self.word();
                if matches!(word.as_str(), "AND" | "OR") {
                    let message = format!("{word} needs a term before it; quote it to search it");
                    return Err(self.wrong(start, &message));
                }
                self.at += word.chars().count();
                self.literal(word)
            }
        };
        self.skip_space();
        Ok(expr)
    }

    fn literal(&self, text: String) -> Expr {
        Expr::Literal(Literal::new(text, self.manner))
    }

    /// What stands between two `end`s; a backslash makes the next character an ordinary one. In a
    /// regex only the slash loses its backslash, for all others mean something there.
    fn enclosed(&mut self, end: char, message: &str) -> Result<String, QueryError> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            match (self.peek(), self.text.get(self.at + 1)) {
                (None, _) => return Err(self.wrong(start, message)),
                (Some('\\'), Some(&next)) => {
                    if end == '/' && next != '/' {
                        text.push('\\');
                    }
                    text.push(next);
                    self.at += 2;
                }
                (Some(found), _) => {
                    self.at += 1;
                    if found == end {
                        return Ok(text);
                    }
                    text.push(found);
                }
            }
        }
    }

    fn regex(&mut self) -> Result<Expr, QueryError> {
        let start = self.at;
        let pattern = self.enclosed('/', "this regex is never closed; quote a path")?;
        let (mut i, mut m, mut s) = (self.manner.folds(&pattern), false, false);
        while let Some(flag) = self.peek().filter(|&next| !ends_word(next)) {
            match flag {
                'i' => i = true,
                'm' => m = true,
                's' => s = true,
                'u' => {}
                _ => {
                    let message = format!("a regex has no flag `{flag}`; quote a path");
                    return Err(self.wrong(self.at, &message));
                }
            }
            self.at += 1;
        }
        let wrong = |error: &str| {
            // The last line says what is wrong; those before it draw where.
            let last = error.lines().last().unwrap_or_default();
            self.wrong(start, &format!("bad regex: {}", last.trim_start_matches("error: ")))
        };
        let whole = match self.manner.whole_words {
            true => format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}"),
            false => pattern.clone(),
        };
        let regex = RegexBuilder::new(&whole)
            .case_insensitive(i)
            .multi_line(m)
            .dot_matches_new_line(s)
            .build()
            .map_err(|error| wrong(&error.to_string()))?;
        let hir = regex_syntax::ParserBuilder::new()
            .case_insensitive(i)
            .multi_line(m)
            .dot_matches_new_line(s)
            .build()
            .parse(&pattern)
            .map_err(|error| wrong(&error.to_string()))?;
        Ok(Expr::Regex(regex, Box::new(hir)))
    }

    /// The word that begins here; empty at white space and parentheses.
    fn word(&self) -> String {
        self.text[self.at..].iter().take_while(|&&next| !ends_word(next)).collect()
    }

    fn is_operator(&self, operator: &str) -> bool {
        self.word() == operator
    }

    fn operator(&mut self, operator: &str) -> bool {
        let found = self.is_operator(operator);
        if found {
            self.at += operator.len();
            self.skip_space();
        }
        found
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn wrong(&self, at: usize, message: &str) -> QueryError {
        QueryError::Text { column: at + 1, message: message.to_owned() }
    }
}

fn ends_word(next: char) -> bool {
    next.is_whitespace() || next == '(' || next == ')'
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "marks are ranges")]
mod tests {
    use super::*;
    use crate::parse::Text;
    use crate::query::Case;

    fn tree(text: &str) -> String {
        match parse(text, Manner::default()) {
            Ok(expr) => expr.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn operators_bind_as_documented() {
        for (text, expected) in [
            ("", "*"),
            ("  \t", "*"),
            ("a b", r#"(and "a" "b")"#),
            ("a AND b OR c d", r#"(or (and "a" "b") (and "c" "d"))"#),
            ("NOT a b", r#"(and (not "a") "b")"#),
            ("NOT NOT (a OR b)c", r#"(and (not (not (or "a" "b"))) "c")"#),
            ("and or not", r#"(and "and" "or" "not")"#),
            ("ORDER don't a/b", r#"(and "ORDER" "don't" "a/b")"#),
            (r#""a \"b\\" 'c "d"'"#, r#"(and "a \"b\\" "c \"d\"")"#),
            (r"/a\/b\d/ims x", r#"(and /a/b\d/ "x")"#),
            ("\"AND\"", r#""AND""#),
            ("NOTE", r#""NOTE""#),
        ] {
            assert_eq!(tree(text), expected, "{text}");
        }
    }

    #[test]
    fn an_error_names_its_column() {
        for (text, expected) in [
            ("größe \"x", "column 7: this quote is never closed"),
            ("a (b", "column 3: this parenthesis is never closed"),
            ("a b)", "column 4: no parenthesis is open here"),
            ("a ()", "column 4: a term is missing before this parenthesis"),
            ("a AND", "column 6: a word, a quote or a regex is missing here"),
            ("a OR OR b", "column 6: OR needs a term before it; quote it to search it"),
            ("AND b", "column 1: AND needs a term before it; quote it to search it"),
            ("x ''", "column 3: there is nothing between these quotes"),
            ("x /usr/bin", "column 8: a regex has no flag `b`; quote a path"),
            ("x /usr", "column 3: this regex is never closed; quote a path"),
            ("x /a(/", "column 3: bad regex: unclosed group"),
        ] {
            assert_eq!(tree(text), expected, "{text}");
        }
        assert!(tree(&"(".repeat(100_000)).contains("too many parentheses"));
    }

    #[test]
    fn case_matters_where_it_is_asked_for() {
        let holds = |query: &str, case, text: &str| {
            let manner = Manner { case, ..Manner::default() };
            parse(query, manner).unwrap().holds(&mut Text::Whole(text))
        };
        use Case::{Exact, Ignored, Own, Smart};
        assert!(holds("ERROR", Own, "an Error") && !holds("ERROR", Exact, "an Error"));
        assert!(holds("straße", Own, "STRAẞE") && holds("ÄrGER", Own, "äRgER"));
        assert!(!holds("/error/", Own, "ERROR") && holds("/error/i", Exact, "ERROR"));
        assert!(holds("/error/", Ignored, "ERROR") && holds("/error/", Smart, "ERROR"));
        assert!(holds("error", Smart, "ERROR") && !holds("Error", Smart, "ERROR"));
        assert!(!holds("/Error/", Smart, "ERROR") && holds(r"/erro\W/", Smart, "ERRO-"));
        // The Kelvin sign is another letter, unless a regex folds it.
        assert!(!holds("k", Own, "\u{212a}") && holds("/k/i", Own, "\u{212a}"));
    }

    #[test]
    fn a_word_that_is_to_be_whole_has_no_letter_beside_it() {
        let manner = Manner { whole_words: true, ..Manner::default() };
        let marks = |query: &str, text: &str| parse(query, manner).unwrap().marks(text);
        for (query, text, expected) in [
            ("cat", "cats cat_ 2cat cat, Cat", &[15..18, 20..23][..]),
            ("cat", "écat caté", &[]),
            ("größe", "Größen GRÖẞE", &[9..17]),
            ("/ca./", "cats scar cat-like", &[10..13]),
            ("/ca|cat/", "cat", &[0..3]),
            ("'(cat)'", "x(cat) (cat)", &[7..12]),
            ("aa", "aaa aa", &[4..6]),
        ] {
            assert_eq!(marks(query, text), expected, "{query} in {text}");
        }
    }

    #[test]
    fn marks_are_apart() {
        let marks = |query: &str, text: &str| parse(query, Manner::default()).unwrap().marks(text);
        assert_eq!(marks("(abc OR bcd) NOT e", "abcd abc e"), [0..4, 5..8]);
        assert_eq!(marks("/x*/", "axx"), [1..3]);
        assert!(marks("", "any").is_empty());
    }
}
