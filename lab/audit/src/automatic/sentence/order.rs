//! `90.0 % < 89.4 %`: two numbers and the sign between them.

use super::{Verdict, Wrong, shown};
use crate::printed::scan;
use crate::{Check, Severity};

/// Every pair of numbers of one unit with `<` or `>` between them.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    if !text.contains(['<', '>']) {
        return Vec::new();
    }
    let chars: Vec<char> = text.chars().collect();
    let numbers = scan::placed(&chars);
    let mut found = Vec::new();
    for pair in numbers.windows(2) {
        let [(_, first), (start, second)] = pair else { continue };
        let between: String = chars[first.end..*start].iter().collect();
        let (a, b) = (&first.printed, &second.printed);
        let holds = match between.trim() {
            "<" => a.value < b.value,
            ">" => a.value > b.value,
            _ => continue,
        };
        if a.unit != b.unit || a.unit.is_none() {
            continue;
        }
        let wrong = (!holds && a.value != b.value).then(|| Wrong {
            check: Check::OrderOfTwo,
            severity: Severity::Inconsistent,
            computed: b.value,
            sentence: format!("{} {} {} does not hold", shown(a), between.trim(), shown(b)),
            how: "the two numbers as they stand".to_owned(),
        });
        found.push(Verdict { stated: a.clone(), wrong });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_the_wrong_way_round_is_found() {
        let found = |text: &str| -> Vec<bool> {
            verdicts(text).into_iter().map(|one| one.wrong.is_some()).collect()
        };
        assert_eq!(found("90.0% < 89.4% < 90.0%"), [true, false]);
        assert_eq!(found("5 ms > 3 ms"), [false]);
        assert!(found("12% <5 ms").is_empty());
    }
}
