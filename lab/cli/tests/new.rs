//! `lab new` in a checkout made for it.

use std::{fs, path::Path};

use assert_cmd::Command;
use tempfile::TempDir;

const VARIANT: &str = "name = \"plain\"\nfamily = \"engines\"\ntags = []\nsentence = \"Plain.\"\n\
                       measures = \"std\"\nversion = \"1.0.0\"\nfeatures = []\n";

fn checkout() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("plots/style.gp", "");
    write("experiments/first.toml", "schema = 1\nname = \"first\"\nquestion = \"Which?\"\n");
    write("engines/plain/variant.toml", VARIANT);
    write("engines/plain/Cargo.toml", "[package]\nname = \"engines-plain\"\n");
    write("engines/plain/src/main.rs", "fn main() {}\n");
    dir
}

fn lab(root: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    // Absolute, for it is started in another folder.
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_lab")).unwrap();
    let mut lab = Command::new(program);
    lab.current_dir(root).env_remove("BUILD_WORKSPACE_DIRECTORY");
    lab.env_remove("BUILD_WORKING_DIRECTORY");
    let output = lab.arg("new").args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn a_variant_is_the_folder_of_another_one_under_its_own_name() {
    let checkout = checkout();
    let root = checkout.path();
    let (code, said) = lab(root, &["variant", "engines/mine", "--like", "engines/plain"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("cargo test -p engines-conformance"), "{said}");
    let text = |file: &str| fs::read_to_string(root.join("engines/mine").join(file)).unwrap();
    assert_eq!(text("variant.toml"), VARIANT.replacen("plain", "mine", 1));
    assert_eq!(text("Cargo.toml"), "[package]\nname = \"engines-mine\"\n");
    assert_eq!(text("src/main.rs"), "fn main() {}\n");
}

#[test]
fn an_experiment_is_the_file_of_another_one_under_its_own_name() {
    let checkout = checkout();
    let arguments = ["experiment", "second", "--like", "experiments/first.toml"];
    let (code, said) = lab(checkout.path(), &arguments);
    assert_eq!(code, Some(0), "{said}");
    let text = fs::read_to_string(checkout.path().join("experiments/second.toml")).unwrap();
    assert_eq!(text, "schema = 1\nname = \"second\"\nquestion = \"Which?\"\n");
}

#[test]
fn nothing_is_overwritten_and_nothing_half_made_stays() {
    let checkout = checkout();
    let cases: [(&[&str], &str); 6] = [
        (&["variant", "engines/plain", "--like", "engines/plain"], "is there already"),
        (&["variant", "engines/a", "--like", "engines/b"], "there is no such variant"),
        (&["variant", "ledgers/a", "--like", "engines/plain"], "is of another family"),
        (&["variant", "plain2", "--like", "engines/plain"], "is no FAMILY/NAME"),
        (&["variant", "engines/../x", "--like", "engines/plain"], "must begin with a small letter"),
        (&["experiment", "first", "--like", "experiments/first.toml"], "is there already"),
    ];
    for (arguments, message) in cases {
        let (code, said) = lab(checkout.path(), arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    let folders = fs::read_dir(checkout.path().join("engines")).unwrap().count();
    assert_eq!(folders, 1);
}
