//! Arithmetic over numbers and names, in one reader for formulas, definitions and equations.

use crate::checks::Span;

/// An expression of numbers and names.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number, or all that prints like it.
    Number(Span),
    /// A column, a metric, a declared name.
    Name(String),
    /// An operator or a function with its arguments.
    Of(Operation, Vec<Expression>),
}

/// What an expression can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// a + b
    Add,
    /// a - b
    Subtract,
    /// a * b
    Multiply,
    /// a / b
    Divide,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Without its sign.
    Abs,
}

use Operation::{Abs, Add, Divide, Max, Min, Multiply, Subtract};

/// Deeper nesting is nothing that somebody wrote by hand.
const DEEPEST: usize = 32;

impl Expression {
    /// Reads a whole text of numbers, names, `+ - * / ( )`, `min`, `max` and `abs`; `None` where it
    /// is anything else. A name has single spaces within, or stands in double quotes; a minus
    /// between names needs spaces.
    pub fn parse(text: &str) -> Option<Self> {
        let chars: Vec<char> = text.trim().chars().collect();
        let mut reader = Reader::new(&chars, 0, false);
        let expression = reader.sum(&mut operand)?;
        reader.spaces();
        (reader.at == chars.len()).then_some(expression)
    }

    /// The names in it, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = match self {
            Self::Number(_) => Vec::new(),
            Self::Name(name) => vec![name.as_str()],
            Self::Of(_, parts) => parts.iter().flat_map(Self::names).collect(),
        };
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }

    /// Whether something in it is divided.
    pub fn divides(&self) -> bool {
        let Self::Of(operation, parts) = self else { return false };
        *operation == Divide || parts.iter().any(Self::divides)
    }

    /// What it can be for what the names are; `None` where one has no value, or something may be
    /// divided by zero.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<Span>) -> Option<Span> {
        let (operation, parts) = match self {
            Self::Number(number) => return Some(*number),
            Self::Name(name) => return of(name),
            Self::Of(operation, parts) => (*operation, parts),
        };
        let parts: Vec<Span> = parts.iter().map(|part| part.value(of)).collect::<Option<_>>()?;
        let ends = |f: fn(f64, f64) -> f64| {
            let both = |a: Span, b: Span| Span { low: f(a.low, b.low), high: f(a.high, b.high) };
            parts.iter().copied().reduce(both)
        };
        match (operation, parts.as_slice()) {
            (Add, &[a, b]) => Some(a.plus(b)),
            (Subtract, &[a, b]) => Some(a.minus(b)),
            (Multiply, &[a, b]) => Some(a.by(b)),
            (Divide, &[a, b]) => a.over(b),
            (Min, _) => ends(f64::min),
            (Max, _) => ends(f64::max),
            (Abs, &[a]) if a.low >= 0.0 => Some(a),
            (Abs, &[a]) if a.high <= 0.0 => Some(a.times(-1.0)),
            (Abs, &[a]) => Some(Span { low: 0.0, high: a.high.max(-a.low) }),
            _ => None,
        }
    }
}

/// What reads a number or a name where it stands.
pub(crate) type Atom<'f> = dyn FnMut(&mut Reader<'_>) -> Option<Expression> + 'f;

