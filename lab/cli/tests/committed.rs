//! Every report in reports/ is what its records give, to the byte.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use assert_cmd::assert::OutputAssertExt;
use lab_family::{Account, Address, WORK_DECLARED_NS, text};
use lab_record::{Results, Status};
use predicates::str::contains;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of reports that hold this file.
fn reports_with(file: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join("reports")).unwrap().map(|entry| entry.unwrap().path());
    let reports: Vec<_> = folders.filter(|folder| folder.join(file).exists()).collect();
    assert!(!reports.is_empty());
    reports
}

#[test]
fn committed_reports_follow_from_their_records() {
    // Those of sweeps. The others are pages of their own, which other tests check.
    for report in reports_with("run.json") {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(root()).arg("report").arg(&report).arg("--check");
        lab.assert().success();
    }
}

/// What holds over committed sessions; `tools/sessions pages` writes it.
#[test]
fn pages_of_sessions_follow_from_their_records() {
    let folder = root().join("reports/sessions");
    let entries = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let experiments: Vec<PathBuf> = entries.filter(|path| path.join("1").is_dir()).collect();
    assert!(!experiments.is_empty());
    for experiment in experiments {
        let records = (1..).map(|number: u32| experiment.join(number.to_string()));
        let records: Vec<PathBuf> = records.take_while(|record| record.exists()).collect();
        let (first, later) = records.split_at(6);
        let page = |ending: &str| {
            let name = experiment.file_name().unwrap().to_string_lossy();
            fs::read_to_string(folder.join(format!("details/{name}{ending}.md"))).unwrap()
        };
        let said = |later: &[PathBuf]| {
            let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
            lab.arg("--root").arg(root()).arg("report").arg(&first[0]);
            lab.arg("--over").args(&first[1..]);
            if !later.is_empty() {
                lab.arg("--next").args(later);
            }
            String::from_utf8(lab.assert().success().get_output().stdout.clone()).unwrap()
        };
        assert_eq!(said(&[]), page(""), "{}", experiment.display());
        if !later.is_empty() {
            assert_eq!(said(later), page("-later"), "{}", experiment.display());
        }
    }
}

/// Committed rows are from before the driver wrote down what work was declared: it is planned again
/// here. So the bounds of the laws are those of records that nobody doubts.
#[test]
fn no_committed_row_breaks_the_laws_of_declared_work() {
    let mut held = BTreeMap::<String, usize>::new();
    for report in reports_with("run.json") {
        let results = Results::load(&report).unwrap();
        let sweep = &results.run_file;
        let first = sweep.variants.first().map_or("", |entry| entry.family.as_str());
        let family = lab_families::ALL.iter().find(|family| family.name() == first).unwrap();
        let profile = sweep.profile.as_deref();
        let table = text::stored_section(&sweep.experiment_toml, family.definition(), profile);
        let Ok(mut section) = family.section("e.toml", &table) else {
            // Only those that declare work have to be read again.
            assert!(!["ledgers", "schedulers"].contains(&first), "{}", report.display());
            continue;
        };
        if let Some(name) = section.attachment().map(|(name, _)| name) {
            section.attach(&sweep.attachments[name]).unwrap();
        }
        for run in results.runs.iter().filter(|run| run.status == Status::Ok) {
            let variant = &run.variant;
            let (seed, block, order, cell) = (sweep.seed, run.block, run.order, &run.cell);
            let at = Address { seed, block, order, variant, cell };
            let Ok(planned) = section.plan("e.toml", &at) else { continue };
            let entry = sweep.variants.iter().find(|entry| entry.variant == *variant).unwrap();
            let Some(declared_ns) = planned.work.declared_ns(&entry.tags) else { continue };
            let mut run = run.clone();
            run.counters.insert(WORK_DECLARED_NS.to_owned(), declared_ns);
            let samples = results.samples(&run).unwrap();
            let law = family.laws(&Account { run: &run, samples: &samples });
            assert_eq!(law, Ok(()), "{} {}", report.display(), run.order);
            *held.entry(first.to_owned()).or_default() += 1;
        }
    }
    let least = [("ledgers", 1_000), ("schedulers", 2_000)];
    assert!(least.iter().all(|(family, rows)| held[*family] >= *rows), "{held:?}");
}

