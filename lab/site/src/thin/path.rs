//! The lines of a picture, each end told from the one before it, in tenths of a pixel.

/// A path of gnuplot's, whose letters are M and L and whose places are absolute.
pub(super) fn of(path: &str) -> Option<String> {
    let mut kept = Line::default();
    let path = path.replace('M', " M ").replace('L', " L ").replace('Z', " Z ");
    let mut letter = "";
    for word in path.split_whitespace() {
        match word {
            "M" | "L" => letter = word,
            "Z" => kept.close(),
            place => kept.go(letter == "M", point(place)?),
        }
    }
    Some(kept.text)
}

/// The points of an area.
pub(super) fn of_polygon(points: &str) -> Option<String> {
    let mut kept = Line::default();
    for (place, word) in points.split_whitespace().enumerate() {
        kept.go(place == 0, point(word)?);
    }
    kept.close();
    Some(kept.text)
}

/// In tenths of a pixel.
fn point(text: &str) -> Option<(i64, i64)> {
    let (x, y) = text.split_once(',')?;
    let tenths = |text: &str| Some((text.parse::<f64>().ok()? * 10.0).round() as i64);
    Some((tenths(x)?, tenths(y)?))
}

#[derive(Default)]
struct Line {
    text: String,
    at: (i64, i64),
    /// The letter that a further pair of numbers goes on with.
    letter: char,
}

impl Line {
    fn go(&mut self, is_start: bool, to: (i64, i64)) {
        let (x, y) = (to.0 - self.at.0, to.1 - self.at.1);
        self.at = to;
        if is_start {
            self.text.push_str(&format!("M{},{}", number(to.0), number(to.1)));
            self.letter = 'M';
            return;
        }
        match (x, y) {
            (0, 0) => {}
            (x, 0) => self.step('h', &[x]),
            (0, y) => self.step('v', &[y]),
            (x, y) => self.step('l', &[x, y]),
        }
    }

    fn step(&mut self, letter: char, tenths: &[i64]) {
        let mut is_first = self.letter != letter;
        if is_first {
            self.text.push(letter);
        }
        self.letter = letter;
        for tenths in tenths {
            if !is_first && *tenths >= 0 {
                self.text.push(' ');
            }
            self.text.push_str(&number(*tenths));
            is_first = false;
        }
    }

    fn close(&mut self) {
        self.text.push('z');
        self.letter = 'z';
    }
}

/// Tenths as a number, without what may be left out.
fn number(tenths: i64) -> String {
    let (sign, tenths) = (if tenths < 0 { "-" } else { "" }, tenths.abs());
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

/// Every number of a text with so many digits behind the dot, and none that are 0 at its end.
pub(super) fn rounded(text: &str, digits: usize) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
        let (number, behind) =
            number.split_at(number.find(|x| !is_part(x)).unwrap_or(number.len()));
        kept.push_str(before);
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') => {
                let shown = format!("{value:.digits$}");
                kept.push_str(shown.trim_end_matches('0').trim_end_matches('.'));
            }
            _ => kept.push_str(number),
        }
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_did() {
        let path =
            "M83.90,254.91 L88.40,254.91 M83.9,248.19 L83.97,240.00 L90.04,239.06 L91.2,241.0 ";
        assert_eq!(of(path).unwrap(), "M83.9,254.9h4.5M83.9,248.2l.1-8.2 6-.9 1.2 1.9");
        assert_eq!(of_polygon("1.00,2.00 3.00,2.00 3.00,4.04 ").unwrap(), "M1,2h2v2z");
        assert_eq!((of("M1 2"), of_polygon("a,b")), (None, None));
    }

    #[test]
    fn numbers_lose_what_nobody_sees() {
        assert_eq!(rounded("translate(-0.04,12.96) x1", 1), "translate(-0,13) x1");
    }
}
