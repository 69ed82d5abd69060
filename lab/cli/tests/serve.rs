//! `lab serve`: the real server, asked as a browser asks.

mod served;

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use assert_cmd::assert::OutputAssertExt;
use lab_record::{
    Folder, Manifest, RunFile, SCHEMA, Samples, Session, SessionEvent, Writer, sha256_hex,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proof_kit::Attack;
use serde_json::{Value, json};
use served::{Server, committed, copy, lab, root, values};
use tempfile::TempDir;

/// Changes one file of a record.
fn change(file: &Path, change: impl Fn(&mut Value)) {
    let mut value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    change(&mut value);
    fs::remove_file(file).unwrap();
    fs::write(file, value.to_string()).unwrap();
}

/// What the picture of runs on a page is drawn from; `None` where there is no such picture.
fn drawn(page: &str) -> Option<Value> {
    let data = page.split("id=\"run-data\">").nth(1)?.split("</script>").next()?;
    assert_eq!(page.matches("<div id=\"run-picture\">").count(), 1);
    Some(serde_json::from_str(data).unwrap())
}

/// A sweep of ten planned runs, of which some are recorded.
fn begun(dir: &Path, rows: u64) -> Writer {
    let mut file = RunFile::read(&committed("offload-wake")).unwrap();
    let toml = "question = \"Does it go on?\"";
    (file.experiment, file.experiment_toml) = ("made-up".to_owned(), toml.to_owned());
    file.experiment_sha256 = RunFile::hash_of(&file.experiment_toml, &file.attachments);
    (file.runs_planned, file.started_unix_s) = (10, 2_000_000_000);
    let own = json!({"variant": "v", "family": "f", "measures": "", "version": "", "tags": [],
        "features": [], "binary_sha256": "", "binary_bytes": 1});
    file.variants = vec![serde_json::from_value(own).unwrap()];
    let mut writer = Writer::create(dir, &file).unwrap();
    session(&mut writer, SessionEvent::Start);
    for order in 0..rows {
        let run = json!({
            "schema": SCHEMA, "order": order, "attempt": 0, "block": 1, "warmup": false,
            "family": "f", "variant": "v", "cell": {}, "status": "ok", "counters": {}, "noise": {},
            "verification": "verified", "binary_sha256": "", "start_ns": 1, "process_ns": 1,
        });
        writer.run(serde_json::from_value(run).unwrap(), &Samples::default()).unwrap();
    }
    writer
}

fn session(writer: &mut Writer, event: SessionEvent) {
    let environment = Default::default();
    writer.session(&Session { schema: SCHEMA, event, unix_s: 1, environment }).unwrap();
}

#[test]
fn every_committed_report_is_listed_and_every_link_leads_somewhere() {
    let server = Server::of(&[&root().join("reports")]);
    let list = server.page("/");
    let folders = fs::read_dir(root().join("reports")).unwrap().map(|entry| entry.unwrap().path());
    let reports = folders.filter(|folder| folder.join("report.md").is_file());
    let pages: BTreeSet<String> = reports
        .map(|folder| format!("/r/0/{}.html", folder.file_name().unwrap().to_string_lossy()))
        .collect();
    let linked: BTreeSet<String> = values(&list, "href").into_iter().collect();
    assert!(pages.len() > 5 && pages.is_subset(&linked), "{linked:?}");
    assert!(list.contains("Does the async runtime matter"), "{list}");
    let mut seen = BTreeSet::new();
    for address in &pages {
        let page = server.page(address);
        let name = address.trim_start_matches("/r/0/").trim_end_matches(".html");
        let is_sweep = committed(name).join("run.json").is_file();
        assert_eq!(drawn(&page).is_some(), is_sweep, "{address}");
        let ids: BTreeSet<String> = values(&page, "id").into_iter().collect();
        for link in values(&page, "href") {
            match link.strip_prefix('#') {
                Some(id) => assert!(ids.contains(id), "{address}: {link}"),
                None if link.contains("://") => {}
                // What two sweeps have in common takes long, and has a test of its own.
                None if link.starts_with("/against?") => {}
                None if link.starts_with('/') => drop(seen.insert(link)),
                None => drop(seen.insert(format!("/r/0/{link}"))),
            }
        }
    }
    for link in seen {
        assert_eq!(server.status(&link), 200, "{link}");
    }
}

#[test]
fn the_newest_come_first_and_one_that_goes_on_says_how_far_it_is() {
    let world = TempDir::new().unwrap();
    copy(&committed("offload-wake"), &world.path().join("old"));
    let mut writer = begun(&world.path().join("new"), 3);
    let server = Server::of(&[world.path()]);
    let list = server.page("/");
    let place = |text: &str| list.find(text).unwrap_or_else(|| panic!("{text} of {list}"));
    assert!(place("/r/0/new.html") < place("/r/0/old.html"));
    assert!(list.contains("Does it go on?") && list.contains("; it goes on"), "{list}");
    let page = server.page("/r/0/new.html");
    assert!(page.contains("3 of 10 planned runs are recorded."), "{page}");
    assert!(page.contains("http-equiv=\"refresh\"") && page.contains("Does it go on?"), "{page}");
    assert!(drawn(&page).is_none());
    // Its variants are of no family, so nothing can be computed: that is said, and is no crash.
    let so_far = values(&page, "href").into_iter().find(|link| link.contains("so_far")).unwrap();
    let (status, page) = server.ask(&so_far);
    assert!(status == 400 && page.contains("is no family of this lab"), "{status} {page}");
    session(&mut writer, SessionEvent::Stopped);
    drop(writer);
    assert!(server.page("/").contains("; it was stopped"));
    // A record that begins while the server runs is there at the next look.
    let _writer = begun(&world.path().join("next"), 0);
    assert!(server.page("/r/0/next.html").contains("0 of 10 planned runs"));
}

#[test]
fn records_without_a_written_report_get_one() {
    let world = TempDir::new().unwrap();
    let record = world.path().join("record");
    copy(&committed("offload-wake"), &record);
    fs::remove_file(record.join("report.md")).unwrap();
    let server = Server::of(&[&record]);
    let page = server.page("/r/0/record.html");
    assert!(page.contains("tick_p99_ns") && page.contains("was not drawn"), "{page}");
    assert!(drawn(&page).is_some());
    assert!(!record.join("report.md").exists());
}

#[test]
fn a_record_has_every_run_in_a_picture() {
    let server = Server::of(&[&committed("offload-wake")]);
    let page = server.page("/r/0/offload-wake.html");
    let data = drawn(&page).unwrap();
    let text = served::plain::lines(&committed("offload-wake"));
    let runs = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let analysed: Vec<Value> =
        runs.filter(|run| run["warmup"] == false && run["status"] == "ok").collect();
    let variants: BTreeSet<&str> =
        analysed.iter().map(|run| run["variant"].as_str().unwrap()).collect();
    assert_eq!(data["variants"], json!(variants));
    // In the order in which they ran, which is not that of their numbers where there were rounds.
    let orders: Vec<&Value> = analysed.iter().map(|run| &run["order"]).collect();
    assert_eq!(data["order"], json!(orders));
    // Its scripts are files of the server: those that stand in a page are not run.
    let scripts = page.split("<script").skip(1).map(|rest| rest.split('>').next().unwrap());
    let [data, plot, runs, every] =
        [" type=\"application/json\" id=\"run-data\"", "plot", "runs", "page"];
    let file = |name: &str| format!(" src=\"/{name}.js\"");
    let expected = [data.to_owned(), file(plot), file(runs), file(every)];
    assert_eq!(scripts.collect::<Vec<_>>(), expected);
    for (name, part) in [("plot", "var uPlot="), ("runs", "new uPlot("), ("page", "sortable")] {
        assert!(server.page(&format!("/{name}.js")).contains(part), "{name}");
    }
}

#[test]
fn a_record_without_anything_to_draw_is_a_page_without_a_picture() {
    let world = TempDir::new().unwrap();
    let record = |name: &str| {
        let dir = world.path().join(name);
        copy(&committed("offload-wake"), &dir);
        dir
    };
    fs::remove_file(record("without-samples").join("samples.pack.zst")).unwrap();
    let failed = record("failed").join("runs.jsonl");
    let text = fs::read_to_string(&failed).unwrap();
    fs::remove_file(&failed).unwrap();
    fs::write(&failed, text.replace("\"status\":\"ok\"", "\"status\":\"failed\"")).unwrap();
    // Somebody made it up: its runs are of no family.
    let made_up = world.path().join("made-up");
    let mut writer = begun(&made_up, 3);
    session(&mut writer, SessionEvent::Finished);
    let page = "# made-up\n\n**Is it there?**\n";
    fs::write(made_up.join("report.md"), page).unwrap();
    let mut manifest = Manifest::of(&writer.heads().unwrap());
    manifest.put("report.md", sha256_hex(page.as_bytes()));
    manifest.write(&Folder::at(&made_up)).unwrap();
    copy(&committed("audit"), &world.path().join("audit"));
    let (server, site) = (Server::of(&[world.path()]), TempDir::new().unwrap());
    let mut command = Command::new(lab());
    command.arg("--root").arg(root()).arg("site").arg(site.path());
    // One of the records was changed.
    let said = command.arg("--reports").arg(world.path()).assert().code(4);
    for name in ["without-samples", "failed", "made-up", "audit"] {
        let file = site.path().join(format!("{name}.html"));
        for page in [server.page(&format!("/r/0/{name}.html")), fs::read_to_string(file).unwrap()] {
            assert!(drawn(&page).is_none() && !page.contains("run-picture"), "{name}: {page}");
        }
    }
    let is_told = |page: &str| server.page(page).contains("Its record cannot be read: ");
    assert!(is_told("/r/0/without-samples.html") && !is_told("/r/0/failed.html"));
    let said = String::from_utf8_lossy(&said.get_output().stderr).into_owned();
    let told: Vec<&str> = said.lines().filter_map(|line| line.split(".html").next()).collect();
    assert_eq!(told, ["made-up", "without-samples"], "{said}");
}

#[test]
fn a_report_on_a_sweep_that_goes_on_costs_no_picture() {
    let world = TempDir::new().unwrap();
    let record = world.path().join("record");
    copy(&committed("offload-wake"), &record);
    let sessions = record.join("sessions.jsonl");
    let text = fs::read_to_string(&sessions).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"finished\"")).collect();
    fs::remove_file(&sessions).unwrap();
    fs::write(&sessions, kept.join("\n") + "\n").unwrap();
    let runs = fs::File::open(record.join("runs.jsonl")).unwrap();
    runs.lock().unwrap();
    let server = Server::of(&[world.path()]);
    let page = server.page("/r/0/record.html?so_far=1");
    assert!(page.contains("This sweep goes on") && drawn(&page).is_none(), "{page}");
    drop(runs);
    let page = server.page("/r/0/record.html");
    assert!(page.contains("This sweep was stopped") && drawn(&page).is_some(), "{page}");
}

