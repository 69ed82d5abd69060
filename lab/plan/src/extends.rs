//! `extends`: an experiment that states only what differs from another one.

use lab_family::InputError;
use toml::{Table, Value};

/// The key with the name of the other file, which lies beside this one.
pub(crate) const EXTENDS: &str = "extends";
/// The key with the ids of the other file's entries that are left out.
pub(crate) const WITHOUT: &str = "without";

/// The file that an experiment's text extends, as it names it.
pub fn extended_file(text: &str) -> Option<String> {
    let table: Table = text.parse().ok()?;
    table.get(EXTENDS).and_then(Value::as_str).map(str::to_owned)
}

/// The whole text of an experiment that extends another one. Tables are merged key by key, and
/// arrays of tables that all have an `id` entry by entry; every other value replaces the base's.
///
/// # Errors
/// Where one of the texts is no TOML, where the base extends a file itself, and where `without`
/// lists what the base does not have.
pub fn merged(
    (file, text): (&str, &str),
    (base_file, base_text): (&str, &str),
) -> Result<String, InputError> {
    let parse = |file: &str, text: &str| {
        toml::from_str::<Table>(text).map_err(|error| InputError::text(file, &error))
    };
    let (mut own, mut base) = (parse(file, text)?, parse(base_file, base_text)?);
    if base.contains_key(EXTENDS) {
        let message = format!("names `{base_file}`, which extends a file itself; name that one");
        return Err(InputError::value(file, EXTENDS, message));
    }
    own.remove(EXTENDS);
    for id in left_out(file, own.remove(WITHOUT))? {
        if !leave_out(&mut base, &id) {
            let message = format!("`{id}` is no id of `{base_file}`");
            return Err(InputError::value(file, WITHOUT, message));
        }
    }
    merge_tables(&mut base, own);
    Ok(base.to_string())
}

fn left_out(file: &str, ids: Option<Value>) -> Result<Vec<String>, InputError> {
    let Some(ids) = ids else { return Ok(Vec::new()) };
    ids.try_into().map_err(|_| InputError::value(file, WITHOUT, "must be a list of ids"))
}

/// Removes the entries of this id, and says whether there was one.
fn leave_out(table: &mut Table, id: &str) -> bool {
    let mut found = false;
    for (_, value) in table.iter_mut() {
        match value {
            Value::Table(inner) => found |= leave_out(inner, id),
            Value::Array(entries) => {
                let before = entries.len();
                entries.retain(|entry| id_of(entry) != Some(id));
                found |= entries.len() < before;
            }
            _ => {}
        }
    }
    found
}

fn merge_tables(base: &mut Table, own: Table) {
    for (key, value) in own {
        match base.get_mut(&key) {
            Some(old) => merge(old, value),
            None => drop(base.insert(key, value)),
        }
    }
}

fn merge(base: &mut Value, own: Value) {
    match (base, own) {
        (Value::Table(base), Value::Table(own)) => merge_tables(base, own),
        (Value::Array(base), Value::Array(own)) if have_ids(base) && have_ids(&own) => {
            for entry in own {
                match base.iter_mut().find(|old| id_of(old) == id_of(&entry)) {
                    Some(old) => merge(old, entry),
                    None => base.push(entry),
                }
            }
        }
        (base, own) => *base = own,
    }
}

fn have_ids(entries: &[Value]) -> bool {
    entries.iter().all(|entry| id_of(entry).is_some())
}

fn id_of(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
        name = "small"
        blocks = 12
        cells = [{ workers = ["1", "2"] }]
        [analysis]
        alpha = 0.05
        contrasts = [
            { id = "a", level = "2", cells = { streams = ["1"], work = ["0"] } },
            { id = "b", level = "2" },
            { id = "c", level = "2" },
        ]
    "#;

    fn extended(own: &str) -> Result<Table, String> {
        let merged = merged(("own.toml", own), ("base.toml", BASE));
        Ok(merged.map_err(|error| error.to_string())?.parse().unwrap())
    }

    #[test]
    fn tables_and_entries_with_ids_are_merged_and_all_else_is_replaced() {
        let merged = extended(
            r#"
            extends = "base.toml"
            without = ["b"]
            name = "large"
            cells = [{ workers = ["64"] }]
            [analysis]
            contrasts = [
                { id = "d", level = "9" },
                { id = "a", level = "8", cells = { work = ["5"] } },
            ]
            "#,
        );
        let expected: Table = r#"
            name = "large"
            blocks = 12
            cells = [{ workers = ["64"] }]
            [analysis]
            alpha = 0.05
            contrasts = [
                { id = "a", level = "8", cells = { streams = ["1"], work = ["5"] } },
                { id = "c", level = "2" },
                { id = "d", level = "9" },
            ]
        "#
        .parse()
        .unwrap();
        assert_eq!(merged, Ok(expected));
    }

    #[test]
    fn a_file_that_extends_nothing_names_none() {
        assert_eq!(extended_file(BASE), None);
        assert_eq!(extended_file("extends = \"base.toml\""), Some("base.toml".to_owned()));
    }

    #[test]
    fn mistakes_are_named_with_file_and_key() {
        let error = extended("without = [\"z\"]").unwrap_err();
        assert_eq!(error, "own.toml: key `without`: `z` is no id of `base.toml`");
        let error = merged(("own.toml", ""), ("base.toml", "extends = \"x\"")).unwrap_err();
        let expected = "own.toml: key `extends`: names `base.toml`, which extends a file itself; \
                        name that one";
        assert_eq!(error.to_string(), expected);
    }
}
