//! Values in the places of commands.

use std::collections::BTreeMap;

use lab_console::Failure;

use super::options::Options;

/// Commands of a comparison at most.
const COMMANDS_MAX: usize = 1_000;

/// Values by the names of their places.
pub(crate) type Parameters = BTreeMap<String, String>;

/// The commands by their places on the command line, each as often as there are values for its
/// places, or for those of what is run before and after it.
pub(super) fn combinations(options: &Options) -> Result<Vec<(usize, Parameters)>, Failure> {
    let texts = &options.commands;
    let mut all: Vec<(usize, Parameters)> =
        (0..texts.len()).map(|at| (at, Parameters::new())).collect();
    let parameters = &options.parameters;
    for (number, (name, values)) in parameters.iter().enumerate() {
        if parameters[..number].iter().any(|(other, _)| other == name) {
            return Err(Failure::input(format!("two parameters have the name {name}")));
        }
        let place = place(name);
        let mut around = options.runs.prepare.iter().chain(&options.runs.conclude);
        let everywhere = around.any(|text| text.contains(&place));
        let varies = |at: usize| everywhere || texts[at].contains(&place);
        if !all.iter().any(|(at, _)| varies(*at)) {
            return Err(Failure::input(format!("no command has {place}, which is to be replaced")));
        }
        let mut more = Vec::new();
        for (at, parameters) in all {
            if !varies(at) {
                more.push((at, parameters));
                continue;
            }
            if more.len() + values.len() > COMMANDS_MAX {
                return Err(Failure::input(format!(
                    "the parameters give more than {COMMANDS_MAX} commands; give fewer values"
                )));
            }
            for value in values {
                let mut parameters = parameters.clone();
                parameters.insert(name.clone(), value.clone());
                more.push((at, parameters));
            }
        }
        all = more;
    }
    Ok(all)
}

pub(super) fn place(name: &str) -> String {
    format!("{{{name}}}")
}

/// A text with the values at their places. What a value brings with it is no place.
pub(super) fn filled(text: &str, parameters: &Parameters) -> String {
    let (mut full, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        full.push_str(before);
        let found = parameters.iter().find_map(|(name, value)| {
            let after = from[1..].strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value.as_str(), after))
        });
        let (put, after) = found.unwrap_or(from.split_at(1));
        full.push_str(put);
        rest = after;
    }
    full + rest
}

/// The same with the values behind it that are not to be seen in it: "tool (n = 1)".
pub(super) fn titled(text: &str, parameters: &Parameters) -> String {
    let unseen = parameters.iter().filter(|(name, _)| !text.contains(&place(name)));
    let unseen: Vec<String> = unseen.map(|(name, value)| format!("{name} = {value}")).collect();
    let full = filled(text, parameters);
    if unseen.is_empty() { full } else { format!("{full} ({})", unseen.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(&str, &str)]) -> Parameters {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_value_is_put_in_once_and_no_place_is_made_of_it() {
        let values = of(&[("m", "{n}"), ("n", "{m}{"), ("", "none")]);
        for (text, full) in [
            ("{m} {n}", "{n} {m}{"),
            ("{n}{m}", "{m}{{n}"),
            ("{{m}} {o} {m", "{{n}} {o} {m"),
            ("{} {é}", "none {é}"),
            ("", ""),
        ] {
            assert_eq!(filled(text, &values), full);
        }
    }

    #[test]
    fn values_that_are_not_seen_stand_behind_a_text() {
        let values = of(&[("m", "2"), ("n", "1")]);
        assert_eq!(titled("old", &values), "old (m = 2, n = 1)");
        assert_eq!(titled("old {n}", &values), "old 1 (m = 2)");
        assert_eq!(titled("{m}{n}", &values), "21");
    }
}
