//! Arithmetic over names.

use crate::checks::Span;

/// More operators are no definition of a column.
const MOST: usize = 12;

/// An expression of numbers and names.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Name(String),
    Of(char, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Reads a whole text; `None` where it is anything else, or has no operator.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let chars: Vec<char> = text.trim().chars().collect();
        let mut reader = Reader { chars: &chars, at: 0, operators: 0 };
        let expression = reader.sum()?;
        reader.spaces();
        let whole = reader.at == chars.len() && (1..=MOST).contains(&reader.operators);
        whole.then_some(expression)
    }

    /// The names in it, each once.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.collect(&mut names);
        names
    }

    fn collect(&self, names: &mut Vec<String>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) if names.contains(name) => {}
            Self::Name(name) => names.push(name.clone()),
            Self::Of(_, a, b) => {
                a.collect(names);
                b.collect(names);
            }
        }
    }

    /// What it can be for what the names are; `None` where one has no value, or may divide by
    /// zero.
    pub(super) fn value(&self, of: &dyn Fn(&str) -> Option<Span>) -> Option<Span> {
        match self {
            Self::Number(number) => Some(Span::exact(*number)),
            Self::Name(name) => of(name),
            Self::Of(sign, a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                match sign {
                    '+' => Some(a.plus(b)),
                    '-' => Some(a.minus(b)),
                    '*' => Some(a.by(b)),
                    _ => a.over(b),
                }
            }
        }
    }
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    operators: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut left = self.product()?;
        loop {
            self.spaces();
            let sign = match self.peek() {
                Some('+') => '+',
                Some('-' | '−' | '–') => '-',
                _ => return Some(left),
            };
            self.step()?;
            left = Expression::Of(sign, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.factor()?;
        loop {
            self.spaces();
            let sign = match self.peek() {
                Some('*' | '×' | '·') => '*',
                Some('/' | '÷') => '/',
                _ => return Some(left),
            };
            self.step()?;
            left = Expression::Of(sign, Box::new(left), Box::new(self.factor()?));
        }
    }

    fn step(&mut self) -> Option<()> {
        self.at += 1;
        self.operators += 1;
        (self.operators <= MOST).then_some(())
    }

    fn factor(&mut self) -> Option<Expression> {
        self.spaces();
        match self.peek()? {
            '(' => {
                self.at += 1;
                let inner = self.sum()?;
                self.spaces();
                (self.peek() == Some(')')).then(|| self.at += 1)?;
                Some(inner)
            }
            c if c.is_ascii_digit() => self.number(),
            c if c.is_alphabetic() => Some(self.name()),
            _ => None,
        }
    }

    /// A number; behind it a percent sign says nothing that a factor does not.
    fn number(&mut self) -> Option<Expression> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit() || matches!(c, '.' | ',')) {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().filter(|c| **c != ',').collect();
        if self.peek() == Some('%') {
            self.at += 1;
        }
        // "2x" and "5ms" are values of a case.
        let glued = self.peek().is_some_and(char::is_alphabetic);
        (!glued).then_some(())?;
        text.parse().ok().map(Expression::Number)
    }

    /// Words with single spaces between them; a hyphen within joins them.
    fn name(&mut self) -> Expression {
        let start = self.at;
        let mut end = self.at;
        while let Some(c) = self.peek() {
            let joined = matches!(c, '_' | '.' | '\'')
                || c == '-' && self.chars.get(self.at + 1).is_some_and(|c| c.is_alphanumeric());
            if c.is_alphanumeric() || joined {
                self.at += 1;
                end = self.at;
            } else if c == ' ' && self.chars.get(self.at + 1).is_some_and(|c| c.is_alphabetic()) {
                self.at += 1;
            } else {
                break;
            }
        }
        self.at = end;
        Expression::Name(self.chars[start..end].iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let of = |name: &str| match name {
            "run time" => Some(Span::exact(4.0)),
            "base" => Some(Span::exact(8.0)),
            _ => None,
        };
        Some(Expression::parse(text)?.value(&of)?.middle())
    }

    #[test]
    fn definitions_are_calculated() {
        assert_eq!(value("base / run time"), Some(2.0));
        assert_eq!(value("(base - run time) / base × 100%"), Some(50.0));
        assert_eq!(value("(base / 2) * 100%"), Some(400.0));
        assert_eq!(value("base + run time"), Some(12.0));
        assert_eq!(value("base / other"), None);
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["base", "12 ms", "base / run time, averaged", "2x faster / base", "", "(a + b"]
        {
            assert_eq!(Expression::parse(text), None, "{text}");
        }
    }
}
