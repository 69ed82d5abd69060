//! The commands of docs/TUTORIAL.md and docs/HOWTO.md, run as they stand there.

use std::{
    env,
    ffi::OsString,
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// What `lab compare` ends with: the second command is not slower, is slower, or neither is known.
const FASTER: i32 = 0;
const SLOWER: i32 = 10;
const OPEN: i32 = 11;

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

fn page(name: &str) -> String {
    fs::read_to_string(repository().join("docs").join(name)).unwrap()
}

/// The blocks of a text that are marked to be run, in order.
fn blocks(text: &str) -> Vec<&str> {
    let after = text.split("```sh\n").skip(1);
    after.map(|rest| rest.split_once("```").expect("a block ends").0).collect()
}

/// The page's ports may be taken here.
fn with_free_ports(page: &str) -> String {
    let free = ["18081", "18082"].map(|port| (port, TcpListener::bind("127.0.0.1:0").unwrap()));
    free.iter().fold(page.to_owned(), |page, (port, listener)| {
        page.replace(port, &listener.local_addr().unwrap().port().to_string())
    })
}

/// With the lab's folder first.
fn path() -> OsString {
    let lab = fs::canonicalize(env!("CARGO_BIN_EXE_lab")).unwrap();
    let before = env::var_os("PATH").unwrap_or_default();
    let path = [lab.parent().unwrap().to_owned()].into_iter().chain(env::split_paths(&before));
    env::join_paths(path).unwrap()
}

/// Runs a block, which ends with one of these.
#[track_caller]
fn run(block: &str, folder: &Path, ends: &[i32]) {
    let mut shell = Command::new("bash");
    shell.args(["-euc", block]).current_dir(folder).env("PATH", path());
    shell.env("XDG_CACHE_HOME", folder.join("cache")).env("no_proxy", "127.0.0.1");
    for name in ["BUILD_WORKSPACE_DIRECTORY", "BUILD_WORKING_DIRECTORY", "GITHUB_ACTIONS"] {
        shell.env_remove(name);
    }
    let output = shell.output().expect("bash is one of the tools of every environment");
    let said = [output.stdout, output.stderr].concat();
    let (said, code) = (String::from_utf8_lossy(&said), output.status.code().unwrap_or(-1));
    assert!(ends.contains(&code), "ended with {code}: {said}\n{block}");
}

/// Where there is no zstd, gzip at its fastest stands in for it.
fn with_zstd(block: &str, folder: &Path) -> String {
    let stand_in = folder.join("bin/zstd");
    fs::create_dir(stand_in.parent().unwrap()).unwrap();
    fs::write(&stand_in, "#!/bin/sh\nexec gzip -1 -c numbers.txt\n").unwrap();
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    format!("PATH=$PATH:$PWD/bin\n{block}")
}

/// A checkout with the pictures and the variants of ours, and no experiment yet.
fn checkout() -> TempDir {
    let (ours, dir) = (repository(), tempfile::tempdir().unwrap());
    fs::create_dir(dir.path().join("experiments")).unwrap();
    for folder in ["ledgers", "plots"] {
        symlink(ours.join(folder), dir.path().join(folder)).unwrap();
    }
    dir
}

#[test]
fn the_commands_of_the_tutorial_do_what_it_says() {
    let page = with_free_ports(&page("TUTORIAL.md"));
    let checkout = checkout();
    let [zstd, forty, servers, experiment] = blocks(&page)[..] else { panic!("four: {page}") };
    run(&with_zstd(zstd, checkout.path()), checkout.path(), &[FASTER]);
    run(forty, checkout.path(), &[FASTER, OPEN]);
    run(servers, checkout.path(), &[FASTER]);
    run(experiment, checkout.path(), &[FASTER, SLOWER, OPEN]);
    let report = fs::read_to_string(checkout.path().join("results/mine/report.md")).unwrap();
    // What the page shows of it, but for the numbers.
    let shown = page.split("\n# mine\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for line in ["**Is owned faster", "* Elapsed time against `dashmap`: ", "| against `dashmap` |"]
    {
        assert!(shown.contains(line) && report.contains(line), "{line}: {report}");
    }
}

/// The sections of docs/HOWTO.md, and what their blocks end with: of each the second is faster,
/// unless few rounds are asked for. On a disk in memory no cache is cold.
const SECTIONS: [(&str, &[&[i32]]); 6] = [
    ("Two Python scripts", &[&[FASTER]]),
    ("Two builds", &[&[FASTER]]),
    ("Two servers under one load", &[&[FASTER], &[FASTER]]),
    ("A command that changes its folder", &[&[FASTER]]),
    ("A warm or a cold cache", &[&[FASTER], &[FASTER, SLOWER, OPEN]]),
    ("A long job", &[&[FASTER, OPEN], &[FASTER]]),
];

#[test]
fn the_commands_of_every_how_to_do_what_it_says() {
    let page = with_free_ports(&page("HOWTO.md"));
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), SECTIONS.len());
    for (section, (title, ends)) in sections.iter().zip(SECTIONS) {
        assert!(section.starts_with(&format!("{title}\n")), "{title}: {section}");
        let (folder, blocks) = (tempfile::tempdir().unwrap(), blocks(section));
        assert_eq!(blocks.len(), ends.len(), "{title}");
        for (block, ends) in blocks.iter().zip(ends) {
            run(block, folder.path(), ends);
        }
    }
}
