//! What the tries show, as tables: how often something false was found, and how soon what was
//! planted.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use lab_compare::{
    Settings,
    replay::rivals::{self, Rule},
};
use lab_stats::{outcome::Outcome, sequence::Sequence};

use crate::{page, plan::Kind, real, store, trial::Try};

/// The share of tries that have to find what was planted, and the differences it is asked of, in
/// thousandths.
const FOUND_SHARE: f64 = 0.8;
const ASKED: [u32; 2] = [3, 10];

/// Writes the tables beside the tries, and the page about them.
pub fn write(folder: &Path) -> Result<()> {
    let packed = folder.join("tries.jsonl.zst");
    let file = if packed.exists() { packed } else { folder.join("tries.jsonl") };
    let tries = store::read(&file)?;
    ensure!(!tries.is_empty(), "{} holds no try", file.display());
    let mut tables = vec![("same.tsv", same(&tries)), ("planted.tsv", planted(&tries))];
    tables.extend(real::table(folder)?.map(|table| ("real.tsv", table)));
    for (name, table) in tables {
        let path = folder.join(name);
        fs::write(&path, table).with_context(|| path.display().to_string())?;
    }
    page::write(folder, &tries)
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
                beside(neighbour)
            ));
        };
        let count = |hit: &dyn Fn(&Pairs) -> bool| all.iter().filter(|pairs| hit(pairs)).count();
        let alpha = Settings::default().alpha;
        let found = count(&|pairs| ever_excludes_0(pairs, alpha));
        let tolerance = 2.0 * (alpha * (1.0 - alpha) / all.len() as f64).sqrt();
        let verdict = format!("at most {alpha}\t{}", yes(share(found) <= alpha + tolerance));
        row("this sequence excludes 0", "after each pair", found, &verdict);
        for (name, rule) in rivals::PEEKED {
            row(name, "after each pair", count(&|pairs| rivals::ever(pairs, rule)), "-\t-");
        }
        for (name, rule) in rivals::ONCE {
            let rule: Rule = rule;
            row(name, "at the end", count(&|pairs| rule(pairs)), "-\t-");
        }
    }
    lines.join("\n") + "\n"
}

/// How often, and how soon, more work is found, and how often something false is said.
pub fn planted(tries: &[Try]) -> String {
    let columns = "neighbour\tmore\ttries\tright\twrong\tright_share\tbudget_s\thalf_by_s\t\
                   80_percent_by_s\ttarget\tmet";
    let mut lines = vec![columns.to_owned()];
    for neighbour in [false, true] {
        for more in [3, 10, 20, 50] {
            let of = tries.iter().filter(|made| made.planned.kind == Kind::Planted);
            let of = of.filter(|made| made.planned.neighbour == neighbour);
            let all: Vec<&Try> = of.filter(|made| made.planned.more_permille == more).collect();
            lines.extend(planted_row(&all, neighbour, more));
        }
    }
    lines.join("\n") + "\n"
}

fn planted_row(all: &[&Try], neighbour: bool, more: u32) -> Option<String> {
    let budget = all.first()?.settings.budget_s;
    let outcome = |made: &Try| made.comparison().state().candidates[0].verdict.outcome;
    let ended: Vec<(Outcome, f64)> =
        all.iter().map(|made| (outcome(made), made.elapsed_s)).collect();
    let found = ended.iter().filter(|(outcome, _)| *outcome == Outcome::Slower);
    let mut seconds: Vec<f64> = found.map(|(_, seconds)| *seconds).collect();
    seconds.sort_unstable_by(f64::total_cmp);
    let is_wrong = |outcome| matches!(outcome, Outcome::Faster | Outcome::Equivalent);
    let wrong = ended.iter().filter(|(outcome, _)| is_wrong(*outcome)).count();
    let (right, of) = (seconds.len(), all.len());
    let share = right as f64 / of as f64;
    let by = |part: f64| {
        let place = (part * of as f64).ceil() as usize;
        seconds.get(place.saturating_sub(1)).map_or("-".to_owned(), |s| format!("{s:.1}"))
    };
    let verdict = match ASKED.contains(&more) {
        true => format!("at least {FOUND_SHARE} within {budget} s\t{}", yes(share >= FOUND_SHARE)),
        false => "-\t-".to_owned(),
    };
    Some(format!(
        "{}\t{:.1} %\t{of}\t{right}\t{wrong}\t{share:.3}\t{budget}\t{}\t{}\t{verdict}",
        beside(neighbour),
        f64::from(more) / 10.0,
        by(0.5),
        by(FOUND_SHARE)
    ))
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

fn beside(neighbour: bool) -> &'static str {
    if neighbour { "yes" } else { "no" }
}

fn yes(met: bool) -> &'static str {
    if met { "yes" } else { "no" }
}
