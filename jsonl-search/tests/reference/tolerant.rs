//! Lines as trees, whatever is wrong with them.

/// A value; an object's fields in their order, also those that come twice.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    Text(String),
    Number(String),
    Word(&'static str),
}

const SPACE: [char; 5] = [' ', '\t', '\r', '\n', '\0'];

/// The records of a line.
pub(super) fn records(line: &str) -> Vec<Tree> {
    let letters: Vec<char> = line.chars().collect();
    let mut reader = Reader { letters, at: 0, is_cut: false };
    let mut found = Vec::new();
    while let Some(&letter) = reader.letters.get(reader.at) {
        let begins = letter == '{' && reader.after_space(reader.at + 1) == Some('"');
        if !begins {
            reader.at += 1;
            continue;
        }
        reader.is_cut = false;
        found.extend(reader.value(0));
    }
    found
}

/// JSON as a tree.
pub(super) fn value(json: &str) -> Tree {
    let mut reader = Reader { letters: json.chars().collect(), at: 0, is_cut: false };
    reader.value(0).unwrap()
}

struct Reader {
    letters: Vec<char>,
    at: usize,
    /// Whether the record ends here, with something missing.
    is_cut: bool,
}

impl Reader {
    fn after_space(&self, from: usize) -> Option<char> {
        self.letters[from.min(self.letters.len())..].iter().copied().find(|it| !SPACE.contains(it))
    }

    fn next(&mut self) -> Option<char> {
        while self.letters.get(self.at).is_some_and(|letter| SPACE.contains(letter)) {
            self.at += 1;
        }
        self.letters.get(self.at).copied()
    }

    fn cut<T>(&mut self) -> Option<T> {
        self.is_cut = true;
        None
    }

    /// `None` where nothing of it is there.
    fn value(&mut self, depth: usize) -> Option<Tree> {
        match self.next() {
            Some('{') if depth < 127 => Some(self.object(depth)),
            Some('[') if depth < 127 => Some(self.array(depth)),
            Some('"') => Some(Tree::Text(self.text())),
            Some(_) => self.scalar(),
            None => self.cut(),
        }
    }

    fn scalar(&mut self) -> Option<Tree> {
        let is_part = |letter: &char| letter.is_ascii_alphanumeric() || "+-._".contains(*letter);
        let rest = self.letters[self.at..].iter();
        let text: String = rest.take_while(|letter| is_part(letter)).collect();
        if text.is_empty() {
            return self.cut();
        }
        self.at += text.len();
        Some(match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(serde_json::Value::Number(_)) => Tree::Number(text),
            Ok(serde_json::Value::Bool(true)) => Tree::Word("true"),
            Ok(serde_json::Value::Bool(false)) => Tree::Word("false"),
            _ => Tree::Word("null"),
        })
    }

    fn object(&mut self, depth: usize) -> Tree {
        let mut fields = Vec::new();
        self.at += 1;
        while !self.is_cut {
            match self.next() {
                Some(',') => self.at += 1,
                Some('}' | ']') => {
                    self.at += 1;
                    break;
                }
                Some('"') => {
                    let key = self.text();
                    if self.is_cut || self.next() != Some(':') {
                        self.is_cut = true;
                        break;
                    }
                    self.at += 1;
                    let value = self.value(depth + 1);
                    fields.push((key, value.unwrap_or(Tree::Word("null"))));
                }
                _ => self.is_cut = true,
            }
        }
        Tree::Object(fields)
    }

    fn array(&mut self, depth: usize) -> Tree {
        let mut elements = Vec::new();
        self.at += 1;
        let mut has_comma = true;
        while !self.is_cut {
            match self.next() {
                None => self.is_cut = true,
                Some(',') => {
                    self.at += 1;
                    has_comma = true;
                    continue;
                }
                Some('}' | ']') => {
                    self.at += 1;
                    break;
                }
                Some('{') if !has_comma => self.is_cut = true,
                Some(_) => elements.extend(self.value(depth + 1)),
            }
            has_comma = false;
        }
        Tree::Array(elements)
    }

    /// The string whose quote is next.
    fn text(&mut self) -> String {
        let start = self.at + 1;
        let mut end = start;
        while end < self.letters.len() && self.letters[end] != '"' {
            end += if self.letters[end] == '\\' { 2 } else { 1 };
        }
        let inside = &self.letters[start..end.min(self.letters.len())];
        let visible = inside.iter().rposition(|letter| !" \t\r\n\u{c}".contains(*letter));
        let brace = visible.filter(|&at| inside[at] == '{');
        let follows = if end < self.letters.len() { self.after_space(end + 1) } else { None };
        if let (Some(brace), Some(letter)) = (brace, follows)
            && !",:}]".contains(letter)
        {
            let text = meant(&inside[..brace]);
            self.at = start + brace;
            self.is_cut = true;
            return text;
        }
        let text = meant(inside);
        self.is_cut |= end >= self.letters.len();
        self.at = (end + 1).min(self.letters.len());
        text
    }
}

fn meant(inside: &[char]) -> String {
    let mut units = Vec::new();
    let mut at = 0;
    let hex = |at: usize| {
        let digits: String = inside.get(at..at + 4)?.iter().collect();
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if is_hex { u16::from_str_radix(&digits, 16).ok() } else { None }
    };
    while at < inside.len() {
        let mut letter = inside[at];
        let mut length = 1;
        if letter == '\\' {
            let known = "\"\\/bfnrt".chars().zip("\"\\/\u{8}\u{c}\n\r\t".chars());
            let escaped = inside.get(at + 1).copied().unwrap_or('?');
            if let Some((_, means)) = known.into_iter().find(|(name, _)| *name == escaped) {
                (letter, length) = (means, 2);
            } else if let Some(unit) = hex(at + 2).filter(|_| escaped == 'u') {
                units.push(unit);
                at += 6;
                continue;
            }
        }
        units.extend(letter.encode_utf16(&mut [0; 2]).iter());
        at += length;
    }
    String::from_utf16_lossy(&units)
}
