//! The declared contrasts, completed: a file states what a contrast is about, and a record stores
//! every level that it holds at.

use lab_family::{Cell, InputError};
use lab_record::Contrast;
use toml::{Table, Value};

/// The key with the keys that every contrast takes which does not have them itself.
pub(crate) const SHARED: &str = "contrast_defaults";

/// The level that leaves a factor free.
const ANY: &str = "*";

/// The contrasts under `analysis`, each with the shared keys and the section's default levels.
pub(crate) fn declared(
    file: &str,
    analysis: &Table,
    defaults: &Cell,
) -> Result<Vec<Contrast>, InputError> {
    let shared = match analysis.get(SHARED) {
        Some(shared) => read::<Table>(file, SHARED, shared.clone())?,
        None => Table::new(),
    };
    let Some(written) = analysis.get("contrasts") else { return Ok(Vec::new()) };
    let written: Vec<Table> = read(file, "contrasts", written.clone())?;
    let complete = |one: Table| {
        let key = format!("contrasts.{}", one.get("id").and_then(Value::as_str).unwrap_or("?"));
        let mut whole = shared.clone();
        whole.extend(one);
        whole.entry("cells").or_insert_with(|| Value::Table(Table::new()));
        let contrast = read(file, &key, Value::Table(whole))?;
        Ok(completed(contrast, defaults))
    };
    written.into_iter().map(complete).collect()
}

/// Every factor that the contrast does not name has the default level.
fn completed(mut contrast: Contrast, defaults: &Cell) -> Contrast {
    for (factor, level) in defaults.iter().filter(|(factor, _)| **factor != contrast.factor) {
        contrast.cells.entry(factor.clone()).or_insert_with(|| vec![level.clone()]);
    }
    contrast.cells.retain(|_, levels| levels != &[ANY]);
    contrast
}

fn read<T: serde::de::DeserializeOwned>(
    file: &str,
    key: &str,
    value: Value,
) -> Result<T, InputError> {
    value.try_into().map_err(|error| InputError::inside(file, &format!("analysis.{key}"), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(analysis: &str) -> Result<Vec<String>, String> {
        let defaults = [("streams", "100"), ("work", "0"), ("workers", "1")];
        let defaults = defaults.map(|(factor, level)| (factor.to_owned(), level.to_owned()));
        let declared = declared("e.toml", &analysis.parse().unwrap(), &defaults.into());
        let declared = declared.map_err(|error| error.to_string())?;
        let shown = |(factor, levels): (&String, &Vec<String>)| format!("{factor}={levels:?}");
        Ok(declared.iter().map(|one| one.cells.iter().map(shown).collect()).collect())
    }

    const SHARED_KEYS: &str = r#"
        [contrast_defaults]
        variant = "v"
        metric = "elapsed_ns"
        factor = "workers"
        level = "2"
        reference = "1"
        scale = "ratio"
        margin = 0.05
    "#;

    #[test]
    fn a_contrast_takes_the_default_level_of_every_factor_but_its_own() {
        let own = r#"contrasts = [
            { id = "a" },
            { id = "b", cells = { streams = ["1", "10"] } },
            { id = "c", factor = "work", cells = { workers = ["*"] } },
        ]"#;
        let expected = [
            r#"streams=["100"]work=["0"]"#,
            r#"streams=["1", "10"]work=["0"]"#,
            r#"streams=["100"]"#,
        ];
        assert_eq!(cells(&format!("{own}\n{SHARED_KEYS}")).unwrap(), expected);
    }

    #[test]
    fn a_contrast_that_lacks_a_key_is_named() {
        let error = cells(r#"contrasts = [{ id = "a", variant = "v" }]"#).unwrap_err();
        let start = "e.toml: key `analysis.contrasts.a`: missing field `metric`";
        assert!(error.starts_with(start), "{error}");
    }
}
