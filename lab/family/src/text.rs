//! A family's section in the text of an experiment, with a profile's changes.

use toml::{Table, Value};

use crate::Definition;

/// Keys of a profile that change the family's section, and not the experiment around it.
const OF_SECTION: [&str; 2] = ["time_scale", "divide_by"];

/// The family's section of an experiment's text, under its name of today or of older records,
/// changed as the profile says. Empty where the text has none: records of a foreign experiment are
/// still read.
pub fn stored_section(text: &str, family: &Definition, profile: Option<&str>) -> Table {
    let Ok(experiment) = text.parse::<Table>() else { return Table::new() };
    let table = |value: Option<&Value>| value.and_then(Value::as_table).cloned();
    let mut names = [family.name].into_iter().chain(family.former_names.iter().copied());
    let found = names.find_map(|name| table(experiment.get(name)));
    let mut section = found.unwrap_or_default();
    let profiles = experiment.get("profile").and_then(Value::as_table);
    if let Some(changes) = profile.and_then(|name| table(profiles?.get(name))) {
        change_section(&mut section, &changes);
    }
    section
}

/// Puts a profile's changes into a section: its scalars replace, its `defaults` are laid over.
pub fn change_section(section: &mut Table, profile: &Table) {
    for key in OF_SECTION {
        if let Some(value) = profile.get(key) {
            section.insert(key.to_owned(), value.clone());
        }
    }
    let Some(over) = profile.get("defaults").and_then(Value::as_table) else { return };
    let defaults = section.entry("defaults").or_insert_with(|| Value::Table(Table::new()));
    if let Some(defaults) = defaults.as_table_mut() {
        defaults.extend(over.clone());
    }
}

/// A section's `defaults`: the level of every factor that a cell does not name.
pub fn defaults(section: &Table) -> crate::Cell {
    let defaults = section.get("defaults").and_then(Value::as_table).into_iter().flatten();
    let level = |(factor, level): (&String, &Value)| Some((factor.clone(), level.as_str()?.into()));
    defaults.filter_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOYS: Definition = Definition {
        name: "toys",
        former_names: &["games"],
        factors: &[],
        adjacent_factor: None,
        metrics: &[],
        section: |_| unreachable!("no test reads it"),
        section_schema: |_| unreachable!("no test reads it"),
    };

    const TEXT: &str = r#"
        [toys]
        divide_by = 2
        [toys.defaults]
        workers = "2"
        kinds = "mixed"
        [profile.quick]
        divide_by = 10
        [profile.quick.defaults]
        workers = "1"
    "#;

    #[test]
    fn a_profile_changes_the_section() {
        let section = stored_section(TEXT, &TOYS, Some("quick"));
        assert_eq!(section["divide_by"].as_integer(), Some(10));
        let expected = [("kinds", "mixed"), ("workers", "1")];
        let defaults = defaults(&section);
        assert!(defaults.iter().map(|(f, l)| (f.as_str(), l.as_str())).eq(expected));
    }

    #[test]
    fn an_older_record_has_the_former_name() {
        let section = stored_section(&TEXT.replace("toys", "games"), &TOYS, None);
        assert_eq!(section["divide_by"].as_integer(), Some(2));
    }

    #[test]
    fn a_section_that_is_not_there_is_empty() {
        assert!(stored_section("[others]\ndivide_by = 2", &TOYS, None).is_empty());
        assert!(stored_section("[[", &TOYS, None).is_empty());
    }
}
