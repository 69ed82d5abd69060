//! Formulas of columns or metrics: numbers, names, `+ - * / ( )`, `min`, `max`, `abs`.

use lab_audit::checks::Span;

/// A formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A column or a metric.
    Name(String),
    /// A function or an operator with its arguments.
    Apply(Operation, Vec<Formula>),
}

/// What a formula can do.
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

impl Formula {
    /// Reads a formula. Names that hold more than letters, digits, `_`, `.` and inner `-` stand
    /// in double quotes; a minus between names needs spaces.
    ///
    /// # Errors
    /// One sentence with the place.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
        let formula = parser.sum()?;
        match parser.tokens.get(parser.at) {
            None => Ok(formula),
            Some(token) => Err(format!("`{text}`: did not expect {token:?}")),
        }
    }

    /// Every name in it.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Name(name) => vec![name],
            Self::Apply(_, parts) => parts.iter().flat_map(Self::names).collect(),
        }
    }

    /// Its value where names have these; `None` where one has none, or something is divided by
    /// what can be zero.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<Span>) -> Option<Span> {
        let (operation, parts) = match self {
            Self::Number(number) => return Some(Span::exact(*number)),
            Self::Name(name) => return of(name),
            Self::Apply(operation, parts) => (*operation, parts),
        };
        let parts: Vec<Span> = parts.iter().map(|part| part.value(of)).collect::<Option<_>>()?;
        let both = |f: fn(f64, f64) -> f64| {
            let combine = |a: Span, b: Span| Span { low: f(a.low, b.low), high: f(a.high, b.high) };
            parts.iter().copied().reduce(combine)
        };
        match (operation, parts.as_slice()) {
            (Add, &[a, b]) => Some(a.plus(b)),
            (Subtract, &[a, b]) => Some(a.minus(b)),
            (Multiply, &[a, b]) => Some(a.by(b)),
            (Divide, &[a, b]) => a.over(b),
            (Min, _) => both(f64::min),
            (Max, _) => both(f64::max),
            (Abs, &[a]) if a.low >= 0.0 => Some(a),
            (Abs, &[a]) if a.high <= 0.0 => Some(a.times(-1.0)),
            (Abs, &[a]) => Some(Span { low: 0.0, high: a.high.max(-a.low) }),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Sign(char),
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let rest = &chars[at..];
        let inner = |length: usize| {
            let next = rest.get(length + 1).copied().unwrap_or(' ');
            rest[length] == '-' && next.is_alphabetic()
        };
        let length = match c {
            _ if c.is_whitespace() => 1,
            '"' => {
                let end = rest[1..].iter().position(|&c| c == '"');
                let end = end.ok_or_else(|| format!("`{text}`: a quote is not closed"))?;
                tokens.push(Token::Name(rest[1..=end].iter().collect()));
                end + 2
            }
            _ if c.is_ascii_digit() => {
                let number = |c: &char| c.is_ascii_digit() || *c == '.';
                let length = rest.iter().take_while(|c| number(c)).count();
                let digits: String = rest[..length].iter().collect();
                let value = digits.parse().map_err(|_| format!("`{digits}` is no number"))?;
                tokens.push(Token::Number(value));
                length
            }
            _ if c.is_alphabetic() || c == '_' => {
                let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let length = (0..rest.len()).take_while(|&i| part(rest[i]) || inner(i)).count();
                tokens.push(Token::Name(rest[..length].iter().collect()));
                length
            }
            '+' | '-' | '*' | '/' | '(' | ')' | ',' => {
                tokens.push(Token::Sign(c));
                1
            }
            other => return Err(format!("`{text}`: a formula has no `{other}`")),
        };
        at += length;
    }
    Ok(tokens)
}

/// Deeper nesting is no formula that somebody wrote by hand.
const DEEPEST: usize = 32;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn sum(&mut self) -> Result<Formula, String> {
        self.chain(&[('+', Add), ('-', Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Formula, String> {
        self.chain(&[('*', Multiply), ('/', Divide)], Self::atom)
    }

    fn chain(
        &mut self,
        signs: &[(char, Operation)],
        part: fn(&mut Self) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        let mut left = part(self)?;
        while let Some(&(_, operation)) = signs.iter().find(|(sign, _)| self.is_next(*sign)) {
            self.at += 1;
            left = Formula::Apply(operation, vec![left, part(self)?]);
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Formula, String> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        match token {
            Some(Token::Number(number)) => Ok(Formula::Number(number)),
            Some(Token::Name(name)) => match function(&name) {
                Some(operation) if self.is_next('(') => self.arguments(operation),
                _ => Ok(Formula::Name(name)),
            },
            Some(Token::Sign('(')) => {
                let inside = self.nested(Self::sum)?;
                self.expect(')')?;
                Ok(inside)
            }
            Some(Token::Sign('-')) => {
                let inside = self.nested(Self::atom)?;
                Ok(Formula::Apply(Multiply, vec![Formula::Number(-1.0), inside]))
            }
            Some(token) => Err(format!("did not expect {token:?}")),
            None => Err("the formula ends too early".to_owned()),
        }
    }

    fn arguments(&mut self, operation: Operation) -> Result<Formula, String> {
        self.expect('(')?;
        let mut arguments = vec![self.nested(Self::sum)?];
        while self.is_next(',') {
            self.at += 1;
            arguments.push(self.nested(Self::sum)?);
        }
        self.expect(')')?;
        Ok(Formula::Apply(operation, arguments))
    }

    fn nested(
        &mut self,
        part: fn(&mut Self) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the formula is nested deeper than {DEEPEST}"));
        }
        let inside = part(self);
        self.depth -= 1;
        inside
    }

    fn is_next(&self, sign: char) -> bool {
        self.tokens.get(self.at) == Some(&Token::Sign(sign))
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        if !self.is_next(sign) {
            return Err(format!("expected `{sign}`"));
        }
        self.at += 1;
        Ok(())
    }
}

fn function(name: &str) -> Option<Operation> {
    match name {
        "min" => Some(Min),
        "max" => Some(Max),
        "abs" => Some(Abs),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let of = |name: &str| match name {
            "a" => Some(Span::exact(3.0)),
            "b.mean" | "user ms" => Some(Span::exact(4.0)),
            _ => None,
        };
        Formula::parse(text).unwrap().value(&of).map(Span::middle)
    }

    #[test]
    fn arithmetic_is_as_usual() {
        assert_eq!(value("1 + 2 * 3"), Some(7.0));
        assert_eq!(value("(1 + 2) * 3 - -1"), Some(10.0));
        assert_eq!(value("100 * (a + b.mean) / (2 * max(a, b.mean))"), Some(87.5));
        assert_eq!(value("abs(a - \"user ms\") - min(1, 2, 0.5)"), Some(0.5));
        assert_eq!(value("a / (a - 3)"), None);
        assert_eq!(value("unknown"), None);
    }

    #[test]
    fn what_is_no_formula_is_said() {
        for text in ["", "1 +", "(1", "1 2", "a ^ 2", "\"a", "min(", &"(".repeat(100)] {
            assert!(Formula::parse(text).is_err(), "{text}");
        }
    }
}
