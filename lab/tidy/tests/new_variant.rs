//! A variant is a folder and nothing else: one that `lab new` copies under another name keeps the
//! rules, is run by the experiments of its tags, builds, passes its family's conformance tests, and
//! is verified and measured by the lab. So does one that it begins in another language. The
//! checkout around them is made of links.

mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use lab_tidy::{packages, repository::Repository};
use serde_json::Value;
use tempfile::TempDir;

use program::lab;

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

/// A checkout in which the variants of our own that `chosen` takes are there twice, and each family
/// has one begun in each language that it offers.
struct Scratch {
    dir: TempDir,
    /// The folders of the copies, and of what they are copies of.
    copies: BTreeMap<String, String>,
    /// The folders of those that are begun, and their languages.
    begun: BTreeMap<String, String>,
}

impl Scratch {
    fn new(chosen: impl Fn(&str) -> bool) -> Self {
        let (ours, dir) = (ours(), TempDir::new().unwrap());
        let families: BTreeSet<String> = folders(&ours.variants());
        link_all(ours.root(), dir.path(), |name| {
            // Cargo adds the copies to its lock, and a sweep its results.
            ![".git", "target", "Cargo.lock", "results"].contains(&name) && !families.contains(name)
        });
        fs::copy(ours.root().join("Cargo.lock"), dir.path().join("Cargo.lock")).unwrap();
        for family in &families {
            fs::create_dir(dir.path().join(family)).unwrap();
            link_all(&ours.root().join(family), &dir.path().join(family), |_| true);
        }
        // One whose program another package makes is no folder that can be copied.
        let has_more = |variant: &String| {
            fs::read_dir(ours.root().join(variant)).unwrap().count() > 1 && chosen(variant)
        };
        let chosen = ours.variants().into_iter().filter(has_more);
        let copies: BTreeMap<_, _> =
            chosen.map(|variant| (format!("{variant}_copy"), variant)).collect();
        let begun = families.iter().flat_map(|family| languages(family));
        let scratch = Self { dir, copies, begun: begun.collect() };
        for (copy, original) in &scratch.copies {
            scratch.lab(&["new", "variant", copy, "--like", original], &[]);
        }
        for (folder, language) in &scratch.begun {
            scratch.lab(&["new", "variant", folder, "--language", language], &[]);
        }
        scratch
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// What `lab` prints, started in this checkout; it must succeed.
    fn lab(&self, arguments: &[&str], more: &[&OsStr]) -> String {
        let mut command = Command::new(lab());
        command.arg("--root").arg(self.dir.path()).args(arguments).args(more);
        command.current_dir(self.dir.path()).env_remove("BUILD_WORKSPACE_DIRECTORY");
        let output = command.env_remove("BUILD_WORKING_DIRECTORY").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The languages in which a family's work is written, each by the folder that it is begun in.
fn languages(family: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(ours().root().join(family).join("languages")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let languages = names.filter(|name| name != "tags");
    let languages = languages.map(|name| name.trim_end_matches(".like").to_owned());
    languages.map(|language| (format!("{family}/begun_{language}"), language)).collect()
}

fn family(folder: &str) -> &str {
    folder.split_once('/').expect("FAMILY/NAME").0
}

fn name(folder: &str) -> &str {
    folder.split_once('/').expect("FAMILY/NAME").1
}

fn folders(variants: &[String]) -> BTreeSet<String> {
    variants.iter().map(|variant| family(variant).to_owned()).collect()
}

fn link_all(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        if name.to_str().is_some_and(&wanted) {
            symlink(from.join(&name), to.join(&name)).unwrap();
        }
    }
}

fn skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

#[test]
fn a_copy_of_any_variant_keeps_the_rules() {
    let scratch = Scratch::new(|_| true);
    let repository = Repository::at(scratch.dir.path());
    let made = scratch.copies.len() + scratch.begun.len();
    assert!(folders(&ours().variants()).iter().all(|family| languages(family).len() > 2));
    assert_eq!(repository.variants().len(), ours().variants().len() + made);
    for complaints in [
        packages::arrows(&repository),
        packages::build_files(&repository),
        packages::variants(&repository),
    ] {
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    }
}

#[test]
fn a_copy_is_run_by_every_experiment_whose_tag_it_carries() {
    let scratch = Scratch::new(|_| true);
    for entry in fs::read_dir(ours().root().join("experiments")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() != Some(OsStr::new("toml")) {
            continue;
        }
        let file = format!("experiments/{}", path.file_name().unwrap().to_str().unwrap());
        let mut experiment = ours().table(&file);
        let mut on_real_servers = are_given(&experiment);
        if let Some(base) =
            experiment.get("extends").and_then(toml::Value::as_str).map(str::to_owned)
        {
            let base = ours().table(&format!("experiments/{base}"));
            on_real_servers |= are_given(&base);
            base.into_iter().for_each(|(key, value)| {
                experiment.entry(key).or_insert(value);
            });
        }
        let (timed, all) = planned(&scratch, &file, on_real_servers);
        assert!(!timed.is_empty(), "{file}");
        for (copy, original) in &scratch.copies {
            let manifest = ours().table(&format!("{original}/variant.toml"));
            let tags = manifest["tags"].as_array().unwrap();
            let wanted = experiment["variants"]["tags"].as_array().unwrap();
            if experiment["family"] != manifest["family"] {
                continue;
            }
            // An experiment that names its variants takes no other one.
            let is_open = experiment["variants"].get("names").is_none();
            let takes_part = is_open && wanted.iter().all(|tag| tags.contains(tag));
            assert_eq!(all.contains(name(copy)), takes_part, "{file}: {copy}");
            assert_eq!(timed.contains(name(copy)), takes_part, "{file}: {copy} is never timed");
        }
    }
}

/// Whether an experiment wants real servers.
fn are_given(experiment: &toml::Table) -> bool {
    let servers = experiment.get("runtimes").and_then(|section| section.get("servers"));
    servers.and_then(toml::Value::as_str) == Some("given")
}

/// Who has a timed run in an experiment, and who any.
fn planned(
    scratch: &Scratch,
    file: &str,
    on_real_servers: bool,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut plan = vec!["plan", "--json", file];
    if on_real_servers {
        plan.extend(["--servers", "http://127.0.0.1:1,http://127.0.0.1:2"]);
    }
    let (mut timed, mut all) = (BTreeSet::new(), BTreeSet::new());
    for line in scratch.lab(&plan, &[]).lines() {
        let run: Value = serde_json::from_str(line).unwrap();
        let variant = run["variant"].as_str().unwrap();
        all.insert(variant.to_owned());
        if run["warmup"] == false {
            timed.insert(variant.to_owned());
        }
    }
    (timed, all)
}

/// The floor of each family and what is in another language: built in this very target folder,
/// where everything else is built already, tested alone, and run by the lab beside the originals.
#[test]
fn a_copy_of_each_floor_and_language_builds_passes_the_conformance_tests_and_is_run() {
    let Some(cargo) = env::var_os("CARGO") else {
        skipped("Cargo did not start this test");
        return;
    };
    // Neither ours nor a workspace of its own is Cargo's.
    let of_cargo = |variant: &str, file: &str| ours().has(&format!("{variant}/{file}"));
    let is_foreign =
        |variant: &str| !of_cargo(variant, "Cargo.toml") && !of_cargo(variant, "crate/Cargo.toml");
    let is_floor = |variant: &str| {
        let manifest = ours().table(&format!("{variant}/variant.toml"));
        manifest["tags"].as_array().unwrap().iter().any(|tag| tag.as_str() == Some("floor"))
    };
    let scratch = Scratch::new(|variant| is_floor(variant) || is_foreign(variant));
    let (foreign, floors): (Vec<&String>, Vec<&String>) =
        scratch.copies.keys().partition(|copy| is_foreign(&scratch.copies[*copy]));
    assert_eq!(floors.len(), folders(&ours().variants()).len(), "a floor a family");
    let names = [
        "epoll_c",
        "go_net_http",
        "node_undici",
        "python_aiohttp",
        "python_asyncio",
        "python_httpx",
    ];
    let names = names.map(|name| format!("runtimes/{name}_copy"));
    assert_eq!(foreign, names.each_ref());
    let profile = env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
    let copies = floors.iter().map(|copy| copy.replace('/', "-"));
    let programs: Vec<String> = copies.flat_map(|copy| ["--bin".to_owned(), copy]).collect();
    let run = |verb: &str, programs: &[String], root: &Path| {
        let mut command = Command::new(&cargo);
        // With the tests, so that crates are built with the features that they have beside tests.
        command.args([verb, "--workspace", "--offline"]).args(programs);
        // The conformance tests of proof/kit, a file a family.
        command.args(folders(&ours().variants()).iter().flat_map(|family| ["--test", family]));
        command.arg("--target-dir").arg(profile.parent().unwrap());
        command.args((profile.file_name() == Some(OsStr::new("release"))).then_some("--release"));
        let output = command.current_dir(scratch.dir.path()).env("LAB_ROOT", root).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].concat();
        println!("{}", String::from_utf8_lossy(&said));
        assert!(output.status.success());
    };
    let started = SystemTime::now();
    run("build", &programs, scratch.dir.path());
    // A checkout that has alone the copies, and what is begun in a language that is quickly tested;
    // `tools/try` tests the others.
    let alone = TempDir::new().unwrap();
    let is_quick = |language: &String| ["c", "python"].contains(&language.as_str());
    let begun = scratch.begun.iter().filter(|(_, language)| is_quick(language));
    for copy in scratch.copies.keys().chain(begun.map(|(folder, _)| folder)) {
        fs::create_dir_all(alone.path().join(family(copy))).unwrap();
        symlink(scratch.path(copy), alone.path().join(copy)).unwrap();
    }
    for copy in floors {
        let program = profile.join(copy.replace('/', "-"));
        let built = fs::metadata(&program).and_then(|file| file.modified()).unwrap();
        assert!(built >= started, "{} is an old one", program.display());
    }
    run("test", &[], alone.path());
    verified_and_measured(&scratch, &profile);
}

/// An experiment in which the copy of a floor and the one in another language take part.
const EXPERIMENT: &str = "experiments/tr112.toml";

fn verified_and_measured(scratch: &Scratch, programs: &Path) {
    let programs = [OsStr::new("--bin-dir"), programs.as_os_str()];
    let verdicts = scratch.lab(&["verify", EXPERIMENT], &programs);
    let right = |variant: &str| verdicts.contains(&format!("right   {variant}\n"));
    assert!(right("floor_copy"), "{verdicts}");
    let mut expected = vec!["floor_copy"];
    for (copy, lacking) in [
        ("python_asyncio_copy", "python3 is not installed"),
        ("python_httpx_copy", "it is not built: there is no httpx"),
    ] {
        if verdicts.contains(&format!("absent  {copy}: {lacking}")) {
            skipped(&format!("{copy}: {lacking}"));
        } else {
            assert!(right(copy), "{verdicts}");
            expected.push(copy);
        }
    }
    scratch.lab(&["run", EXPERIMENT, "--quick", "--no-startup", "--out", "measured"], &programs);
    let rows = fs::read_to_string(scratch.path("measured/runs.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    for variant in expected {
        let own: Vec<_> = rows.iter().filter(|row| row["variant"] == variant).collect();
        assert!(own.len() > 1 && own.iter().all(|row| row["status"] == "ok"), "{own:?}");
    }
    let record = fs::read_to_string(scratch.path("measured/run.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let programs = record["variants"].as_array().unwrap().iter();
    let read: Vec<_> = programs.filter_map(|one| one["interpreter"].as_str()).collect();
    assert!(read.iter().all(|by| by.starts_with("python3, Python 3.")), "{read:?}");
}
