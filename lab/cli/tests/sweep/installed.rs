//! A `lab` that Cargo has installed: no program of a variant lies beside it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use assert_cmd::assert::{Assert, OutputAssertExt};
use lab_record::{Results, sha256_hex};
use predicates::{prelude::PredicateBooleanExt, str::contains};

use crate::world::{World, program};

/// `lab` in a folder of its own.
fn installed(world: &World) -> PathBuf {
    let from = fs::canonicalize(program("lab")).unwrap();
    let to = world.path("installed/lab");
    fs::create_dir(to.parent().unwrap()).unwrap();
    if fs::hard_link(&from, &to).is_err() {
        // On another disk. What this process itself writes, a test beside this one may hold open
        // in a child, and then it cannot be started.
        Command::new("cp").arg(from).arg(&to).assert().success();
    }
    to
}

fn run(lab: &Path, world: &World, more: &[&str]) -> Assert {
    let mut command = Command::new(lab);
    command.args(["run", "experiments/e.toml", "--no-startup"]).args(more);
    command.current_dir(world.path("")).env_remove("BUILD_WORKSPACE_DIRECTORY");
    command.assert()
}

#[test]
fn an_installed_lab_runs_what_cargo_built_in_the_checkout() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    let lab = installed(&world);
    let (release, elsewhere) = (world.path("target/release"), world.path("elsewhere"));
    fs::create_dir_all(&release).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let own = world.path("runtimes/steady/runtimes-steady");
    fs::rename(&own, elsewhere.join("runtimes-steady")).unwrap();
    let unbuilt = contains("runtimes-steady is neither").and(contains("target/release; build it"));
    run(&lab, &world, &["--out", "none"])
        .code(2)
        .stderr(unbuilt.and(contains("cargo build --release --workspace")));

    fs::rename(elsewhere.join("runtimes-steady"), release.join("runtimes-steady")).unwrap();
    run(&lab, &world, &["--out", "r"]).code(0);
    let results = Results::load(&world.path("r")).unwrap();
    let built = fs::read(release.join("runtimes-steady")).unwrap();
    let recorded: Vec<_> = results.run_file.variants.iter().map(|v| &v.binary_sha256).collect();
    assert_eq!(recorded, [&sha256_hex(&built); 2], "the variant and its twin");

    // A folder that is named is the only one.
    run(&lab, &world, &["--out", "named", "--bin-dir", "elsewhere"])
        .code(2)
        .stderr(contains("runtimes-steady is neither").and(contains("elsewhere; build it")));
}
