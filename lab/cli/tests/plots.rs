//! Pictures of a stranger's record: no name in it is read as anything else.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use lab_driver::plots::Scripts;
use proof_kit::Attack;

/// Arguments of a script: for the picture, and for its form for narrow windows.
const FORMS: [&[&str]; 2] = [&[], &["narrow"]];

/// Whether gnuplot is here; a test without it says so, on the stream that the harness keeps.
fn has_gnuplot(test: &str) -> bool {
    let found = Command::new("gnuplot").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: gnuplot is not installed");
    }
    found
}

fn committed() -> Vec<PathBuf> {
    let reports =
        std::env::current_dir().unwrap().join(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let folders = fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join("run.json").exists()).collect()
}

/// All tables of a report, most of which are not committed.
fn tables(report: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
    lab.arg("report").arg(report).args(["--format", "tsv", "--out"]).arg(to.path());
    assert!(lab.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    to
}

/// Each script with its picture's name and the tables of a committed report that has it.
fn figures() -> Vec<(&'static str, String, BTreeMap<String, String>)> {
    let mut figures = Vec::new();
    for (script, text) in lab_families::PLOTS {
        let (Some(table), Some(picture)) =
            (named(text, "file = ARG1"), named(text, "set output ARG2"))
        else {
            continue;
        };
        let report = committed().into_iter().find(|report| report.join(&picture).exists());
        let report = tables(&report.unwrap_or_else(|| panic!("no report has {picture}")));
        let mut texts = BTreeMap::new();
        for entry in fs::read_dir(report.path()).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if name.ends_with(".tsv") {
                texts.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
        assert!(texts.contains_key(&table), "{table}");
        figures.push((*script, picture, texts));
    }
    figures
}

/// Each text in the rows of tables replaced; names of columns are ours.
fn hostile(own: &BTreeMap<String, String>, text: &str) -> BTreeMap<String, String> {
    let mut tables = BTreeMap::new();
    for (name, table) in own {
        let mut lines = table.lines();
        let head = lines.next().unwrap_or_default().to_owned();
        let cell = |cell: &str| match cell.is_empty() || cell.parse::<f64>().is_ok() {
            true => cell.to_owned(),
            false => text.to_owned(),
        };
        let row = |line: &str| line.split('\t').map(cell).collect::<Vec<_>>().join("\t");
        let rows: Vec<String> = [head].into_iter().chain(lines.map(row)).collect();
        tables.insert(name.clone(), rows.join("\n") + "\n");
    }
    tables
}

/// All pictures of a committed report, with names that shells, awk and gnuplot would run.
#[test]
fn no_name_in_a_record_is_run() {
    if !has_gnuplot("no_name_in_a_record_is_run") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let made = |number: usize| dir.path().join(format!("made{number}"));
    let touch = |number: usize| format!("touch {}", made(number).display());
    let names = [
        format!("x'; {}; echo '", touch(0)),
        format!("x\"; {}; echo \"", touch(1)),
        format!("`{}`", touch(2)),
        format!("$({})", touch(3)),
        format!("x\"); system(\"{}\"); print(\"", touch(4)),
        format!("| {}", touch(5)),
        format!("< {}", touch(6)),
        format!("@x {{/=90 {}}}", touch(7)),
        format!("x\\047; {}; echo \\047", touch(8)),
        format!("\" system(\"{}\") \"", touch(9)),
    ];
    let scripts = Scripts::unpack(lab_families::PLOTS).unwrap();
    let mut drawn = 0;
    for (script, picture, own) in figures() {
        for (number, name) in names.iter().enumerate() {
            let shown = name.replace(&*dir.path().to_string_lossy(), "");
            let _attack = Attack::on("pictures", &format!("{script} draws names like {shown}"));
            let tables = hostile(&own, name);
            for form in FORMS {
                drawn += usize::from(scripts.draw(script, &tables, form, &picture).is_ok());
            }
            assert!(!made(number).exists(), "{script}: {name}");
        }
    }
    // Scripts that stumble over a name would show nothing of this.
    assert!(drawn > 100, "{drawn}");
}

#[test]
fn every_picture_has_a_form_for_a_narrow_window() {
    if !has_gnuplot("every_picture_has_a_form_for_a_narrow_window") {
        return;
    }
    let scripts = Scripts::unpack(lab_families::PLOTS).unwrap();
    for (script, picture, tables) in figures() {
        let [wide, narrow] = FORMS.map(|form| {
            let drawn = scripts.draw(script, &tables, form, &picture);
            String::from_utf8(drawn.unwrap_or_else(|error| panic!("{error}"))).unwrap()
        });
        let numbers = |svg: &str, before: &str| -> Vec<f64> {
            let values = svg.split(before).skip(1).map(|rest| rest.split(['"', ' ']).next());
            values.map(|value| value.unwrap().parse().unwrap()).collect()
        };
        // What a window of 390 px has for a picture, and letters that can be read there.
        assert!(numbers(&narrow, "viewBox=\"0 0 ")[0] <= 370.0, "{script} narrow");
        let letters = numbers(&narrow, "font-size=\"");
        assert!(letters.len() > 5 && letters.iter().all(|px| *px >= 9.0), "{script}: {letters:?}");
        assert!(narrow != wide, "{script} knows no narrow window");
    }
}

/// The file that a line of a script names: `file = ARG1."/stalls.tsv"`.
fn named(script: &str, beginning: &str) -> Option<String> {
    let line = script.lines().find(|line| line.starts_with(beginning))?;
    Some(line.split('"').nth(1)?.trim_start_matches('/').to_owned())
}

#[test]
fn no_name_of_a_folder_is_run_and_no_link_of_a_record_is_written_through() {
    if !has_gnuplot("no_name_of_a_folder_is_run_and_no_link_of_a_record_is_written_through") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let record = committed().into_iter().find(|report| report.ends_with("offload-wake")).unwrap();
    let folder = dir.path().join("x'; touch pwn; echo '`touch pwn`$(touch pwn)");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(record).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
    let outside = dir.path().join("outside");
    fs::write(&outside, "mine\n").unwrap();
    let picture = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let picture = picture.filter(|path| path.extension().is_some_and(|ending| ending == "svg"));
    let pages = ["report.md", "index.html"].map(|name| folder.join(name));
    let links: Vec<PathBuf> = picture.chain(pages).collect();
    for link in &links {
        let _ = fs::remove_file(link);
        std::os::unix::fs::symlink(&outside, link).unwrap();
    }
    let _attack = Attack::on("pictures", "the name of a record's folder is a command");
    let _links = Attack::on("links", "links stand where pages and pictures are written");
    let lab = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
    let mut lab = Command::new(lab);
    lab.current_dir(dir.path()).args(["report", "--format", "html"]).arg(&folder);
    let ended = lab.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!dir.path().join("pwn").exists() && !folder.join("pwn").exists());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine\n");
    assert!(links.iter().all(|link| fs::symlink_metadata(link).unwrap().is_file()), "{links:?}");
    assert!(links.len() > 1);
}
