//! `tools/try/stranger` as it is called; what it tries takes an hour, and is tried by hand.

use std::process::{Command, Output};

use lab_tidy::repository::Repository;

fn stranger(arguments: &[&str]) -> Output {
    let root = Repository::of_package(env!("CARGO_MANIFEST_DIR")).root().to_owned();
    let mut stranger = Command::new("python3");
    stranger.arg(root.join("tools/try/stranger")).args(arguments);
    stranger.output().expect("python3 is one of the tools of every environment")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_try_has_a_target_and_a_longest_time() {
    let list = stranger(&["--list"]);
    assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let list = printed(&list);
    let wanted =
        ["clean clone", "space in the path", "tarball", "no network", "another user", "Ctrl-C"];
    for name in wanted {
        let line = list.lines().find(|line| line.starts_with(&format!("{name}\t")));
        let line = line.unwrap_or_else(|| panic!("{name} in {list}"));
        assert!(line.split('\t').count() == 3 && line.ends_with(" minutes"), "{line}");
    }
}

#[test]
fn an_unknown_try_is_refused_with_the_names_of_all() {
    let refused = stranger(&["--only", "tarbal"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no try `tarbal`: repository, "), "{said}");
}

#[test]
fn the_table_stands_where_no_time_is_left() {
    let ended = stranger(&["--only", "repository,tarball", "--minutes", "0"]);
    assert_eq!(ended.status.code(), Some(0));
    let table = printed(&ended);
    let row = "tarball\tno time is left\tthe lab says its help\tnot tried\t0";
    assert!(table.contains(row), "{table}");
    assert!(table.ends_with("0 met, 0 not met, 2 not tried\n"), "{table}");
}
