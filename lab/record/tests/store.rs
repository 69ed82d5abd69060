//! A results folder is written, torn, resumed, exported and read again.

use std::{collections::BTreeMap, fs, fs::File, fs::OpenOptions, io::Write, path::Path};

use lab_record::{
    Analysis, CardUse, Column, Histogram, Kept, Machine, Noise, Pairing, RecordError, Results, Run,
    RunFile, SCHEMA, Samples, Session, SessionEvent, Spread, Status, VariantEntry, Verification,
    Window, Writer, sha256_hex, sha256_of_file,
};
use proof_kit::Attack;

fn run_file() -> RunFile {
    RunFile {
        schema: SCHEMA,
        experiment: "e".to_owned(),
        experiment_file: "experiments/e.toml".to_owned(),
        profile: None,
        servers: vec![],
        model: None,
        experiment_toml: "schema = 1".to_owned(),
        attachments: BTreeMap::new(),
        experiment_sha256: sha256_hex(b"schema = 1"),
        lab_sha256: None,
        arguments: vec![],
        expectations: vec![],
        analysis: Analysis {
            reference: "a".to_owned(),
            floor: None,
            pairing: Pairing::Paired,
            alpha: 0.05,
            comparisons: vec![],
            contrasts: vec![],
            rounds: None,
            sessions: None,
        },
        seed: 1,
        session: None,
        blocks: 1,
        runs_planned: 2,
        git: None,
        variants: vec![variant("v", "ff")],
        machine: Machine {
            cpu_model: "m".to_owned(),
            cpus: 2,
            memory_bytes: 1,
            kernel: "k".to_owned(),
            arch: "x".to_owned(),
            id: None,
        },
        started_unix_s: 0,
    }
}

fn variant(name: &str, binary_sha256: &str) -> VariantEntry {
    VariantEntry {
        variant: name.to_owned(),
        family: "f".to_owned(),
        twin_of: None,
        measures: "m".to_owned(),
        version: "1".to_owned(),
        features: vec![],
        interpreter: None,
        tags: vec![],
        binary_sha256: binary_sha256.to_owned(),
        binary_bytes: 1,
    }
}

fn run(order: u64) -> Run {
    Run {
        schema: SCHEMA,
        order,
        attempt: 0,
        block: 1,
        warmup: false,
        family: "f".to_owned(),
        variant: "v".to_owned(),
        cell: BTreeMap::from([("config".to_owned(), "c".to_owned())]),
        status: Status::Failed,
        reason: Some("why".to_owned()),
        verification: Verification::Unchecked,
        binary_sha256: "ff".to_owned(),
        start_ns: 5,
        process_ns: 6,
        cpu_ns: None,
        counters: BTreeMap::from([("wall_ns".to_owned(), u64::MAX)]),
        kept: BTreeMap::from([(
            "database".to_owned(),
            Kept { start: 1, runs_before: 2, cpu_ns: 3 },
        )]),
        noise: Noise { steal_ns: Some(3), ..Noise::default() },
        gated: vec!["steal".to_owned()],
        gpu: Some(vec![card()]),
        gpu_reason: None,
        samples: None,
    }
}

fn card() -> CardUse {
    CardUse {
        card: 1,
        name: "A Card".to_owned(),
        samples: 2,
        utilisation_percent: Some(Spread { median: 3, max: 100 }),
        memory_used_bytes: Some(Spread { median: 1 << 30, max: 1 << 31 }),
        clock_hz: None,
        power_mw: None,
    }
}

fn samples() -> Samples {
    Samples::from_raw(BTreeMap::from([(
        "token_received_ns".to_owned(),
        vec![i64::MIN, -1, i64::MAX],
    )]))
}

/// A folder that is not there yet, in one that goes with the test.
fn place() -> (std::path::PathBuf, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    (home.path().join("r"), home)
}

/// A folder with two runs, the second without samples.
fn written(dir: &Path) -> Writer {
    let mut writer = Writer::create(dir, &run_file()).unwrap();
    let session = Session {
        schema: SCHEMA,
        event: SessionEvent::Start,
        unix_s: 9,
        environment: BTreeMap::new(),
    };
    writer.session(&session).unwrap();
    writer.run(run(0), &samples()).unwrap();
    writer.run(run(1), &Samples::default()).unwrap();
    writer
}

