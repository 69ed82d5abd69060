//! Real programs with a small job each, as two equal sets of files: `a/` and `b/`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// A kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Walks data of a tenth of the last-level cache.
    DataTenth,
    /// Of a quarter.
    DataQuarter,
    /// Of three fifths.
    DataThreeFifths,
    /// Of twice the cache.
    DataTwice,
    /// `git log` in a repository of its own.
    Git,
    /// `node` over a file of JSON.
    Node,
    /// `python3` over a file of JSON.
    Python,
    /// `sqlite3` over a database.
    Sqlite,
    /// `lab import` of results.
    Lab,
    /// A script that is faster where a file says that it ran last.
    StateFile,
    /// A Python program that imports a module with its `__pycache__`.
    Pycache,
}

/// The walking classes: of the last-level cache, in twentieths; bytes of a record; passes.
fn walk(class: Class) -> Option<(u64, u64, u32)> {
    match class {
        Class::DataTenth => Some((2, 64, 2)),
        Class::DataQuarter => Some((5, 64, 1)),
        Class::DataThreeFifths => Some((12, 4096, 2)),
        Class::DataTwice => Some((40, 4096, 1)),
        _ => None,
    }
}

/// Programs that are made or found once.
pub struct Programs {
    folder: PathBuf,
    lab: PathBuf,
    cache_bytes: u64,
}

impl Programs {
    /// Builds what has to be built, in a folder for it.
    pub fn new(folder: PathBuf, lab: PathBuf) -> Result<Self> {
        let [source, walk] = ["walk.c", "walk"].map(|name| folder.join(name));
        fs::write(&source, include_str!("walk.c"))?;
        run(Command::new("cc").args(["-O2", "-o"]).arg(walk).arg(source))
            .context("the C compiler makes the programs that walk data")?;
        Ok(Self { folder, lab, cache_bytes: last_level_cache() })
    }

    /// Makes the two sets in a new folder and gives the command of each. Both are copies of a
    /// third: the page cache holds what was written otherwise than what was copied.
    pub fn make(&self, class: Class, folder: &Path, seed: u64) -> Result<[String; 2]> {
        let made = folder.join("made");
        fs::create_dir_all(&made)?;
        let command = self.make_one(class, &made, seed)?;
        for set in ["a", "b"] {
            copy_all(&made, &folder.join(set))?;
        }
        fs::remove_dir_all(&made)?;
        let of = |name: &str| command.replace("{}", &folder.join(name).display().to_string());
        Ok([of("a"), of("b")])
    }

    /// Makes one set; `{}` in its command is its folder.
    fn make_one(&self, class: Class, folder: &Path, seed: u64) -> Result<String> {
        if let Some((twentieths, record, passes)) = walk(class) {
            fs::copy(self.folder.join("walk"), folder.join("walk"))?;
            cycle(&folder.join("data"), self.cache_bytes * twentieths / 20, record, seed)?;
            return Ok(format!("{{}}/walk {{}}/data {record} {passes}"));
        }
        match class {
            Class::Git => {
                repository(&folder.join("repository"))?;
                program("git", folder)?;
                Ok("{}/git -C {}/repository log --oneline --stat".to_owned())
            }
            Class::Node => {
                numbers(&folder.join("data.json"), seed)?;
                let script = "const n = JSON.parse(require('fs').readFileSync(process.argv[2]));\n\
                              console.log(n.reduce((a, b) => a + b));\n";
                fs::write(folder.join("sum.js"), script)?;
                program("node", folder)?;
                Ok("{}/node {}/sum.js {}/data.json".to_owned())
            }
            Class::Python => {
                numbers(&folder.join("data.json"), seed)?;
                let script = "import json, sys\nprint(sum(json.load(open(sys.argv[1]))))\n";
                fs::write(folder.join("sum.py"), script)?;
                copy_all(Path::new(&python()?), &folder.join("python3"))?;
                Ok("{}/python3 {}/sum.py {}/data.json".to_owned())
            }
            Class::Sqlite => {
                database(&folder.join("data.db"), seed)?;
                program("sqlite3", folder)?;
                let query = "select count(*), sum(n) from t where word glob '*7*'";
                Ok(format!("{{}}/sqlite3 {{}}/data.db \"{query}\""))
            }
            Class::Lab => {
                results(&folder.join("results.json"), seed)?;
                fs::copy(&self.lab, folder.join("lab"))?;
                Ok("{}/lab import {}/results.json".to_owned())
            }
            Class::StateFile => {
                script(&folder.join("run.sh"), STATE)?;
                Ok("{}/run.sh".to_owned())
            }
            Class::Pycache => {
                let names = (0..400).map(|n| format!("def f{n}(x):\n    return x + {n}\n"));
                fs::write(folder.join("functions.py"), names.collect::<String>())?;
                let main = "import functions\nprint(sum(functions.f7(n) for n in range(1000)))\n";
                fs::write(folder.join("main.py"), main)?;
                Ok(format!("{} {{}}/main.py", python()?))
            }
            _ => bail!("a class without a program"),
        }
    }
}

