//! A server that a variant names: what `lab` does with it beside sweeps, and in one that is ended.

use std::fs;

use assert_cmd::assert::OutputAssertExt;

use crate::{workflows::world, world::World};

/// The server is a process that sleeps, and its number what is offered. Its keeper ends with it or
/// with the input.
const KEEP: &str = r#"if [ "$1" = --keep-up ]; then
  sleep 1000 & server=$!
  echo $server >> "$PIDS"; echo $$ > "$PIDS.keeper"
  exec 3<&0; { cat <&3 >/dev/null; kill $server; } &
  echo $server; wait $server; echo "$2 has ended" >&2; exit 1
fi
"#;
/// A run notes what it is offered, and does the work.
const WORK: &str = r#"echo "$LAB_KEPT_THING" >> "$PIDS.offered"
"$FLOOR"
"#;

/// Adds a variant that names the server `thing`.
fn keeping(world: &World, name: &str, script: &str) {
    let pids = world.path("pids");
    world.back_end(name, &format!("PIDS='{}'\n{script}", pids.display()));
    let manifest = world.path("workflows").join(name).join("variant.toml");
    let text = fs::read_to_string(&manifest).unwrap() + "keep_up = [\"thing\"]\n";
    fs::write(manifest, text).unwrap();
}

fn lines(world: &World, file: &str) -> Vec<String> {
    let text = fs::read_to_string(world.path(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_check_has_servers_of_its_own() {
    let world = world();
    keeping(&world, "one", &format!("{KEEP}{WORK}"));
    world.lab(&["verify", "experiments/e.toml"]).assert().code(0);
    assert_eq!(lines(&world, "pids.offered"), [""]);
    assert!(lines(&world, "pids").is_empty());
}

#[test]
fn a_name_that_is_none_is_refused_with_file_and_key() {
    let world = world();
    keeping(&world, "one", WORK);
    let manifest = world.path("workflows/one/variant.toml");
    let text = fs::read_to_string(&manifest).unwrap().replace("\"thing\"", "\"A thing\"");
    fs::write(manifest, text).unwrap();
    let said = world.lab(&["plan", "experiments/e.toml"]).assert().code(2).get_output().clone();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("workflows/one/variant.toml: key `keep_up`: `A thing`"), "{said}");
}

/// A sweep whose server is up and whose first run does not end.
pub fn hanging() -> World {
    let world = world();
    keeping(&world, "one", &format!("{KEEP}sleep 1000\n"));
    world
}
