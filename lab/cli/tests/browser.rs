//! Pages in a browser: what a stranger's record brings neither runs nor loads, and what is ours
//! does.

mod served;
mod unchained;

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use lab_record::{Results, Run, RunFile, Status, Writer};
use proof_kit::Attack;
use served::{Server, committed, copy, root};
use tempfile::TempDir;

/// Names of the program; `CHROMIUM` names another one.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const PATIENCE: Duration = Duration::from_secs(120);

/// Sets a mark that no text of a record holds, and calls home.
const RUN: &str = "document.documentElement.setAttribute('data-'+'ran-NAME',1);\
                   new Image().src='HOME/NAME'";

/// What a browser would run or load if it were HTML, each with a name.
const HTML: [(&str, &str); 24] = [
    ("script", "<script>RUN</script>"),
    ("script-file", "<script src=HOME/script-file></script>"),
    ("onerror", "<img src=x onerror=\"RUN\">"),
    ("image", "<img src=HOME/image>"),
    ("srcset", "<img srcset=\"HOME/srcset 1x\">"),
    ("onload", "<svg onload=\"RUN\"></svg>"),
    ("svg-image", "<svg width=9 height=9><image width=9 height=9 href=HOME/svg-image></svg>"),
    ("svg-script", "<svg><script href=HOME/svg-script></script></svg>"),
    ("import", "<style>@import 'HOME/import';</style>"),
    ("url", "<p style=\"background:url(HOME/url)\">a</p>"),
    ("styled", "<style>h1{background:url(HOME/styled)}</style>"),
    ("sheet", "<link rel=stylesheet href=HOME/sheet>"),
    ("preload", "<link rel=preload as=image href=HOME/preload>"),
    ("frame", "<iframe src=HOME/frame></iframe>"),
    ("srcdoc", "<iframe srcdoc=\"<img src=HOME/srcdoc>\"></iframe>"),
    ("script-frame", "<iframe src=\"javascript:parent.RUN;void 0\"></iframe>"),
    ("data-frame", "<iframe src=\"data:text/html,<img src=HOME/data-frame>\"></iframe>"),
    ("object", "<object data=HOME/object></object>"),
    ("embed", "<embed src=HOME/embed>"),
    ("video", "<video src=HOME/video preload=auto autoplay></video>"),
    ("poster", "<video poster=HOME/poster></video>"),
    ("toggle", "<details open ontoggle=\"RUN\">a</details>"),
    ("focus", "<input autofocus onfocus=\"RUN\">"),
    ("body", "<body onpageshow=\"RUN\">"),
];

/// What changes the whole page, and so stands at the end of it.
const WHOLE: [(&str, &str); 2] = [
    ("refresh", "<meta http-equiv=refresh content=\"0;url=HOME/refresh\">"),
    ("base", "<base href=HOME/base/><img src=a>"),
];

