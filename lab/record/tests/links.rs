//! A stranger's record whose files are links, pipes and sockets: none is followed or waited for.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
};

use lab_record::{Folder, Results, Run, RunFile, SCHEMA, Samples, State, Writer, sha256_hex};
use nix::{sys::stat::Mode, unistd::mkfifo};
use proof_kit::Attack;
use serde_json::json;

/// What must neither be read nor changed.
const SECRET: &str = "what is outside\n";

fn run_file() -> RunFile {
    let machine =
        json!({"cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "a"});
    let analysis = json!({
        "reference": "a", "pairing": "paired", "alpha": 0.05, "comparisons": [],
    });
    let variant = json!({
        "variant": "v", "family": "f", "twin_of": null, "measures": "m", "version": "1",
        "features": [], "tags": [], "binary_sha256": "", "binary_bytes": 1,
    });
    let file = json!({
        "schema": SCHEMA, "experiment": "e", "experiment_toml": "", "attachments": {},
        "experiment_sha256": sha256_hex(b""), "arguments": [], "seed": 1, "blocks": 1,
        "analysis": analysis, "runs_planned": 3, "git": null, "variants": [variant],
        "machine": machine, "started_unix_s": 0,
    });
    serde_json::from_value(file).unwrap()
}

fn run(order: u64) -> Run {
    let run = json!({
        "schema": SCHEMA, "order": order, "attempt": 0, "block": 1, "warmup": false,
        "family": "f", "variant": "v", "cell": {}, "status": "ok", "verification": "verified",
        "binary_sha256": "", "start_ns": 1, "process_ns": 1, "noise": {}, "counters": {},
    });
    serde_json::from_value(run).unwrap()
}

fn samples(value: i64) -> Samples {
    Samples::from_raw([("a_ns".to_owned(), vec![value])].into())
}

/// A record of one run, beside a file and a folder that are none of its own.
struct World {
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { home: tempfile::tempdir().unwrap() };
        let mut writer = Writer::create(&world.record(), &run_file()).unwrap();
        writer.run(run(0), &samples(1)).unwrap();
        fs::write(world.outside(), SECRET).unwrap();
        fs::create_dir(world.elsewhere()).unwrap();
        world
    }

    fn record(&self) -> std::path::PathBuf {
        self.home.path().join("r")
    }

    fn outside(&self) -> std::path::PathBuf {
        self.home.path().join("outside")
    }

    fn elsewhere(&self) -> std::path::PathBuf {
        self.home.path().join("elsewhere")
    }

    /// Puts something else in the place of a file of the record.
    fn replace(&self, name: &str, kind: &str) {
        let path = self.record().join(name);
        let _ = fs::remove_file(&path);
        match kind {
            "a link out" => symlink(self.outside(), &path).unwrap(),
            "a link that leads nowhere" => symlink(self.home.path().join("no"), &path).unwrap(),
            "a link to itself" => symlink(&path, &path).unwrap(),
            "a link to a device without an end" => symlink("/dev/zero", &path).unwrap(),
            "a link within the record" => {
                fs::write(self.record().join("own"), SECRET).unwrap();
                symlink("own", &path).unwrap();
            }
            "a pipe" => mkfifo(&path, Mode::S_IRWXU).unwrap(),
            "a socket" => drop(UnixListener::bind(&path).unwrap()),
            "a folder" => fs::create_dir(&path).unwrap(),
            _ => panic!("{kind}"),
        }
    }

    fn is_as_it_was(&self) {
        assert_eq!(fs::read_to_string(self.outside()).unwrap(), SECRET);
        assert_eq!(fs::read_dir(self.elsewhere()).unwrap().count(), 0);
    }
}

const KINDS: [&str; 8] = [
    "a link out",
    "a link that leads nowhere",
    "a link to itself",
    "a link to a device without an end",
    "a link within the record",
    "a pipe",
    "a socket",
    "a folder",
];

/// Every file of a record, in the place of each something else.
#[test]
fn what_is_no_file_of_its_own_is_not_read() {
    for name in ["run.json", "runs.jsonl", "sessions.jsonl", "windows.jsonl", "samples.pack.zst"] {
        for kind in KINDS {
            let _attack = Attack::on("links", &format!("read {name}: {kind}"));
            let world = World::new();
            world.replace(name, kind);
            let error = Results::load(&world.record()).unwrap_err().to_string();
            assert!(error.contains(name), "{kind}: {error}");
            let expected =
                if kind.contains("link") { "is a symbolic link" } else { "is no regular" };
            assert!(error.contains(expected) && !error.contains("outside"), "{kind}: {error}");
            let _ = State::of(&world.record());
        }
    }
}

#[test]
fn samples_are_not_read_through_links() {
    for kind in KINDS {
        let _attack = Attack::on("links", &format!("samples: {kind}"));
        let world = World::new();
        let results = Results::load(&world.record()).unwrap();
        let name = format!("samples/{}.zst", results.runs[0].samples.as_ref().unwrap());
        world.replace(&name, kind);
        assert!(results.samples(&results.runs[0]).is_err(), "{kind}");
    }
    let _attack = Attack::on("links", "samples: the folder is a link");
    let world = World::new();
    fs::rename(world.record().join("samples"), world.home.path().join("moved")).unwrap();
    symlink("../moved", world.record().join("samples")).unwrap();
    let results = Results::load(&world.record()).unwrap();
    let error = results.samples(&results.runs[0]).unwrap_err().to_string();
    assert!(error.contains("is a symbolic link"), "{error}");
}

#[test]
fn nothing_is_appended_to_through_a_link() {
    for name in ["runs.jsonl", "sessions.jsonl", "windows.jsonl"] {
        for kind in KINDS {
            let _attack = Attack::on("links", &format!("resume {name}: {kind}"));
            let world = World::new();
            world.replace(name, kind);
            assert!(Writer::resume(&world.record()).is_err(), "{name}: {kind}");
            world.is_as_it_was();
        }
    }
    let _attack = Attack::on("links", "resume: the folder of the samples is a link");
    let world = World::new();
    let (mut writer, _) = Writer::resume(&world.record()).unwrap();
    fs::remove_dir_all(world.record().join("samples")).unwrap();
    symlink(world.elsewhere(), world.record().join("samples")).unwrap();
    assert!(writer.run(run(1), &samples(2)).is_err());
    world.is_as_it_was();
}

#[test]
fn an_export_replaces_links_and_writes_through_none() {
    let names = [
        "run.json",
        "run.json.tmp",
        "runs.jsonl",
        "runs.jsonl.zst",
        "sessions.jsonl",
        "windows.jsonl",
        "windows.jsonl.zst",
        "samples.jsonl.zst",
        "samples.pack.zst",
        "samples.pack.zst.tmp",
    ];
    for name in names {
        for kind in ["a link out", "a link that leads nowhere", "a link to itself", "a pipe"] {
            let _attack = Attack::on("links", &format!("export over {name}: {kind}"));
            let (world, from) = (World::new(), World::new());
            world.replace(name, kind);
            let results = Results::load(&from.record()).unwrap();
            results.export(&world.record(), |_, _, samples| samples).unwrap();
            world.is_as_it_was();
            let copy = Results::load(&world.record()).unwrap();
            assert_eq!(copy.samples(&copy.runs[0]).unwrap(), samples(1), "{name}: {kind}");
        }
    }
}

#[test]
fn a_name_leads_to_no_file_beside_the_folder() {
    let world = World::new();
    let folder = Folder::at(&world.record());
    for name in ["../outside", "/etc/passwd", "details/../../outside", "..", "", "a/../../outside"]
    {
        let _attack = Attack::on("links", &format!("the name {name}"));
        assert!(folder.read(name).is_err() && folder.write(name, b"x").is_err(), "{name}");
        world.is_as_it_was();
    }
}

#[test]
fn the_folder_itself_and_what_is_above_it_may_be_links() {
    let world = World::new();
    let link = world.home.path().join("link");
    symlink(world.record(), &link).unwrap();
    assert_eq!(Results::load(&link).unwrap().runs.len(), 1);
    Folder::at(&link).write("details/noise.md", b"# noise\n").unwrap();
    assert_eq!(Folder::at(&world.record()).text("details/noise.md").unwrap(), "# noise\n");
    assert_eq!(Folder::at(Path::new(&link)).names("details").unwrap(), ["noise.md"]);
}