#[test]
fn a_first_screen_is_one_and_its_links_lead_somewhere() {
    for report in reports_with("report.md") {
        let page = fs::read_to_string(report.join("report.md")).unwrap();
        let words = page.split_whitespace().count();
        assert!(words <= 600, "{}: {words} words", report.display());
        let details = fs::read_dir(report.join("details")).unwrap().count();
        let mut linked = BTreeSet::new();
        for link in page.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            assert!(report.join(target).exists(), "{}: {target}", report.display());
            linked.extend(target.starts_with("details/").then_some(target));
        }
        assert_eq!(linked.len(), details, "{}: a page that nobody finds", report.display());
    }
}

/// As GitHub makes an anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|one| one.is_alphanumeric() || [' ', '-'].contains(one));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_of_chapters_lead_somewhere() {
    for report in reports_with("run.json") {
        for chapter in fs::read_dir(report.join("details")).unwrap() {
            let chapter = chapter.unwrap().path();
            let text = fs::read_to_string(&chapter).unwrap();
            for link in text.split("](").skip(1) {
                let link = link.split(')').next().unwrap();
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                let target = report.join("details").join(file);
                assert!(target.exists(), "{}: {link}", chapter.display());
                let is_there = heading.is_empty() || {
                    let text = fs::read_to_string(&target).unwrap();
                    let mut headings = text.lines().filter(|line| line.starts_with('#'));
                    headings.any(|line| anchor(line.trim_start_matches('#').trim()) == heading)
                };
                assert!(is_there, "{}: {link}", chapter.display());
            }
        }
    }
}

/// Every value of an attribute.
fn values<'h>(html: &'h str, attribute: &str) -> Vec<&'h str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn pages_of_others_are_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("index.html");
    fs::write(&own, "<title>My own</title>").unwrap();
    let site = || {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(root()).arg("site").arg(dir.path());
        lab.arg("--reports").arg(root().join("reports")).assert()
    };
    site().code(2).stderr(contains("is no page of `lab site`; name a new folder"));
    assert_eq!(fs::read_to_string(&own).unwrap(), "<title>My own</title>");
    fs::remove_file(&own).unwrap();
    site().success();
    // Its own it writes again.
    site().success();
}

#[test]
fn all_reports_are_pages_of_their_own_that_link_to_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.arg("--root").arg(root()).arg("site").arg(dir.path());
    lab.arg("--reports").arg(root().join("reports")).assert().success();
    let reports = reports_with("report.md");
    let mut names: Vec<String> = reports
        .iter()
        .map(|folder| format!("{}.html", folder.file_name().unwrap().to_str().unwrap()))
        .collect();
    names.push("index.html".to_owned());
    for name in &names {
        let html = fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(html.len() <= 2_000_000, "{name}: {} bytes", html.len());
        let ids: BTreeSet<&str> = values(&html, "id").into_iter().collect();
        for address in values(&html, "href") {
            let is_there = match address.strip_prefix('#') {
                Some(id) => ids.contains(id),
                None => {
                    let page = address.split('#').next().unwrap_or_default();
                    address.starts_with("https://") || names.iter().any(|one| one == page)
                }
            };
            assert!(is_there, "{name}: {address}");
        }
        assert!(!html.contains(" src=\"http"), "{name} needs the network");
        // A page has the runs of its report's record, where the report has one.
        let folder = root().join("reports").join(name.trim_end_matches(".html"));
        let data = html.split("id=\"run-data\">").nth(1);
        assert_eq!(data.is_some(), folder.join("run.json").is_file(), "{name}");
        let Some(data) = data.and_then(|data| data.split("</script>").next()) else { continue };
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let [runs, variants] = ["order", "variants"].map(|key| data[key].as_array().unwrap().len());
        assert!(runs >= 50 && variants >= 1, "{name}: {runs} runs of {variants} variants");
        for quantity in data["quantities"].as_array().unwrap() {
            let values = quantity["values"].as_array().unwrap();
            assert_eq!(values.len(), runs, "{name}: {}", quantity["name"]);
            assert!(values.iter().any(|value| value.is_number()), "{name}: {}", quantity["name"]);
        }
    }
}
