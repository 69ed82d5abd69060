//! What holds for every file of `experiments/`, whatever its family.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lab_family::Family;
use lab_plan::{Experiment, begun, extended_file, merged, plan};
use proof_kit::world::manifests;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn families() -> Vec<&'static dyn Family> {
    lab_families::ALL.iter().map(|family| *family as &dyn Family).collect()
}

/// The text of every experiment, with what it extends, by file.
fn texts() -> Vec<(String, String)> {
    let folder = root().join("experiments");
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let files = files.map(|file| file.into_string().unwrap());
    let mut files: Vec<String> = files.filter(|file| file.ends_with(".toml")).collect();
    files.sort();
    let whole = |file: String| {
        let text = read(&file);
        let text = match extended_file(&text) {
            Some(base) => merged((&file, &text), (&base, &read(&base))).unwrap(),
            None => text,
        };
        (file, text)
    };
    files.into_iter().map(whole).collect()
}

/// One experiment of each family.
fn one_each() -> Vec<(&'static dyn Family, String)> {
    let texts = texts();
    let of = |family: &'static dyn Family| {
        let line = format!("\nfamily = \"{}\"\n", family.name());
        let found = texts.iter().find(|(_, text)| text.contains(&line));
        (family, found.unwrap_or_else(|| panic!("no experiment has{line}")).1.clone())
    };
    families().into_iter().map(of).collect()
}

/// Gives an experiment the files that it names.
fn attach(experiment: &mut Experiment) {
    let Some((_, path)) = experiment.section.attachment() else { return };
    let path = root().join("experiments").join(path);
    experiment.section.attach(&fs::read_to_string(&path).unwrap()).unwrap();
    for (_, file) in experiment.section.further_files() {
        let text = fs::read_to_string(path.with_file_name(&file)).unwrap();
        experiment.section.take_file(&file, &text).unwrap();
    }
}

#[test]
fn every_cell_has_a_level_for_every_default_and_is_planned_once_a_block() {
    let texts = texts();
    assert!(texts.len() > 8, "only {} experiments were found", texts.len());
    for (file, text) in texts {
        for profile in [None, Some("quick")] {
            let mut experiment = Experiment::parse(&file, &text, &families()).unwrap();
            if let Some(profile) =
                profile.filter(|name| experiment.written.profile.contains_key(*name))
            {
                experiment = experiment.with_profile(profile).unwrap();
            }
            attach(&mut experiment);
            let plan = plan(&experiment, &manifests(&root(), experiment.family.name())).unwrap();
            let defaults = experiment.section.defaults();
            let mut seen = BTreeSet::new();
            for run in &plan.runs {
                let place = format!("{file}: {} {:?}", run.variant, run.cell);
                assert!(defaults.keys().all(|factor| run.cell.contains_key(factor)), "{place}");
                let is_new = seen.insert((run.block, &run.variant, &run.cell));
                assert!(is_new || run.warmup, "{place} is planned twice in block {}", run.block);
            }
        }
    }
}

#[test]
fn a_question_of_ones_own_begins_with_the_cells_that_answer_it() {
    let (mut asked, mut refused) = (0, 0);
    for (file, text) in texts() {
        let like = Experiment::parse(&file, &text, &families()).unwrap();
        let factors = like.written.cells.iter().flat_map(|group| group.keys().cloned());
        let factors: BTreeSet<String> = factors.filter(|factor| factor != "variant").collect();
        let varied = |factor: &&String| {
            let of = like.written.cells.iter().filter_map(|group| group.get(*factor));
            of.map(Vec::len).max() > Some(1)
        };
        let factors = factors.iter().filter(varied).map(|factor| Some(factor.as_str()));
        for factor in [None].into_iter().chain(factors) {
            let place = format!("{file}, factor {factor:?}");
            let text = match begun(&like, "own", factor) {
                Ok(text) => text,
                // Its questions are those of the file that it extends, and of other cells.
                Err(error) => {
                    assert!(error.to_string().starts_with(&file), "{error}");
                    refused += 1;
                    continue;
                }
            };
            let lines = text.lines().count();
            assert!(lines < 240, "{place}: {lines} lines\n{text}");
            let mut own = Experiment::parse(&file, &text, &families()).unwrap();
            attach(&mut own);
            let plan = plan(&own, &manifests(&root(), own.family.name()));
            let plan = plan.unwrap_or_else(|error| panic!("{place}: {error}\n{text}"));
            assert!(plan.runs.iter().any(|run| !run.warmup), "{place} runs nothing\n{text}");
            let questions = |of: &Experiment| {
                of.written.analysis.comparisons.len() + of.written.analysis.contrasts.len()
            };
            assert_eq!((questions(&own), own.written.expect.len()), (1, 0), "{place}");
            let levels = |factor: &str| {
                let timed = plan.runs.iter().filter(|run| !run.warmup);
                let levels = timed.filter_map(|run| run.cell.get(factor));
                levels.collect::<BTreeSet<_>>().len()
            };
            assert!(factor.is_none_or(|factor| levels(factor) == 2), "{place}\n{text}");
            asked += 1;
        }
    }
    assert!(asked > 60 && refused < asked / 10, "{asked} were asked, {refused} refused");
}

#[test]
fn the_control_of_rounds_is_the_reference() {
    let mut tried = 0;
    for (file, text) in texts().iter().filter(|(_, text)| text.contains("\n[analysis.rounds]")) {
        let planned = |text: &str| {
            let mut experiment = Experiment::parse(file, text, &families()).unwrap();
            attach(&mut experiment);
            plan(&experiment, &manifests(&root(), experiment.family.name()))
        };
        let line = text.lines().find(|line| line.starts_with("twin = ")).unwrap();
        let twin = line.split('"').nth(1).unwrap();
        let runs = planned(text).unwrap().runs;
        let mut names = runs.iter().map(|run| run.variant.as_str());
        // An experiment of one variant has no other.
        let Some(other) = names.find(|name| *name != twin && !name.ends_with("_twin")) else {
            continue;
        };
        let changed = text.replace(line, &format!("twin = \"{other}\""));
        let changed = changed.replace(&format!("{twin}_twin"), &format!("{other}_twin"));
        let error = planned(&changed).unwrap_err();
        let expected = format!("is `{other}`, but the control of rounds is the reference");
        let error = error.to_string();
        assert!(error.contains("`variants.twin`") && error.contains(&expected), "{error}");
        tried += 1;
    }
    assert!(tried > 5, "only {tried} experiments have rounds");
}

#[test]
fn a_slip_in_the_section_is_named_with_file_and_key() {
    for (family, text) in one_each() {
        let name = family.name();
        let with = |key: &str, value: &str| {
            let mut experiment: toml::Table = text.parse().unwrap();
            let value: toml::Table = format!("value = {value}").parse().unwrap();
            let section = experiment[name].as_table_mut().unwrap();
            section.insert(key.to_owned(), value["value"].clone());
            let text = experiment.to_string();
            Experiment::parse("e.toml", &text, &families()).unwrap_err().to_string()
        };
        let unknown = with("nonsense", "1");
        let expected = format!("e.toml: key `{name}`: unknown field `nonsense`");
        assert!(unknown.starts_with(&expected), "{unknown}");

        let experiment: toml::Table = text.parse().unwrap();
        let key = experiment[name].as_table().unwrap().keys().next().unwrap();
        let other_type = with(key, "1979-05-27");
        assert!(other_type.starts_with(&format!("e.toml: key `{name}.{key}`: ")), "{other_type}");
        assert_eq!(other_type.lines().count(), 1, "{other_type}");
    }
}