/// Makes a record one from before chains.
fn unchain(dir: &Path) {
    let _ = fs::remove_file(dir.join("manifest.json"));
    let text = fs::read(dir.join("run.json")).unwrap();
    let mut run_file: serde_json::Value = serde_json::from_slice(&text).unwrap();
    run_file.as_object_mut().unwrap().remove("chain").expect("it is chained");
    fs::write(dir.join("run.json"), run_file.to_string()).unwrap();
    let row = |line: &str| format!("{}}}\n", line.rsplit_once(",\"chain\"").unwrap().0);
    for path in ["runs.jsonl", "sessions.jsonl", "windows.jsonl"].map(|name| dir.join(name)) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, text.lines().map(row).collect::<String>()).unwrap();
    }
}

#[test]
fn every_field_comes_back() {
    let (dir, _home) = place();
    written(&dir);
    let read = Results::load(&dir).unwrap();
    assert_eq!(read.run_file, run_file());
    assert_eq!(read.sessions.len(), 1);
    let mut first = run(0);
    first.samples = read.runs[0].samples.clone();
    assert!(first.samples.is_some());
    assert_eq!(read.runs, [first, run(1)]);
    assert_eq!(read.samples(&read.runs[0]).unwrap(), samples());
    assert_eq!(read.samples(&read.runs[1]).unwrap(), Samples::default());
}

#[test]
fn a_run_from_before_cards_were_asked_is_read() {
    let mut old = serde_json::to_value(run(0)).unwrap();
    old.as_object_mut().unwrap().remove("gpu").expect("it is written, also where it is null");
    let read: Run = serde_json::from_value(old).unwrap();
    assert_eq!((read.gpu, read.gpu_reason), (None, None));
}

#[test]
fn what_a_real_server_answers_is_checked_at_the_most() {
    let read = |servers: &[&str], verification| {
        let (folder, servers) = (tempfile::tempdir().unwrap(), servers.iter());
        let servers = servers.map(|address| (*address).to_owned()).collect();
        let dir = folder.path().join("r");
        let mut writer = Writer::create(&dir, &RunFile { servers, ..run_file() }).unwrap();
        writer.run(Run { verification, ..run(0) }, &samples()).unwrap();
        Results::load(&dir).unwrap().runs[0].verification
    };
    let (real, states) = (["http://127.0.0.1:1"], [Verification::Unchecked, Verification::Checked]);
    for state in states {
        assert_eq!((read(&[], state), read(&real, state)), (state, state));
    }
    assert_eq!(read(&real, Verification::Verified), Verification::Checked);
    assert_eq!(read(&[], Verification::Verified), Verification::Verified);
}

fn window(first_order: u64, last_order: u64, cause: Option<&str>) -> Window {
    Window {
        schema: SCHEMA,
        first_order,
        last_order,
        noise: Noise::default(),
        gated: cause.into_iter().map(str::to_owned).collect(),
    }
}

/// A run that the gate could not judge by itself.
fn short(order: u64) -> Run {
    let noise = Noise { ungated: Some("too short".to_owned()), ..Noise::default() };
    Run { noise, gated: vec![], ..run(order) }
}

#[test]
fn a_run_that_could_not_be_gated_has_the_verdict_of_its_window() {
    let home = tempfile::tempdir().unwrap();
    let (dir, copy) = (home.path().join("r"), home.path().join("copy"));
    let mut writer = written(&dir);
    for order in 2..=5 {
        writer.run(short(order), &Samples::default()).unwrap();
    }
    writer.window(&window(0, 2, Some("steal"))).unwrap();
    let half_blind = Noise { ungated: Some("not known".to_owned()), ..Noise::default() };
    writer.window(&Window { noise: half_blind, ..window(3, 3, None) }).unwrap();
    writer.window(&window(4, 4, None)).unwrap();
    let verdicts = |dir: &Path| -> Vec<(Vec<String>, Option<String>)> {
        let runs = Results::load(dir).unwrap().runs.into_iter();
        runs.skip(1).map(|run| (run.gated, run.noise.ungated)).collect()
    };
    let expected = [
        (vec!["steal".to_owned()], None), // It has its own verdict already.
        (vec!["steal".to_owned()], None),
        (vec![], Some("not known".to_owned())),
        (vec![], None),
        (vec![], Some("too short".to_owned())), // No window was written for it.
    ];
    assert_eq!(verdicts(&dir), expected);
    Results::load(&dir).unwrap().export(&copy, |_, _, samples| samples).unwrap();
    assert_eq!(verdicts(&copy), expected);
    // Read as it was written: an older record has no windows.
    unchain(&copy);
    fs::remove_file(copy.join("windows.jsonl")).unwrap();
    assert_eq!(verdicts(&copy)[1], (vec![], Some("too short".to_owned())));
    Results::load(&copy).unwrap().export(&dir, |_, _, samples| samples).unwrap();
    assert_eq!(verdicts(&dir), verdicts(&copy), "the windows of an earlier copy are gone");
}

