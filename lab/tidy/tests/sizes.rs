//! Nothing grows unseen: `lab/tidy/sizes.tsv` says how large each thing may be.
//!
//! `WRITE_SIZES=1 cargo test -p lab-tidy --test sizes` lowers what has shrunk and adds what is new.
//! What has grown beyond its row is raised by hand, with the reason beside it.

use std::{collections::BTreeMap, env, fs, path::Path, process::Command};

use lab_tidy::{repository::Repository, sizes};

mod program;

const FILE: &str = "lab/tidy/sizes.tsv";
const HEAD: &str = "what\tmost\twhy";
/// Of each size, for everyday work, and at least so much of it.
const SLACK: f64 = 0.02;
const SLACK_LEAST: usize = 2;

#[test]
fn nothing_has_grown_beyond_its_size() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let mut sizes = sizes::of(&ours);
    sizes.insert("commands of lab".to_owned(), commands());
    let rows = read(&ours.read(FILE));
    if env::var_os("WRITE_SIZES").is_some() {
        write(&ours.root().join(FILE), &sizes, &rows);
        return;
    }
    let complaint = |(what, size): (&String, &usize)| match rows.get(what) {
        None => Some(format!("{what} has no row")),
        Some((most, _)) => (size > most).then(|| format!("{what}: {size}, at most {most}")),
    };
    let complaints: Vec<String> = sizes.iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{FILE}: {complaints:#?}\nmake it smaller, or say there why");
}

/// Those that `lab --help` lists, but for clap's `help`.
fn commands() -> usize {
    let help = Command::new(program::lab()).arg("--help").output().expect("lab runs");
    let help = String::from_utf8(help.stdout).expect("help is text");
    let (_, list) = help.split_once("Commands:\n").expect("help lists commands");
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("    ") && !line.starts_with("  help "))
        .count()
}

/// What → the most that it may be, and why it is so much.
fn read(text: &str) -> BTreeMap<String, (usize, String)> {
    let row = |line: &str| {
        let [what, most, why] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{FILE}: `{line}` has not three cells")
        };
        let most = most.parse().unwrap_or_else(|_| panic!("{FILE}: `{most}` is no number"));
        (what.to_owned(), (most, why.to_owned()))
    };
    text.lines().skip(1).map(row).collect()
}

fn write(path: &Path, sizes: &BTreeMap<String, usize>, rows: &BTreeMap<String, (usize, String)>) {
    let row = |(what, size): (&String, &usize)| {
        let slack = ((*size as f64 * SLACK) as usize).max(SLACK_LEAST);
        let (most, why) = rows.get(what).cloned().unwrap_or((usize::MAX, String::new()));
        format!("{what}\t{}\t{why}", most.min(size + slack))
    };
    let lines: Vec<String> = [HEAD.to_owned()].into_iter().chain(sizes.iter().map(row)).collect();
    fs::write(path, lines.join("\n") + "\n").expect(FILE);
}