/// What a browser would run or load in a picture that is a page of its own.
const PICTURE: [(&str, &str); 15] = [
    ("p-script", "<script>new Image().src='HOME/p-script'</script>"),
    ("p-script-file", "<script href='HOME/p-script-file'/>"),
    ("p-onload", "<g><set attributeName='x' onbegin=\"new Image().src='HOME/p-onload'\"/></g>"),
    ("p-image", "<image width='9' height='9' href='HOME/p-image'/>"),
    ("p-xlink", "<image width='9' height='9' xlink:href='HOME/p-xlink'/>"),
    ("p-import", "<style>@import 'HOME/p-import';</style>"),
    (
        "p-font",
        "<style>@font-face{font-family:a;src:url(HOME/p-font)}text{font-family:a}</style>\
                <text y='9'>a</text>",
    ),
    (
        "p-sheet",
        "<link xmlns='http://www.w3.org/1999/xhtml' rel='stylesheet' href='HOME/p-sheet'/>",
    ),
    (
        "p-fe-image",
        "<filter id='f'><feImage href='HOME/p-fe-image'/></filter>\
                    <rect width='9' height='9' filter='url(#f)'/>",
    ),
    (
        "p-frame",
        "<foreignObject width='9' height='9'><iframe \
                 xmlns='http://www.w3.org/1999/xhtml' src='HOME/p-frame'/></foreignObject>",
    ),
    (
        "p-foreign-image",
        "<foreignObject width='9' height='9'><img \
                 xmlns='http://www.w3.org/1999/xhtml' src='HOME/p-foreign-image'/></foreignObject>",
    ),
    (
        "p-foreign-script",
        "<foreignObject><script xmlns='http://www.w3.org/1999/xhtml'>\
                          new Image().src='HOME/p-foreign-script'</script></foreignObject>",
    ),
    (
        "p-object",
        "<foreignObject width='9' height='9'><object \
                  xmlns='http://www.w3.org/1999/xhtml' data='HOME/p-object'/></foreignObject>",
    ),
    (
        "p-background",
        "<foreignObject width='9' height='9'><p xmlns='http://www.w3.org/1999/xhtml' \
                      style='background:url(HOME/p-background)'>a</p></foreignObject>",
    ),
    (
        "p-animated",
        "<image width='9' height='9'><set attributeName='href' \
                    to='HOME/p-animated'/></image>",
    ),
];

/// Addresses that only a click would follow: none of them is a link on a page.
const LINKS: [&str; 6] = [
    "[a](javascript:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "<a href=\"javascript:alert(1)\">a</a>",
    "[a](vbscript:alert(1))",
    "[a](file:///etc/passwd)",
    "[a](blob:null/1)",
];

/// What stands for a connection over which nothing was asked.
const CONNECTED: &str = "connected";

/// Somebody whom no page may call: keeps what is asked for.
struct Home {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Home {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || answer(socket, &kept));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut socket: TcpStream, kept: &Mutex<Vec<String>>) {
    let mut head = String::new();
    let _ = BufReader::new(&socket).read_line(&mut head);
    // A connection alone is a call, too.
    kept.lock().unwrap().push(head.split(' ').nth(1).unwrap_or(CONNECTED).to_owned());
    let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

/// The program, where it is here; a test without it says so, on the stream that the harness keeps.
fn browser(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = named.into_iter().chain(all).find(|program| program.is_file());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: Chromium is not installed");
    }
    found
}

/// What stands in the browser after its scripts have run, and what its console says of policies.
fn shown(browser: &Path, address: &str) -> (String, Vec<String>) {
    let profile = TempDir::new().unwrap();
    let mut command = assert_cmd::Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]);
    command.args(["--disable-dev-shm-usage", "--disable-background-networking"]);
    command.args(["--enable-logging=stderr", "--virtual-time-budget=4000"]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).arg(address);
    let ended = command.env("HOME", profile.path()).timeout(PATIENCE).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let dom = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(dom.contains("</html>") || dom.contains("</svg>"), "{address}: {dom}\n{said}");
    let is_policy = |line: &&str| line.contains("Content Security Policy");
    (dom, said.lines().filter(is_policy).map(str::to_owned).collect())
}