#[test]
fn noise_from_before_shares_and_windows_is_read() {
    let old = r#"{"steal_ns":3,"outside_cpu_ns":null,"pressure_cpu_ns":null,"run_queue_ns":null,
        "frequency_khz":null}"#;
    let expected = Noise { steal_ns: Some(3), ..Noise::default() };
    assert_eq!(serde_json::from_str::<Noise>(old).unwrap(), expected);
}

#[test]
fn what_is_no_results_folder_is_said_in_words() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let none = home.path().join("none");
    let cases = [
        (home.path(), "it holds no run.json"),
        (&*file, "it is a file"),
        (&*none, "it does not exist"),
    ];
    for (path, why) in cases {
        let sentence = Results::load(path).unwrap_err().to_string();
        let expected = format!("{} is no results folder: {why}; give a folder", path.display());
        assert!(sentence.starts_with(&expected), "{sentence}");
    }
}

#[test]
fn a_file_has_the_hash_of_its_bytes_however_many_pieces_it_is_read_in() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (bytes, expected) in [
        (vec![], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc".to_vec(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ] {
        fs::write(file.path(), &bytes).unwrap();
        assert_eq!(sha256_of_file(file.path()).unwrap(), expected);
        assert_eq!(sha256_hex(&bytes), expected);
    }
    let large = vec![7; 1_000_000];
    fs::write(file.path(), &large).unwrap();
    assert_eq!(sha256_of_file(file.path()).unwrap(), sha256_hex(&large));
    assert!(sha256_of_file(Path::new("/nowhere")).is_err());
}

#[test]
fn a_folder_is_never_written_over() {
    let (dir, _home) = place();
    written(&dir);
    assert!(matches!(Writer::create(&dir, &run_file()), Err(RecordError::Io { .. })));
    assert_eq!(Results::load(&dir).unwrap().runs.len(), 2);
}

#[test]
fn a_torn_line_is_no_record_and_a_resume_cuts_it() {
    let _attack = Attack::on("records", "a last line that is torn");
    let (dir, _home) = place();
    drop(written(&dir));
    let torn = |text: &str| {
        let path = dir.join("runs.jsonl");
        OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    };
    torn("{\"schema\":1,\"order\":2,");
    assert_eq!(Results::load(&dir).unwrap().runs.len(), 2);
    Writer::resume(&dir).unwrap().0.run(run(2), &Samples::default()).unwrap();
    assert_eq!(Results::load(&dir).unwrap().runs.len(), 3);
}

#[test]
fn a_folder_has_one_writer() {
    let _attack = Attack::on("records", "two labs that write into one folder");
    let (dir, _home) = place();
    let first = written(&dir);
    let refused = Writer::resume(&dir).unwrap_err();
    assert!(matches!(refused, RecordError::InUse { .. }), "{refused}");
    assert!(
        refused.to_string().ends_with("is in use by another lab; wait until it ends, or stop it")
    );
    drop(first);
    Writer::resume(&dir).unwrap();
}

#[test]
fn a_damaged_line_is_named() {
    let _attack = Attack::on("records", "a line with a letter for a number");
    let (dir, _home) = place();
    drop(written(&dir));
    let path = dir.join("runs.jsonl");
    let text = fs::read_to_string(&path).unwrap().replacen("\"order\":1", "\"order\":x", 1);
    fs::write(&path, text).unwrap();
    let error = Results::load(&dir).unwrap_err().to_string();
    assert!(error.contains("runs.jsonl, line 2: "), "{error}");
}