/// The interpreter itself, where what the PATH has is a script that starts it.
fn python() -> Result<String> {
    let path = output(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
    Ok(path.trim().to_owned())
}

/// The last to run is remembered beside both copies, and finds its work lighter.
const STATE: &str = r#"#!/bin/sh
state=${0%/*/*}/last
last=$(cat "$state" 2>/dev/null)
echo "$0" >"$state"
n=4000
[ "$last" = "$0" ] || n=4400
i=0
while [ $i -lt $n ]; do i=$((i + 1)); done
echo done
"#;

/// As the kernel tells; 32 MiB where it does not.
fn last_level_cache() -> u64 {
    let text = |index: u32| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        fs::read_to_string(path).ok()
    };
    let largest = (0..8).filter_map(text).filter_map(|text| kibibytes(text.trim())).max();
    1024 * largest.unwrap_or(32 << 10)
}

/// "32768K".
fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix('K')?.parse().ok()
}

/// Records whose first words are one cycle through all of them: Sattolo (1986), "An algorithm to
/// generate a random cyclic permutation", Information Processing Letters 22(6), pp. 315-317.
fn cycle(path: &Path, bytes: u64, record: u64, seed: u64) -> Result<()> {
    let records = usize::try_from(bytes / record)?;
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut next: Vec<u64> = (0..records as u64).collect();
    for last in (1..records).rev() {
        next.swap(last, rng.random_range(0..last));
    }
    let mut data = vec![0; records * usize::try_from(record)?];
    for (record, next) in data.chunks_exact_mut(usize::try_from(record)?).zip(next) {
        record[..8].copy_from_slice(&next.to_le_bytes());
    }
    fs::write(path, data).with_context(|| path.display().to_string())
}

/// A JSON array of 20,000 numbers.
fn numbers(path: &Path, seed: u64) -> Result<()> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let numbers: Vec<u32> = (0..20_000).map(|_| rng.random_range(0..1_000_000)).collect();
    fs::write(path, serde_json::to_string(&numbers)?)?;
    Ok(())
}

/// A repository of 150 commits.
fn repository(path: &Path) -> Result<()> {
    fs::create_dir_all(path)?;
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=n", "-c", "user.email=e@e", "-c", "gc.auto=0"];
        run(Command::new("git").arg("-C").arg(path).args(identity).args(words))
    };
    git(&["init", "--quiet"])?;
    // One call for all commits.
    let commit = |n: u32| {
        let text = format!("line {n}\n").repeat(n as usize % 40 + 1);
        let message = format!("Commit {n}");
        let time = 1_700_000_000 + n;
        format!(
            "commit refs/heads/main\ncommitter n <e@e> {time} +0000\ndata {}\n{message}\n\
             M 100644 inline file{}\ndata {}\n{text}\n",
            message.len(),
            n % 20,
            text.len()
        )
    };
    let stream: String = (0..150).map(commit).collect();
    let file = path.join("stream");
    fs::write(&file, stream)?;
    let import = Command::new("git")
        .arg("-C")
        .arg(path)
        .args(["fast-import", "--quiet"])
        .stdin(fs::File::open(&file)?)
        .status()?;
    ensure!(import.success(), "git fast-import failed");
    git(&["symbolic-ref", "HEAD", "refs/heads/main"])
}

/// A table of 20,000 rows.
fn database(path: &Path, seed: u64) -> Result<()> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut row =
        || format!("insert into t values ({}, 'w{}');\n", rng.random::<u16>(), rng.random::<u32>());
    let rows: String = (0..20_000).map(|_| row()).collect();
    let script = path.with_extension("sql");
    fs::write(&script, format!("create table t (n integer, word text);\nbegin;\n{rows}commit;\n"))?;
    let made = Command::new("sqlite3").arg(path).stdin(fs::File::open(&script)?).status()?;
    ensure!(made.success(), "sqlite3 failed");
    fs::remove_file(script)?;
    Ok(())
}

/// hyperfine's JSON: 40 commands of 200 runs each.
fn results(path: &Path, seed: u64) -> Result<()> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut result = |n: u32| {
        let times: Vec<f64> = (0..200).map(|_| rng.random_range(0.9..1.1)).collect();
        serde_json::json!({ "command": format!("c{n}"), "times": times })
    };
    let results: Vec<_> = (0..40).map(&mut result).collect();
    fs::write(path, serde_json::json!({ "results": results }).to_string())?;
    Ok(())
}

/// Copies a program of the PATH, the file itself where a link or a launcher leads to it.
fn program(name: &str, folder: &Path) -> Result<()> {
    let path = output(Command::new("sh").args(["-c", &format!("command -v {name}")]))?;
    fs::copy(path.trim(), folder.join(name)).with_context(|| path.trim().to_owned())?;
    Ok(())
}

fn script(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))?;
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let done = command.output().with_context(|| format!("{:?}", command.get_program()))?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("{:?}", command.get_program()))?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8(done.stdout)?)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to).with_context(|| from.display().to_string())?;
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
