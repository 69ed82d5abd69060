//! What the tries show, as tables: here how often something false was found.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use lab_compare::Settings;
use lab_stats::sequence::Sequence;

use super::{copies, page, plan::Kind, planted, real, store, trial::Try};
use crate::replays::rivals::{self, Rule};

/// Writes the tables beside the tries, and the page about them.
pub fn write(folder: &Path) -> Result<()> {
    let tries: Vec<Try> = store::read(&packed_or_not(folder, "tries"))?;
    ensure!(!tries.is_empty(), "{} holds no try", folder.display());
    let mut tables = vec![("same.tsv", same(&tries)), ("planted.tsv", planted::table(&tries))];
    let copied: Vec<copies::Copied> = store::read(&packed_or_not(folder, "copies"))?;
    if !copied.is_empty() {
        tables.push(("copies.tsv", copies::table(&copied)));
    }
    let twice: Vec<copies::Copied> = store::read(&packed_or_not(folder, "copies-twice"))?;
    if !twice.is_empty() {
        tables.push(("copies-twice.tsv", copies::again(&twice)));
    }
    tables.extend(real::table(folder)?.map(|table| ("real.tsv", table)));
    for (name, table) in tables {
        let path = folder.join(name);
        fs::write(&path, table).with_context(|| path.display().to_string())?;
    }
    page::write(folder, &tries)
}

fn packed_or_not(folder: &Path, name: &str) -> PathBuf {
    let packed = folder.join(format!("{name}.jsonl.zst"));
    if packed.exists() { packed } else { folder.join(format!("{name}.jsonl")) }
}

/// How often each rule calls a program different from itself.
pub fn same(tries: &[Try]) -> String {
    let mut lines = vec!["neighbour\trule\tlooks\tfound\ttries\tshare\ttarget\tmet".to_owned()];
    for neighbour in [false, true] {
        let of = tries.iter().filter(|made| made.planned.kind == Kind::Same);
        let of = of.filter(|made| made.planned.neighbour == neighbour);
        let all: Vec<Pairs> = of.map(pairs).collect();
        if all.is_empty() {
            continue;
        }
        let share = |found: usize| found as f64 / all.len() as f64;
        let mut row = |rule: &str, looks: &str, found: usize, verdict: &str| {
            let (tries, share) = (all.len(), share(found));
            lines.push(format!(
                "{}\t{rule}\t{looks}\t{found}\t{tries}\t{share:.4}\t{verdict}",
                yes_or_no(neighbour)
            ));
        };
        let count = |hit: &dyn Fn(&Pairs) -> bool| all.iter().filter(|pairs| hit(pairs)).count();
        let alpha = Settings::default().alpha;
        let found = count(&|pairs| ever_excludes_0(pairs, alpha));
        let tolerance = 2.0 * (alpha * (1.0 - alpha) / all.len() as f64).sqrt();
        let verdict = format!("at most {alpha}\t{}", yes_or_no(share(found) <= alpha + tolerance));
        row("this sequence excludes 0", "after each pair", found, &verdict);
        for asked in rivals::PEEKED.into_iter().flat_map(Rule::asked) {
            let found = count(&|pairs| asked.ever(pairs));
            row(&asked.to_string(), "after each pair", found, "-\t-");
        }
        for asked in rivals::ONCE.into_iter().flat_map(Rule::asked) {
            row(&asked.to_string(), "at the end", count(&|pairs| asked.differs(pairs)), "-\t-");
        }
    }
    lines.join("\n") + "\n"
}

type Pairs = Vec<[f64; 2]>;

fn pairs(made: &Try) -> Pairs {
    made.wall_ns.iter().map(|ns| [ns[0] as f64, ns[1] as f64]).collect()
}

fn ever_excludes_0(pairs: &Pairs, alpha: f64) -> bool {
    let mut sequence = Sequence::new(alpha, &[0.0]).expect("the default level is one");
    pairs.iter().any(|[a, b]| {
        sequence.push((b / a).ln());
        sequence.excludes(0.0)
    })
}

pub fn yes_or_no(it_is: bool) -> &'static str {
    if it_is { "yes" } else { "no" }
}