#[test]
fn changed_samples_are_found_out() {
    let _attack = Attack::on("records", "samples that do not hash to their name");
    let (dir, _home) = place();
    drop(written(&dir));
    let read = Results::load(&dir).unwrap();
    let name = read.runs[0].samples.clone().unwrap();
    let forged = zstd::encode_all(&b"{\"token_received_ns\":{\"raw\":[1]}}"[..], 1).unwrap();
    fs::write(dir.join("samples").join(format!("{name}.zst")), forged).unwrap();
    assert!(matches!(read.samples(&read.runs[0]), Err(RecordError::Hash { .. })));
}

#[test]
fn samples_that_are_not_there_are_told_with_the_file_that_names_them() {
    let _attack = Attack::on("records", "a run that names samples that are not there");
    let (dir, _home) = place();
    drop(written(&dir));
    unchain(&dir);
    let path = dir.join("runs.jsonl");
    let read = Results::load(&dir).unwrap();
    let name = read.runs[0].samples.clone().unwrap();
    let other = "0".repeat(name.len());
    fs::write(&path, fs::read_to_string(&path).unwrap().replace(&name, &other)).unwrap();
    let read = Results::load(&dir).unwrap();
    let error = read.samples(&read.runs[0]).unwrap_err().to_string();
    let begins = format!("{}: run 0 names the samples {other}", path.display());
    assert!(error.starts_with(&begins), "{error}");
}

#[test]
fn a_newer_schema_is_not_written_to() {
    let (dir, _home) = place();
    drop(written(&dir));
    unchain(&dir);
    let path = dir.join("run.json");
    let text = fs::read_to_string(&path).unwrap().replacen("\"schema\":2", "\"schema\":3", 1);
    fs::write(&path, text).unwrap();
    let error = Writer::resume(&dir).unwrap_err();
    assert!(matches!(error, RecordError::Newer { found: 3, .. }), "{error}");
    let error = Results::load(&dir).unwrap().declare_after_run(vec![]).unwrap_err();
    assert!(matches!(error, RecordError::Newer { found: 3, .. }), "{error}");
}

#[test]
fn an_export_says_nothing_of_the_machine() {
    let _attack = Attack::on("records", "a failed run whose reason tells of the machine");
    let home = tempfile::tempdir().unwrap();
    let (dir, copy) = (home.path().join("r"), home.path().join("copy"));
    let mut writer = written(&dir);
    let mut failed = Results::load(&dir).unwrap().runs[0].clone();
    failed.reason = Some("exited; it said: cannot open /home/me/x.so, TOKEN=abc".to_owned());
    writer.run(failed.clone(), &Samples::default()).unwrap();
    let source = Results::load(&dir).unwrap();
    assert_eq!(source.export(&copy, |_, _, samples| samples).unwrap(), 1);
    let read = Results::load(&copy).unwrap();
    let (last, others) = read.runs.split_last().unwrap();
    let said = "exited; it said: cannot open <path>/x.so, TOKEN=<value>";
    assert_eq!(last.reason.as_deref(), Some(said));
    assert_eq!(others, &source.runs[..others.len()]);
    // What went is in no hash.
    assert_eq!(read.heads(), source.heads());
}

