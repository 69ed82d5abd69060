//! The schemas that editors read are made of the types that the lab reads files into.
//!
//! After a change of such a type `WRITE_SCHEMAS=1 cargo test -p lab-families --test schemas` writes
//! them anew.

use std::{env, fs, path::Path};

use lab_families::runtimes::Configurations;
use lab_family::Family;
use lab_plan::{experiment_schema, schema_of, variant_schema};
use lab_record::{Run, RunFile};
use serde_json::Value;

/// Every schema by its file.
fn schemas() -> [(&'static str, Value); 5] {
    let families = lab_families::ALL.iter().map(|family| *family as &dyn Family);
    [
        ("experiment.json", experiment_schema(families)),
        ("variant.json", variant_schema()),
        ("configurations.json", schema_of::<Configurations>("Servers' configurations")),
        ("run.json", schema_of::<RunFile>("run.json of a results folder")),
        ("runs.json", schema_of::<Run>("A line of runs.jsonl")),
    ]
}

#[test]
fn every_schema_is_that_of_its_type() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (name, made) in schemas() {
        let path = folder.join(name);
        let text = serde_json::to_string_pretty(&made).expect("a schema is JSON") + "\n";
        if env::var_os("WRITE_SCHEMAS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap() == text,
            "schemas/{name} is not what the types say: WRITE_SCHEMAS=1 cargo test -p lab-families \
             --test schemas writes it"
        );
    }
}
