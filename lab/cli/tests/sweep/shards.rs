//! Sessions that several machines took, and what `lab shard merge` makes of them.

use std::{env, fs, os::unix::fs::PermissionsExt, path::Path};

use assert_cmd::assert::{Assert, OutputAssertExt};
use lab_record::Results;
use predicates::{prelude::PredicateBooleanExt, str::contains};

use crate::{over::world, world::World};

fn run(world: &World, shard: &str, out: &str) {
    let run = ["run", "experiments/e.toml", "--sessions", "4", "--shard", shard, "--out", out];
    world.lab(&[&run[..], &["--no-startup"]].concat()).assert().code(0);
}

fn merge(world: &World, dirs: &[&str], out: &str) -> Assert {
    world.lab(&[&["shard", "merge"], dirs, &["--out", out]].concat()).assert()
}

fn seed(world: &World, record: &str) -> u64 {
    Results::load(&world.path(record)).unwrap().run_file.seed
}

#[test]
fn shards_of_two_machines_are_put_together() {
    let world = world();
    run(&world, "1/2", "one");
    run(&world, "2/2", "two");
    assert!(world.path("one/1").is_dir() && world.path("one/3").is_dir());
    assert!(!world.path("one/2").exists() && world.path("two/4").is_dir());
    assert_eq!(fs::read_dir(world.path("one/attempts")).unwrap().count(), 0, "all were published");

    let end = merge(&world, &["one", "two"], "all").code(0);
    end.stdout(contains("4 sessions of `e`, ").and(contains("all/sessions.md")));
    assert_eq!([1, 2, 3, 4].map(|it| seed(&world, &format!("all/{it}"))), [1, 2, 3, 4]);

    merge(&world, &["one"], "half")
        .code(1)
        .stderr(contains("of e these sessions are missing: 2, 4"));
    let twice = merge(&world, &["one", "one"], "twice").code(2);
    twice.stderr(contains("are one record: give each once"));
    let full = merge(&world, &["one", "two"], "all").code(2);
    full.stderr(contains("all holds something: give a new folder"));
    merge(&world, &["experiments"], "none").code(2).stderr(contains("holds no session"));
}

#[test]
fn an_attempt_too_many_and_one_that_was_cut_are_named_and_left_out() {
    let world = world();
    run(&world, "1/2", "one");
    run(&world, "1/2", "again");
    copy(&world.path("one/1"), &world.path("two/attempts/1-cut"));
    let file = world.path("two/attempts/1-cut/sessions.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let end = merge(&world, &["one", "two", "again"], "all").code(1);
    end.stderr(
        contains("again/1 is superseded, and left out")
            .and(contains("again/3 is superseded, and left out"))
            .and(contains("two/attempts/1-cut"))
            .and(contains("of e these sessions are missing: 2, 4")),
    );
    assert_eq!(seed(&world, "all/3"), 3);
}

#[test]
fn a_session_that_another_attempt_has_completed_is_not_taken_again() {
    let world = world();
    run(&world, "1/2", "one");
    let before = fs::read(world.path("one/1/runs.jsonl")).unwrap();
    run(&world, "1/2", "one");
    assert_eq!(fs::read(world.path("one/1/runs.jsonl")).unwrap(), before);
    assert_eq!(fs::read_dir(world.path("one/attempts")).unwrap().count(), 0);
}

/// Does what a script asks, one task after the other, and refuses what sbatch does not know.
const SBATCH: &str = r##"#!/bin/sh
for script; do :; done
sed -n 's/^#SBATCH //p' "$script" | tr ' ' '\n' | sed 's/=.*//' | while read -r option; do
  case $option in
  --job-name|--nodes|--ntasks|--open-mode|--output|--array|--exclusive|--requeue|--partition) ;;
  *) echo "sbatch: unrecognized option '$option'" >&2; exit 1 ;;
  esac
done || exit 1
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for task in $(seq "${tasks:-1}"); do
  SLURM_ARRAY_TASK_ID=$task SLURMD_NODENAME=n$task sh "$script" >>said 2>&1
done
echo "$*" >>submitted
wc -l <submitted
"##;

fn with_slurm(world: &World, args: &[&str]) -> Assert {
    let bin = world.path("bin");
    fs::create_dir_all(&bin).unwrap();
    let scontrol = "#!/bin/sh\necho \"NodeName=$3\"\n";
    for (name, text) in
        [("sbatch", SBATCH), ("squeue", "#!/bin/sh\nexit 0\n"), ("scontrol", scontrol)]
    {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path =
        env::join_paths([bin].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())));
    world.lab(args).env("PATH", path.unwrap()).assert()
}

#[test]
fn an_array_job_takes_all_sessions_and_the_job_after_it_merges_them() {
    let world = world();
    let submit = ["shard", "submit", "slurm", "experiments/e.toml", "--sessions", "4"];
    let more = ["--machines", "2", "--out", "s", "--sbatch", "--partition=bench"];
    let end = with_slurm(&world, &[&submit[..], &more].concat()).code(0);
    end.stdout(contains("job 1 takes 4 sessions, job 2 puts them together"));
    let submitted = fs::read_to_string(world.path("submitted")).unwrap();
    assert!(submitted.contains("--dependency=afterany:1 "), "{submitted}");
    let script = fs::read_to_string(world.path("s/slurm/array.sbatch")).unwrap();
    for line in ["#SBATCH --array=1-2\n", "#SBATCH --exclusive\n", "#SBATCH --partition=bench\n"] {
        assert!(script.contains(line), "{script}");
    }
    let node = fs::read_to_string(world.path("s/slurm/node-2-0")).unwrap();
    assert_eq!(node, "NodeName=n2\n");
    let fetched = with_slurm(&world, &["shard", "fetch", "s"]).code(0);
    fetched
        .stdout(contains("4 sessions of `e`, ").and(contains("s/merged/sessions.md")))
        .stderr(contains("4 of 4 sessions complete"));
    let again = with_slurm(&world, &[&submit[..], &more].concat()).code(2);
    again.stderr(contains("was submitted before: fetch it with `lab shard fetch`"));
}

#[test]
fn what_slurm_refuses_is_its_own_sentence_and_what_is_not_there_is_named() {
    let world = world();
    let submit = ["shard", "submit", "slurm", "experiments/e.toml", "--machines", "2", "--out"];
    let unknown = [&submit[..], &["s", "--sessions", "4", "--sbatch", "--colour=red"]].concat();
    let refused = with_slurm(&world, &unknown).code(1);
    refused.stderr(contains("sbatch: sbatch: unrecognized option '--colour'"));
    let none = with_slurm(&world, &[&submit[..], &["t"]].concat()).code(2);
    none.stderr(contains("e.toml: key `analysis.sessions` is missing: give --sessions N"));
    let dry = [&submit[..], &["u", "--sessions", "4", "--dry-run"]].concat();
    world.lab(&dry).env("PATH", "").assert().code(0).stdout(contains("u/slurm/array.sbatch"));
    let absent = [&submit[..], &["v", "--sessions", "4"]].concat();
    let said = world.lab(&absent).env("PATH", "").assert().code(1);
    said.stderr(contains("sbatch cannot be started").and(contains("submit where Slurm is")));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}
