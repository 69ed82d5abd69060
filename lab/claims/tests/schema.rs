//! The schema that editors read is made of the types that claim files are read into.
//!
//! After a change of such a type `WRITE_SCHEMAS=1 cargo test -p lab-claims --test schema` writes it
//! anew.

use std::{env, fs, path::Path};

use lab_claims::Claims;
use schemars::generate::SchemaSettings;
use serde_json::json;

#[test]
fn the_schema_is_that_of_the_type() {
    let mut made = SchemaSettings::draft07().into_generator().into_root_schema_for::<Claims>();
    made.insert("title".to_owned(), json!("What a report claims"));
    let text = serde_json::to_string_pretty(&made).expect("a schema is JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/claims.json");
    if env::var_os("WRITE_SCHEMAS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == text,
        "schemas/claims.json is not what the types say: WRITE_SCHEMAS=1 cargo test -p lab-claims \
         --test schema writes it"
    );
}