fn file(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn filled((name, text): &(&str, &str), home: &Home) -> String {
    text.replace("RUN", RUN).replace("HOME", &home.address).replace("NAME", name)
}

fn lab(arguments: &[&OsStr]) {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    let ended = lab.arg("--root").arg(root()).args(arguments).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// The pages of two committed reports, below this folder, and the folder of the reports.
fn site_of_two(world: &Path) -> (PathBuf, PathBuf) {
    let (site, reports) = (world.join("site"), world.join("reports"));
    for name in ["offload-wake", "audit"] {
        copy(&committed(name), &reports.join(name));
    }
    lab(&["site".as_ref(), site.as_os_str(), "--reports".as_ref(), reports.as_os_str()]);
    (site, reports)
}

fn picture(home: &Home) -> String {
    let parts: String = PICTURE.iter().map(|one| filled(one, home)).collect();
    let load = "new Image().src='HOME/p-root'".replace("HOME", &home.address);
    format!(
        "<?xml version='1.0'?>\n<?xml-stylesheet href='{}/p-instruction'?>\n\
         <svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \
         width='99' height='99' onload=\"{load}\">{parts}</svg>\n",
        home.address
    )
}

/// All texts, where Markdown would take them for HTML.
fn texts(home: &Home) -> Vec<String> {
    HTML.iter().chain(&WHOLE).map(|one| filled(one, home)).collect()
}

/// A record whose question, levels, variant, machine and reasons are HTML, and whose picture is a
/// page.
fn record(dir: &Path, home: &Home) {
    let committed = Results::load(&root().join("reports/offload-wake")).unwrap();
    let replaced = |text: String| {
        text.replace("block_3ms", "block_3ms<img src=x onerror=alert(1)>")
            .replace("thompson", "<svg onload=alert(1)>")
    };
    let file = serde_json::to_string(&committed.run_file).unwrap();
    let mut file: RunFile = serde_json::from_str(&replaced(file)).unwrap();
    let question = "Does the adaptive scheduler keep wake-ups as short";
    let said = texts(home).join(" ").replace('\\', "\\\\").replace('"', "\\\"");
    assert!(file.experiment_toml.contains(question));
    file.experiment_toml = file.experiment_toml.replace(question, &said);
    file.experiment_sha256 = RunFile::hash_of(&file.experiment_toml, &file.attachments);
    file.machine.cpu_model = texts(home).join(" ");
    let mut writer = Writer::create(dir, &file).unwrap();
    committed.sessions.iter().for_each(|session| writer.session(session).unwrap());
    let mut reasons = texts(home).into_iter();
    for run in &committed.runs {
        let samples = committed.samples(run).unwrap();
        let mut run: Run =
            serde_json::from_str(&replaced(serde_json::to_string(run).unwrap())).unwrap();
        if !run.warmup
            && let Some(reason) = reasons.next()
        {
            (run.status, run.reason) = (Status::Failed, Some(reason));
        }
        writer.run(run, &samples).unwrap();
    }
    // Its report may be anybody's.
    unchained::unchain(dir);
    fs::write(dir.join("stalls.svg"), picture(home)).unwrap();
}

/// The same with a report that its author wrote by hand.
fn report(dir: &Path, home: &Home) {
    record(dir, home);
    let all = texts(home).join("\n\n");
    let line = texts(home).join(" ").replace('|', " ");
    let text = format!(
        "# {line}\n\n**{line}?**\n\n{line}\n\n{all}\n\n![a](stalls.svg)\n\n*{line}*\n\n{}\n\n\
         | {line} | b |\n| --- | ---: |\n| {line} | {line} |\n\n```\n{all}\n```\n",
        LINKS.join(" ")
    );
    fs::create_dir(dir.join("details")).unwrap();
    fs::write(dir.join("report.md"), &text).unwrap();
    fs::write(dir.join("details/more.md"), &text).unwrap();
    fs::write(dir.join("cells.tsv"), format!("a\tb\n{line}\t{line}\n")).unwrap();
}

const POLICY_ALONE: &str = "the policy alone";

fn is_asked(asked: &[String], name: &str) -> bool {
    asked.iter().any(|path| path.split('/').nth(1) == Some(name))
}

/// What came of these texts and pictures on a page that was opened.
fn judge(door: &str, tried: &[&[(&str, &str)]], dom: &str, home: &Home) {
    let asked = home.asked();
    for (name, text) in tried.iter().copied().flatten() {
        let _attack = Attack::on("pages", &format!("{door} in Chromium, {name}: {text}"));
        assert!(!is_asked(&asked, name), "{door}: {name}: {asked:?}");
        assert!(!dom.contains(&format!(" data-ran-{name}")), "{door}: {name} ran");
    }
    // Policies say nothing of connections that a browser opens in advance; where a text is none of
    // the page's elements, there are none of these.
    let is_open = |path: &&String| door != POLICY_ALONE || *path != CONNECTED;
    assert_eq!(asked.iter().find(is_open), None, "{door}");
}

/// No address of a page is one that a click would run, or open from the disk.
fn judge_links(door: &str, dom: &str) {
    for text in LINKS {
        let _attack = Attack::on("links", &format!("{door} in Chromium, a link: {text}"));
        // Quotes of a text stay as they are, the sign before an element does not.
        let links = dom.split("<a href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let schemes = ["javascript:", "data:", "vbscript:", "file:", "blob:"];
        let mut odd = links.filter(|link| schemes.iter().any(|scheme| link.starts_with(scheme)));
        assert_eq!(odd.next(), None, "{door}: {text}");
    }
}

#[test]
fn a_browser_runs_and_loads_what_these_tests_bring_if_it_is_let() {
    let test = "a_browser_runs_and_loads_what_these_tests_bring_if_it_is_let";
    let Some(browser) = browser(test) else { return };
    let (world, home) = (TempDir::new().unwrap(), Home::open());
    let page = world.path().join("page.html");
    let mut dom = String::new();
    let all = HTML.iter().map(|one| filled(one, &home)).collect::<String>();
    let alone = WHOLE.iter().map(|one| filled(one, &home));
    for text in [all].into_iter().chain(alone) {
        fs::write(&page, format!("<!DOCTYPE html><html><body><h1>a</h1>{text}</html>")).unwrap();
        dom.push_str(&shown(&browser, &file(&page)).0);
    }
    let svg = world.path().join("a.svg");
    fs::write(&svg, picture(&home)).unwrap();
    shown(&browser, &file(&svg));
    let asked = home.asked();
    let quiet: BTreeSet<&str> = HTML
        .iter()
        .chain(&WHOLE)
        .chain(&PICTURE)
        .map(|(name, _)| *name)
        .filter(|name| !is_asked(&asked, name))
        .collect();
    assert!(quiet.is_empty(), "{quiet:?} did nothing: {asked:?}");
    let ran = HTML.iter().filter(|(_, text)| text.contains("RUN"));
    for (name, _) in ran {
        assert!(dom.contains(&format!(" data-ran-{name}")), "{name}: {dom}");
    }
}

#[test]
fn what_a_record_brings_does_nothing_on_a_page_of_lab_report() {
    let Some(browser) = browser("what_a_record_brings_does_nothing_on_a_page_of_lab_report") else {
        return;
    };
    let (world, home) = (TempDir::new().unwrap(), Home::open());
    let dir = world.path().join("hostile");
    record(&dir, &home);
    let arguments = ["report", "--format", "html", "--no-plots"].map(OsStr::new);
    lab(&[&arguments[..], &[dir.as_os_str()]].concat());
    let html = fs::read_to_string(dir.join("index.html")).unwrap();
    for part in ["block_3ms&lt;img src=x", "&lt;svg onload=", "/script-file", "base64,"] {
        assert!(html.contains(part), "{part} is not on the page");
    }
    let (dom, _) = shown(&browser, &file(&dir.join("index.html")));
    judge("lab report", &[&HTML, &WHOLE, &PICTURE], &dom, &home);
    assert!(dom.contains("class=\"u-wrap\""), "no run is drawn");
}

#[test]
fn what_a_record_brings_does_nothing_on_a_page_of_lab_site() {
    let Some(browser) = browser("what_a_record_brings_does_nothing_on_a_page_of_lab_site") else {
        return;
    };
    let (world, home) = (TempDir::new().unwrap(), Home::open());
    report(&world.path().join("reports/hostile"), &home);
    let (site, reports) = (world.path().join("site"), world.path().join("reports"));
    lab(&["site".as_ref(), site.as_os_str(), "--reports".as_ref(), reports.as_os_str()]);
    let (dom, _) = shown(&browser, &file(&site.join("hostile.html")));
    judge("lab site", &[&HTML, &WHOLE, &PICTURE], &dom, &home);
    judge_links("lab site", &dom);
    assert!(dom.contains("class=\"u-wrap\""), "no run is drawn");
    let (dom, _) = shown(&browser, &file(&site.join("index.html")));
    judge("the list of lab site", &[&HTML, &WHOLE], &dom, &home);
}

#[test]
fn what_a_record_brings_does_nothing_on_a_page_of_lab_serve() {
    let Some(browser) = browser("what_a_record_brings_does_nothing_on_a_page_of_lab_serve") else {
        return;
    };
    let (world, home) = (TempDir::new().unwrap(), Home::open());
    report(&world.path().join("hostile"), &home);
    let server = Server::of(&[world.path()]);
    let (dom, _) = shown(&browser, &format!("http://{}/r/0/hostile.html", server.address));
    judge("lab serve", &[&HTML, &WHOLE, &PICTURE], &dom, &home);
    judge_links("lab serve", &dom);
    assert!(dom.contains("class=\"u-wrap\""), "no run is drawn");
    let (dom, _) = shown(&browser, &format!("http://{}/", server.address));
    judge("the list of lab serve", &[&HTML, &WHOLE], &dom, &home);
}

/// As if a part of a page were not escaped.
#[test]
fn the_policy_of_a_page_holds_alone() {
    let Some(browser) = browser("the_policy_of_a_page_holds_alone") else { return };
    let (world, home) = (TempDir::new().unwrap(), Home::open());
    let (site, _) = site_of_two(world.path());
    let page = world.path().join("page.html");
    let html = fs::read_to_string(site.join("offload-wake.html")).unwrap();
    // A browser asks no policy whether a page may lead to another one.
    let tried = [&HTML[..], &WHOLE[1..]];
    let all: String = tried.concat().iter().map(|one| filled(one, &home)).collect();
    fs::write(&page, html.replace("</main>", &format!("{all}{}</main>", picture(&home)))).unwrap();
    let (dom, complaints) = shown(&browser, &file(&page));
    judge(POLICY_ALONE, &[tried[0], tried[1], &PICTURE], &dom, &home);
    assert!(complaints.len() > HTML.len() / 2, "{complaints:#?}");
    assert!(dom.contains("class=\"u-wrap\""), "no run is drawn");
}

#[test]
fn our_own_pages_keep_to_their_policy() {
    let Some(browser) = browser("our_own_pages_keep_to_their_policy") else { return };
    let world = TempDir::new().unwrap();
    let (site, reports) = site_of_two(world.path());
    let server = Server::of(&[&reports]);
    let history = "/history?experiment=offload-wake&metric=tick_p99_ns&variant=thompson";
    for (address, part) in [
        (file(&site.join("offload-wake.html")), "class=\"u-wrap\""),
        (file(&site.join("index.html")), "<article>"),
        (format!("http://{}/r/0/offload-wake.html", server.address), "class=\"u-wrap\""),
        (format!("http://{}/", server.address), "A metric over all sweeps"),
        (format!("http://{}{history}", server.address), "<circle"),
        (format!("http://{}/nowhere", server.address), "No page"),
    ] {
        let (dom, complaints) = shown(&browser, &address);
        assert!(dom.contains(part), "{address}: {part}");
        assert!(complaints.is_empty(), "{address}: {complaints:?}");
        // A script of ours made the heads of columns buttons.
        let sorted = dom.matches("<th><button").count() + dom.matches("<button type").count();
        assert!(!dom.contains("<thead>") || sorted > 0, "{address}: no script ran");
    }
}