/// A place in a text.
pub(crate) struct Reader<'a> {
    pub(crate) chars: &'a [char],
    pub(crate) at: usize,
    /// In prose a hyphen without spaces makes a range, and a lone x multiplies.
    prose: bool,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(chars: &'a [char], at: usize, prose: bool) -> Self {
        Self { chars, at, prose, depth: 0 }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(crate) fn spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, sign: char) -> Option<()> {
        self.spaces();
        (self.peek() == Some(sign)).then(|| self.at += 1)
    }

    pub(crate) fn sum(&mut self, atom: &mut Atom<'_>) -> Option<Expression> {
        self.chain(&[Add, Subtract], &mut |reader| {
            reader.chain(&[Multiply, Divide], &mut |reader| reader.factor(atom))
        })
    }

    fn chain(&mut self, wanted: &[Operation], part: &mut Atom<'_>) -> Option<Expression> {
        let mut left = part(self)?;
        loop {
            let before = self.at;
            self.spaces();
            let spaced = self.at > before && self.chars.get(self.at + 1) == Some(&' ');
            let operation = match self.peek() {
                Some('+') => Some(Add),
                Some('-' | '−' | '–') if spaced || !self.prose => Some(Subtract),
                Some('*' | '×' | '·') => Some(Multiply),
                Some('x') if spaced && self.prose => Some(Multiply),
                Some('/' | '÷') => Some(Divide),
                _ => None,
            };
            let Some(operation) = operation.filter(|one| wanted.contains(one)) else {
                self.at = before;
                return Some(left);
            };
            self.at += 1;
            self.spaces();
            left = Expression::Of(operation, vec![left, part(self)?]);
        }
    }

    fn factor(&mut self, atom: &mut Atom<'_>) -> Option<Expression> {
        self.spaces();
        if self.peek() != Some('(') {
            return atom(self);
        }
        self.at += 1;
        let inner = self.nested(&mut |reader| reader.sum(atom))?;
        self.take(')')?;
        Some(inner)
    }

    fn nested(&mut self, inner: &mut Atom<'_>) -> Option<Expression> {
        self.depth += 1;
        let inside = if self.depth > DEEPEST { None } else { inner(self) };
        self.depth -= 1;
        inside
    }

    fn operand(&mut self) -> Option<Expression> {
        match self.peek()? {
            '-' => {
                self.at += 1;
                let inner = self.nested(&mut |reader| reader.factor(&mut operand))?;
                let minus = Expression::Number(Span::exact(-1.0));
                Some(Expression::Of(Multiply, vec![minus, inner]))
            }
            '"' => {
                let rest = &self.chars[self.at + 1..];
                let end = rest.iter().position(|c| *c == '"')?;
                self.at += end + 2;
                Some(Expression::Name(rest[..end].iter().collect()))
            }
            c if c.is_ascii_digit() => self.number(),
            c if c.is_alphabetic() || c == '_' => self.name(),
            _ => None,
        }
    }

    /// A number; a percent sign behind it says nothing that a factor does not.
    fn number(&mut self) -> Option<Expression> {
        let start = self.at;
        let digit = |at: usize| self.chars.get(at).is_some_and(char::is_ascii_digit);
        let grouping = |at: usize| (1..=3).all(|next| digit(at + next)) && !digit(at + 4);
        let mut end = start;
        while digit(end)
            || self.chars.get(end) == Some(&'.')
            || self.chars.get(end) == Some(&',') && grouping(end)
        {
            end += 1;
        }
        let text: String = self.chars[start..end].iter().filter(|c| **c != ',').collect();
        self.at = end + usize::from(self.chars.get(end) == Some(&'%'));
        // "2x" and "5ms" are values of a case.
        let glued = self.peek().is_some_and(char::is_alphabetic);
        let value = text.parse().ok().filter(|_| !glued)?;
        Some(Expression::Number(Span::exact(value)))
    }

    /// Words with single spaces between them, or a function's arguments.
    fn name(&mut self) -> Option<Expression> {
        let start = self.at;
        let mut end = start;
        while let Some(c) = self.peek() {
            let letter =
                |offset: usize| self.chars.get(self.at + offset).is_some_and(|c| c.is_alphabetic());
            if c.is_alphanumeric() || matches!(c, '_' | '.' | '\'') || c == '-' && letter(1) {
                self.at += 1;
                end = self.at;
            } else if c == ' ' && letter(1) {
                self.at += 1;
            } else {
                break;
            }
        }
        self.at = end;
        let name: String = self.chars[start..end].iter().collect();
        let operation = match name.as_str() {
            "min" => Min,
            "max" => Max,
            "abs" => Abs,
            _ => return Some(Expression::Name(name)),
        };
        if self.take('(').is_none() {
            return Some(Expression::Name(name));
        }
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.nested(&mut |reader| reader.sum(&mut operand))?);
            if self.take(',').is_none() {
                break;
            }
        }
        self.take(')')?;
        Some(Expression::Of(operation, arguments))
    }
}

/// A number, a name, a function, or one of them with a minus.
fn operand(reader: &mut Reader<'_>) -> Option<Expression> {
    reader.operand()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let of = |name: &str| match name {
            "a" => Some(Span::exact(3.0)),
            "b.mean" | "user ms" => Some(Span::exact(4.0)),
            "base" => Some(Span::exact(8.0)),
            _ => None,
        };
        Some(Expression::parse(text)?.value(&of)?.middle())
    }

    #[test]
    fn arithmetic_is_as_usual() {
        assert_eq!(value("1 + 2 * 3"), Some(7.0));
        assert_eq!(value("(1 + 2) * 3 - -1"), Some(10.0));
        assert_eq!(value("100 * (a + b.mean) / (2 * max(a, b.mean))"), Some(87.5));
        assert_eq!(value("abs(a - \"user ms\") - min(1, 2, 0.5)"), Some(0.5));
        assert_eq!(value("(base - user ms) / base × 100%"), Some(50.0));
        assert_eq!(value("a / (a - 3)"), None);
        assert_eq!(value("base / other"), None);
    }

    #[test]
    fn other_texts_are_none() {
        let deep = "(".repeat(100);
        let signs = "-".repeat(100);
        for text in ["", "1 +", "(1", "1 2", "a ^ 2", "\"a", "min(", "12 ms", "2x faster / base"] {
            assert_eq!(Expression::parse(text), None, "{text}");
        }
        for text in ["base / a, averaged", &deep, &signs] {
            assert_eq!(Expression::parse(text), None, "{text}");
        }
    }
}
