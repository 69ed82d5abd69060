//! The ways in which JSON may spell a literal: each letter as it is, or as `\\uXXXX`.

use std::sync::Arc;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::find::Finder;
use crate::parse::unicode_escape;

/// Of each letter of a literal, the characters that it may be.
pub(crate) type Letters = Vec<Vec<char>>;

/// More spellings of a literal's beginning than these are not looked for.
const MOST_SPELLINGS: usize = 16;
/// The same where some are within strings.
const MOST_NESTED: usize = 24;

/// What a letter may be without regard to case: one of ASCII its two forms of ASCII, any other
/// every form that Unicode's simple case folding gives it.
pub(crate) fn forms(letter: char) -> Vec<char> {
    if letter.is_ascii() {
        let mut forms = vec![letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
        forms.dedup();
        return forms;
    }
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
    class.try_case_fold_simple().expect("the Unicode tables are built in");
    class.iter().flat_map(|range| range.start()..=range.end()).collect()
}

/// Finders one of which finds any line that has the literal, unless the line spells one of its
/// characters of ASCII as `\\u00XX`. JSON must not have to escape any of the letters. With `nests`
/// the line may have it in JSON within a string, where each escape has a backslash more.
pub(crate) fn finders(mut letters: Letters, nests: bool) -> Vec<Finder> {
    if letters.iter().flatten().all(char::is_ascii) {
        let text: String = letters.iter().map(|forms| forms[0]).collect();
        // Where one letter may be in either case, all are let be: more lines pass.
        let folds = letters.iter().any(|forms| forms.len() > 1);
        return vec![if folds { Finder::fold(&text) } else { Finder::exact(&text) }];
    }
    if nests {
        // What begins with an escape is found behind its first backslash.
        let ascii = letters.iter().take_while(|forms| forms.iter().all(char::is_ascii)).count();
        letters.drain(..ascii);
    }
    // As far as two letters beyond ASCII: fewer find too much, more are too many.
    let [two, one] = [2, 1].map(|most| spellings(&letters, most, nests));
    let most = if nests { MOST_NESTED } else { MOST_SPELLINGS };
    let beginnings = if two.len() <= most { two } else { one };
    let letters = Arc::new(letters);
    let finder = |beginning: &String| Finder::spelling(beginning, Arc::clone(&letters));
    beginnings.iter().map(finder).collect()
}

/// All spellings of the letters up to so many beyond ASCII, whose case in ASCII does not matter.
fn spellings(letters: &Letters, most: usize, nests: bool) -> Vec<String> {
    let is_beyond = |forms: &&Vec<char>| !forms.iter().all(char::is_ascii);
    let mut spellings = vec![String::new()];
    let mut beyond = 0;
    for forms in letters {
        if is_beyond(&forms) {
            if beyond == most {
                break;
            }
            beyond += 1;
            let ways: Vec<String> =
                forms.iter().flat_map(|&letter| ways(letter, nests && beyond > 1)).collect();
            let longer = |one: &String| ways.iter().map(|way| format!("{one}{way}")).collect();
            spellings = spellings.iter().flat_map::<Vec<_>, _>(longer).collect();
        } else {
            spellings.iter_mut().for_each(|one| one.push(forms[0]));
        }
    }
    spellings
}

/// A letter as it is, and beyond ASCII as an escape, and as one within a string.
fn ways(letter: char, nests: bool) -> Vec<String> {
    if letter.is_ascii() {
        return vec![letter.into()];
    }
    let unit = |unit: &u16| format!("\\u{unit:04x}");
    let escape: String = letter.encode_utf16(&mut [0; 2]).iter().map(unit).collect();
    let nested = escape.replace('\\', r"\\");
    let mut ways = vec![letter.into(), escape];
    ways.extend(nests.then_some(nested));
    ways
}

/// Whether the literal stands at `at`, however it is spelled.
pub(crate) fn is_spelled_at(bytes: &[u8], mut at: usize, letters: &Letters) -> bool {
    letters.iter().all(|forms| {
        let found = letter_at(&bytes[at..]).filter(|(letter, _)| forms.contains(letter));
        at += found.map_or(0, |(_, length)| length);
        found.is_some()
    })
}

/// The character that begins here, and how many bytes it has; `None` for what no literal holds.
fn letter_at(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes.first()? {
        // In JSON within a string there is a backslash more.
        b'\\' if bytes.starts_with(br"\\u") => letter_at(&bytes[1..]).map(one_more),
        b'\\' => unicode_escape(bytes),
        byte if byte.is_ascii() => Some((char::from(*byte), 1)),
        _ => {
            let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
            let letter = chunk.valid().chars().next()?;
            Some((letter, letter.len_utf8()))
        }
    }
}

fn one_more((letter, length): (char, usize)) -> (char, usize) {
    (letter, length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_found_in_every_spelling() {
        let letters: Letters = "größe".chars().map(forms).collect();
        let finders = finders(letters, false);
        assert_eq!(finders.len(), 16);
        let has = |text: &str| finders.iter().any(|finder| finder.find(text.as_bytes()).is_some());
        for text in ["die Größe", r"die Gr\u00f6\u00dfe", r"gR\u00F6ße", r"GRö\u1E9Ee", "GRÖẞE"]
        {
            assert!(has(text), "{text}");
        }
        let letters: Letters = "größe".chars().map(forms).collect();
        let finders = super::finders(letters, true);
        let has = |text: &str| finders.iter().any(|finder| finder.find(text.as_bytes()).is_some());
        for text in ["die Größe", r"die Gr\\u00f6\\u00dfe", r"gr\u00f6\u00dfe", r"gr\\u00F6ße"] {
            assert!(has(text), "{text}");
        }
        for text in ["grosse", r"gr\u00f6\u00d", r"gr\u00f6\u00dfx", "grö"] {
            assert!(!has(text), "{text}");
        }
    }
}