#[test]
fn an_export_names_no_host_and_no_path_that_the_command_line_named() {
    let _attack = Attack::on("records", "a command line that tells of hosts and paths");
    let home = tempfile::tempdir().unwrap();
    let (dir, copy) = (home.path().join("r"), home.path().join("copy"));
    let addresses = ["http://gpu-box:11434", "http://127.0.0.1:11435"].map(str::to_owned);
    let file = |experiment: &str, address: &str, out: &str| RunFile {
        experiment_file: experiment.to_owned(),
        servers: vec![address.to_owned(), addresses[1].clone()],
        arguments: vec![
            "run".to_owned(),
            format!("--servers={address},{}", addresses[1]),
            format!("--out={out}"),
        ],
        ..run_file()
    };
    let session = |address: &str| Session {
        schema: SCHEMA,
        event: SessionEvent::Start,
        unix_s: 9,
        environment: BTreeMap::from([
            ("rustc".to_owned(), serde_json::json!("rustc 1.95.0 (59807616e 2026-04-14)")),
            ("servers".to_owned(), serde_json::json!([{ "address": address, "version": "1" }])),
        ]),
    };
    let mut writer =
        Writer::create(&dir, &file("/home/me/e.toml", &addresses[0], "/home/me/r")).unwrap();
    writer.session(&session(&addresses[0])).unwrap();
    writer.run(run(0), &Samples::default()).unwrap();
    let source = Results::load(&dir).unwrap();
    assert_eq!(source.export(&copy, |_, _, samples| samples).unwrap(), 2);
    let read = Results::load(&copy).unwrap();
    let host = "http://<host>:11434";
    assert_eq!(read.run_file, file("<path>/e.toml", host, "<path>/r"));
    assert_eq!(read.heads(), source.heads());
    assert_eq!((read.sessions, read.runs), (vec![session(host)], source.runs));
}

#[test]
fn an_export_reads_like_its_source() {
    let home = tempfile::tempdir().unwrap();
    let (dir, copy) = (home.path().join("r"), home.path().join("copy"));
    drop(written(&dir));
    let source = Results::load(&dir).unwrap();
    source.export(&copy, |_, _, samples| samples).unwrap();
    let read = Results::load(&copy).unwrap();
    assert_eq!(read.runs, source.runs);
    assert_eq!(read.samples(&read.runs[0]).unwrap(), samples());
    assert!(!copy.join("samples").exists(), "one file, not one per run");
    let slim = |_: &RunFile, _: &Run, mut samples: Samples| {
        let column = Column::Histogram(Histogram::of(&[1, 2, 3]));
        samples.columns.insert("token_received_ns".to_owned(), column);
        samples
    };
    source.export(&copy, slim).unwrap();
    let read = Results::load(&copy).unwrap();
    assert_eq!(read.samples(&read.runs[0]).unwrap().raw("token_received_ns"), None);
}

#[test]
fn each_run_of_an_export_finds_its_own_samples() {
    let home = tempfile::tempdir().unwrap();
    let (dir, copy, again) =
        (home.path().join("r"), home.path().join("copy"), home.path().join("again"));
    let mut writer = Writer::create(&dir, &run_file()).unwrap();
    let own = |order: u64| BTreeMap::from([("x_ns".to_owned(), vec![order.cast_signed()])]);
    for order in 0..300 {
        writer.run(run(order), &Samples::from_raw(own(order))).unwrap();
    }
    let source = Results::load(&dir).unwrap();
    source.export(&copy, |_, _, samples| samples).unwrap();
    let first = Results::load(&copy).unwrap();
    first.export(&again, |_, _, samples| samples).unwrap();
    for read in [first, Results::load(&again).unwrap()] {
        assert_eq!(read.runs, source.runs, "the names are whole");
        for run in &read.runs {
            assert_eq!(read.samples(run).unwrap(), Samples::from_raw(own(run.order)));
        }
    }
    let pack = zstd::decode_all(File::open(copy.join("samples.pack.zst")).unwrap()).unwrap();
    assert!(pack.len() < 300 * 64, "{} bytes: a name alone has 64", pack.len());
}

#[test]
fn many_runs_are_exported_packed_and_read_the_same() {
    let home = tempfile::tempdir().unwrap();
    let [dir, copy, again] = ["r", "copy", "again"].map(|name| home.path().join(name));
    let mut writer = written(&dir);
    let few = Results::load(&dir).unwrap();
    few.export(&copy, |_, _, samples| samples).unwrap();
    assert!(copy.join("runs.jsonl").exists());
    let long = Run { reason: Some("long ".repeat(500_000)), ..run(2) };
    writer.run(long, &samples()).unwrap();
    let many = Results::load(&dir).unwrap();
    many.export(&copy, |_, _, samples| samples).unwrap();
    assert!(!copy.join("runs.jsonl").exists(), "the earlier copy's is gone");
    let read = Results::load(&copy).unwrap();
    assert_eq!(read.runs, many.runs);
    // A copy can be exported once more.
    read.export(&again, |_, _, samples| samples).unwrap();
    assert_eq!(Results::load(&again).unwrap().runs, many.runs);
}
