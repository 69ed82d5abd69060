//! Records on a disk that is full at some write, and records that were damaged afterwards.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, SessionEvent};
use proof_kit::Attack;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 2, "");
    world
}

const RUN: [&str; 5] = ["run", "experiments/e.toml", "--out", "r", "--no-startup"];

/// The lab with no file larger than so many blocks of 512 bytes: a write beyond fails as on a full
/// disk, at another place for each limit.
fn with_limit(world: &World, arguments: &[&str], blocks: u32) -> Output {
    let lab = world.lab(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")])
        .arg(lab.get_program())
        .args(arguments)
        .current_dir(lab.get_current_dir().unwrap())
        .env_remove("BUILD_WORKSPACE_DIRECTORY");
    shell.output().unwrap()
}

#[test]
fn a_disk_that_is_full_at_any_write_loses_nothing_that_was_recorded() {
    let mut places = BTreeSet::new();
    for blocks in [1, 3, 8, 12, 16, 20, 28] {
        let world = world();
        let stopped = with_limit(&world, &RUN, blocks);
        let said = String::from_utf8_lossy(&stopped.stderr);
        let last = said.lines().last().unwrap_or_default().to_owned();
        if stopped.status.success() {
            continue;
        }
        assert!(matches!(stopped.status.code(), Some(4 | 5)), "{blocks}: {said}");
        assert!(last.starts_with("lab: "), "{blocks}: {said}");
        if !world.path("r/run.json").exists() {
            continue;
        }
        let before = Results::load(&world.path("r")).unwrap().runs;
        places.insert(before.len());
        world.lab(&["run", "--resume", "r", "--no-startup"]).assert().code(0);
        let results = Results::load(&world.path("r")).unwrap();
        assert_eq!(results.runs[..before.len()], before[..], "{blocks}: a record was changed");
        let orders: Vec<u64> = results.runs.iter().map(|run| run.order).collect();
        assert_eq!(orders, (0..2 + 8).collect::<Vec<_>>(), "{blocks}");
        assert_eq!(results.sessions.last().unwrap().event, SessionEvent::Finished);
        world.lab(&["report", "r", "--check"]).assert().code(0);
    }
    assert!(places.len() >= 2, "the disk was full at one place only: {places:?}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// Bytes of a record that are changed, one at a time: wherever a name, a number or a hash lies.
const FLIPPED: usize = 40;

/// What may happen to a file, by name.
fn damages(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let half = bytes.len() / 2;
    let mut zeroed = bytes.to_vec();
    zeroed[half..].fill(0);
    let mut damages = vec![
        ("empty".to_owned(), Vec::new()),
        ("cut".to_owned(), bytes[..half].to_vec()),
        ("zeroed".to_owned(), zeroed),
        ("garbage".to_owned(), [b"\xff\xfe\n{]\n", bytes].concat()),
    ];
    damages.extend((0..FLIPPED).map(|place| {
        let at = bytes.len() * place / FLIPPED;
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 0x55;
        (format!("flipped at {at}"), flipped)
    }));
    damages
}

#[test]
fn a_damaged_file_is_named_or_does_no_harm() {
    let world = world();
    world.lab(&RUN).assert().code(0);
    let record = world.path("r");
    let stored: Vec<PathBuf> = files(&record)
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.ends_with(".jsonl") || name == "run.json" || name.ends_with(".zst")
        })
        .collect();
    assert!(stored.len() > 10, "{stored:?}");
    // One of the samples' files stands for all.
    let samples = stored.iter().filter(|path| path.extension().unwrap() == "zst").take(1);
    let others = stored.iter().filter(|path| path.extension().unwrap() != "zst");
    for path in samples.chain(others) {
        let whole = fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (damage, bytes) in damages(&whole) {
            let _attack = Attack::on("records", &format!("{name} {damage}"));
            fs::write(path, bytes).unwrap();
            let output = world.lab(&["report", "r", "--check"]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            // A bit of packed samples may hold nothing.
            if name.ends_with(".zst") && damage.starts_with("flipped") && code == Some(0) {
                continue;
            }
            assert_eq!(code, Some(4), "{name} {damage}: {said}");
            assert!(said.contains(&name), "{name} {damage}: {said}");
        }
        fs::write(path, whole).unwrap();
    }
    world.lab(&["report", "r", "--check"]).assert().code(0);
}