#[test]
fn what_changed_between_two_sweeps_is_the_table_of_the_command_line() {
    let world = TempDir::new().unwrap();
    for (name, started) in [("old", 1), ("new", 2)] {
        copy(&committed("offload-wake"), &world.path().join(name));
        let file = world.path().join(name).join("run.json");
        change(&file, |value| value["started_unix_s"] = json!(started));
    }
    let server = Server::of(&[world.path()]);
    // Whoever presses the button at once compares two.
    let list = server.page("/");
    let chosen = |value: &str| list.matches(&format!("value=\"{value}\" selected")).count();
    assert_eq!((chosen("0/new"), chosen("0/old")), (1, 1), "{list}");
    let page = server.page("/r/0/new.html");
    let link = values(&page, "href").into_iter().find(|link| link.contains("against")).unwrap();
    assert_eq!(link, "/against?of=0%2Fnew&with=0%2Fold");
    let page = server.page(&link);
    assert!(page.contains("the same bytes ran both times"), "{page}");
    let printed = Command::new(lab())
        .args(["report", "new", "--against", "old"])
        .current_dir(world.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let rows = printed.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rows: Vec<&str> = rows.collect();
    assert!(!rows.is_empty(), "{printed}");
    for row in rows {
        assert!(page.contains(&format!("<td><code>{row}</code></td>")), "{row} of {page}");
    }
    // By name alone, where that is enough.
    assert_eq!(server.status("/against?of=new&with=old"), 200);
    for (target, status) in
        [("of=new&with=none", 404), ("of=new", 400), ("of=..%2Fnew&with=old", 404)]
    {
        let _attack = Attack::on("serve", &format!("a comparison: {target}"));
        assert_eq!(server.status(&format!("/against?{target}")), status, "{target}");
    }
}

#[test]
fn a_metric_over_sweeps_shows_every_run_and_where_it_changed() {
    let world = TempDir::new().unwrap();
    for number in 0..12 {
        let dir = world.path().join(format!("s{number:02}"));
        copy(&committed("offload-wake"), &dir);
        change(&dir.join("run.json"), |value| {
            value["started_unix_s"] = json!(86_400 * number);
            value["git"]["commit"] = json!(format!("{number:040}"));
            value["variants"][3]["twin_of"] =
                json!(["always_offload", "always_inline"][number / 6]);
        });
        // One variant gets the runs of another one, and the other way round.
        let both = [("run.json", "version"), ("runs.jsonl", "cell")];
        for (file, next) in both.into_iter().filter(|_| number >= 6) {
            let file = dir.join(file);
            let name = |variant: &str| format!("\"variant\":\"{variant}\",\"{next}\"");
            let [one, other] = ["always_inline", "always_offload"].map(name);
            let text = fs::read_to_string(&file).unwrap().replace(&one, "\0").replace(&other, &one);
            fs::remove_file(&file).unwrap();
            fs::write(&file, text.replace('\0', &other)).unwrap();
        }
    }
    let server = Server::of(&[world.path()]);
    let offered = server.page("/history?metric=tick_p99_ns");
    let link = values(&offered, "href").into_iter().find(|link| link.contains("tick_p99_ns"));
    let page = server.page(&link.unwrap());
    let own = values(&page, "href").into_iter().find(|link| link.ends_with("=always_inline"));
    let page = server.page(&format!("{}&cell=load%3Dblock_3ms", own.unwrap()));
    // Sweeps are links in each cell's table; every run in such a cell is a dot.
    let sweeps = values(&page, "href").into_iter().filter(|link| link.starts_with("/r/0/s"));
    assert_eq!(sweeps.count(), 12 * page.matches("<figure>").count(), "{page}");
    let file = |number: usize| world.path().join(format!("s{number:02}/runs.jsonl"));
    let texts: String = (0..12).map(|number| fs::read_to_string(file(number)).unwrap()).collect();
    let runs = texts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let in_cell = runs.filter(|run| {
        run["variant"] == "always_inline"
            && run["cell"]["load"] == "block_3ms"
            && run["cell"]["test"] == "wake"
            && run["warmup"] == false
            && run["status"] == "ok"
    });
    assert_eq!(page.matches("<circle ").count(), in_cell.count());
    let rows = page.split("<tr>").filter(|row| row.contains("changed before it, p "));
    let rows: Vec<&str> = rows.collect();
    assert!(!rows.is_empty(), "{page}");
    for row in rows {
        assert!(row.contains("/s06</a>") && row.contains("1970-01-07"), "{row}");
    }
    assert_eq!(server.status("/history?experiment=none&metric=x"), 400);
    assert!(server.page("/history").contains("offload-wake (12 sweeps)"));
}

#[test]
fn ctrl_c_ends_it() {
    let mut server = Server::of(&[&committed("audit")]);
    assert_eq!(server.status("/"), 200);
    kill(Pid::from_raw(server.child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(130));
}
