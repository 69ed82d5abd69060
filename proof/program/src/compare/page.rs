//! The page that says what the tables hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::replays::{Noise, recordings};
use anyhow::{Context, Result};

use super::trial::Try;

/// The recording whose program takes as long as the planted ones.
const CALM: &str = "30 ms, calm";
/// What was replayed of each recording, the same of all.
const REPLAYS: &str = "replays.tsv";

mod fair;
mod left;
mod runs;

pub(super) use self::runs::parts;

/// A table as its file has it: the columns' names, then the rows.
pub(super) struct Table {
    columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// None where there is no such file yet.
    pub(super) fn read(folder: &Path, name: &str) -> Result<Option<Self>> {
        let path = folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
        Ok(Some(Self { columns: lines.next().unwrap_or_default(), rows: lines.collect() }))
    }

    pub(super) fn cell<'a>(&self, row: &'a [String], name: &str) -> &'a str {
        let place = self.columns.iter().position(|column| column == name);
        place.and_then(|place| row.get(place)).map_or("-", String::as_str)
    }

    /// "60 of 60 targets are met".
    fn targets(&self) -> String {
        let verdicts: Vec<&str> = self.rows.iter().map(|row| self.cell(row, "met")).collect();
        let met = verdicts.iter().filter(|met| **met == "yes").count();
        let asked = verdicts.iter().filter(|met| **met != "-").count();
        format!("{met} of {asked} targets are met")
    }

    /// A sentence for each recording that lacks rows which another one has.
    fn missing(&self) -> String {
        let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
        let mut noises = BTreeSet::new();
        for row in &self.rows {
            let noise = self.cell(row, "noise");
            noises.insert(noise);
            let of_row = counts.entry(kind(self.cell(row, "what"))).or_default();
            *of_row.entry(noise).or_default() += 1;
        }
        let mut text = String::new();
        for noise in noises {
            let here = |counts: &BTreeMap<&str, usize>| counts.get(noise).copied().unwrap_or(0);
            let lacks =
                |counts: &BTreeMap<&str, usize>| counts.values().any(|count| *count > here(counts));
            let lacking = counts.iter().filter(|(_, counts)| lacks(counts));
            let kinds: Vec<&str> = lacking.map(|(kind, _)| kind.as_str()).collect();
            if !kinds.is_empty() {
                let kinds = kinds.join("\"; \"");
                text += &format!("  The recording \"{noise}\" has no row \"{kinds}\".\n");
            }
        }
        text
    }

    /// Some columns as Markdown: the heading that people read and the name of each.
    fn markdown(&self, columns: &[(&str, &str)]) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(columns.iter().map(|(heading, _)| *heading).collect());
        text += &format!("|{}\n", "---|".repeat(columns.len()));
        for row in &self.rows {
            text += &line(columns.iter().map(|(_, name)| self.cell(row, name)).collect());
        }
        text
    }
}

/// What a row is of, without what each recording has its own of: how soon, and the second margin.
fn kind(what: &str) -> String {
    let what = what.split_once(" (").map_or(what, |(before, _)| before);
    let Some((before, margin)) = what.split_once("margin ") else { return what.to_owned() };
    let Some((number, after)) = margin.split_once(" %") else { return what.to_owned() };
    match number.parse::<f64>() {
        Ok(_) => format!("{before}margin …{after}"),
        Err(_) => what.to_owned(),
    }
}

/// Writes `report.md` from the tables of the folder.
pub fn write(folder: &Path, tries: &[Try]) -> Result<()> {
    let mut page = "# How often is `lab compare` wrong, and how soon is it right?\n\n".to_owned();
    if let (Some(same), Some(planted)) =
        (Table::read(folder, "same.tsv")?, Table::read(folder, "planted.tsv")?)
    {
        let copies = Table::read(folder, "copies.tsv")?;
        let of_copies = copies.as_ref().map(left::answer);
        page += &answer(&same, &planted, of_copies.unwrap_or_default());
        page += &format!("\n{}\n", measured(tries));
        rules(folder, &same)?;
        page += "\nOther rules on the same runs: [a program with itself](details/same.md).\n";
        let replays = Table::read(folder, REPLAYS)?;
        let twice = Table::read(folder, "copies-twice.tsv")?;
        let chapter = left::chapter(copies.as_ref(), twice.as_ref(), replays.as_ref());
        write_detail(folder, "left.md", &chapter)?;
        page += &left::short(twice.as_ref());
        page += &work(&planted);
        if let Some(replays) = &replays {
            write_detail(folder, "fair.md", &fair::chapter(replays))?;
            page += &fair::short(replays).unwrap_or_default();
        }
        if let Some(bars) = Table::read(folder, "bars.tsv")? {
            page += &bars_of(folder, &bars)?;
        }
        if let (Some(now), Some(before)) = (replays, Table::read(folder, "replays-before.tsv")?) {
            write_detail(folder, "runs.md", &runs::chapter(&now, &before))?;
            page += "\nRuns until an answer, before and now: [runs](details/runs.md).\n";
        }
    }
    let stored = [
        (REPLAYS, "Comparisons of stored noise", "replays"),
        ("bisects.tsv", "Searches on stored noise", "replays --bisects"),
    ];
    page += "\n## More\n\n";
    if let Some(real) = Table::read(folder, "real.tsv")? {
        page += &real_programs(folder, &real)?;
    }
    for (name, what, command) in stored {
        if let Some(table) = Table::read(folder, name)? {
            page += &format!(
                "* {what}: {} rows, {} ([{name}]({name}), `tools/proof {command}`)\n",
                table.rows.len(),
                table.targets()
            );
            if name == REPLAYS {
                page += &table.missing();
            }
        }
    }
    if let Some(real) = Table::read(folder, "bisects-real.tsv")? {
        let right = real.rows.iter().filter(|row| real.cell(row, "right") == "yes").count();
        page += &format!(
            "* Searches for 3 % in a toy repository of 64 commits: {right} of {} named the right \
             one ([bisects-real.tsv](bisects-real.tsv), `proof compare bisects`)\n",
            real.rows.len()
        );
    }
    page += "* Duets against runs one at a time: [duets-realtime.tsv](duets-realtime.tsv), \
             [duets-busy.tsv](duets-busy.tsv)\n";
    page += "* Every run time: `tries.jsonl.zst`, made by `tools/proof compare run \
             FILE`; `tools/proof compare tables reports/compare` writes these tables.\n";
    let path = folder.join("report.md");
    fs::write(&path, page).with_context(|| path.display().to_string())
}

/// Writes what each rule says of a program and itself.
fn rules(folder: &Path, same: &Table) -> Result<()> {
    let mut page = "# A program with itself\n\n[Report](../report.md)\n\nA program of 5 ms, 300 \
                    pairs: how often each rule says that the two differ, which they do not. \
                    [same.tsv](../same.tsv)\n\n"
        .to_owned();
    page += &by_rule(same);
    write_detail(folder, "same.md", &page)
}

/// Writes what is asked of the cost, and gives the line that leads there.
fn bars_of(folder: &Path, bars: &Table) -> Result<String> {
    let columns = ["bar", "measured", "target", "met"].map(|name| (name, name));
    let page = format!(
        "# What a comparison costs\n\n[Report](../report.md)\n\n`tools/proof compare bars \
         reports/compare` measures this. [bars.tsv](../bars.tsv)\n\n{}",
        bars.markdown(&columns)
    );
    write_detail(folder, "bars.md", &page)?;
    Ok(format!("\n[What a comparison costs](details/bars.md): {}.\n", bars.targets()))
}

/// Writes what was found of real programs, and gives the line that leads there.
fn real_programs(folder: &Path, real: &Table) -> Result<String> {
    let columns = ["of", "candidate", "difference", "outcome", "rounds", "seconds"];
    let columns = columns.map(|name| (name, name)).into_iter();
    let columns: Vec<_> = columns.chain([("bias (%)", "bias_percent")]).collect();
    let page = format!(
        "# Real programs\n\n[Report](../report.md)\n\nWall time against the first of each; \
         rounds in [real/](../real), made by `tools/compare/real`. Bias: what a difference owes to \
         the first's being right after itself more often, by the rounds' own first runs, with a \
         95 % interval; recordings of version 3 and before have it. [real.tsv](../real.tsv)\n\n{}",
        real.markdown(&columns)
    );
    write_detail(folder, "real.md", &page)?;
    let told = real.rows.iter().filter(|row| real.cell(row, "outcome") != "cannot tell").count();
    let all = real.rows.len();
    Ok(format!("* [Real programs](details/real.md): of {all} comparisons {told} could be told\n"))
}

/// Writes a chapter.
fn write_detail(folder: &Path, name: &str, page: &str) -> Result<()> {
    let path = folder.join("details").join(name);
    fs::create_dir_all(folder.join("details")).with_context(|| path.display().to_string())?;
    fs::write(&path, page).with_context(|| path.display().to_string())
}

/// A row for each rule, with its false finds alone and beside a neighbour.
fn by_rule(same: &Table) -> String {
    let mut text =
        "| rule | looks | found | beside a neighbour |\n|---|---|---:|---:|\n".to_owned();
    let is_alone = |row: &&Vec<String>| same.cell(row, "neighbour") == "no";
    let found =
        |row: &[String]| format!("{} of {}", same.cell(row, "found"), same.cell(row, "tries"));
    for row in same.rows.iter().filter(is_alone) {
        let rule =
            |row: &[String]| [same.cell(row, "rule"), same.cell(row, "looks")].map(str::to_owned);
        let beside = same.rows.iter().find(|one| !is_alone(one) && rule(one) == rule(row));
        let beside = beside.map_or("-".to_owned(), |row| found(row));
        let [name, looks] = rule(row);
        text += &format!("| {name} | {looks} | {} | {beside} |\n", found(row));
    }
    text
}

/// The chapter about planted work.
fn work(planted: &Table) -> String {
    let mut text =
        "\n## Work planted in one of two programs\n\nTwo copies of a program of 30 ms, one with \
         more work (from 1 % on the program and a copy): seconds by which half and 80 % of tries \
         found it; *met*: 80 % within the budget. [planted.tsv](planted.tsv)\n\n"
            .to_owned();
    let rows = planted.rows.iter().cloned();
    let (tried, untried): (Vec<_>, Vec<_>) =
        rows.partition(|row| planted.cell(row, "tries") != "0");
    let tried = Table { columns: planted.columns.clone(), rows: tried };
    text += &tried.markdown(&WORK_COLUMNS);
    if !untried.is_empty() {
        let names: Vec<String> = untried.iter().map(|row| place(planted, row)).collect();
        text += &format!("\nNot tried yet: {}.\n", names.join(", "));
    }
    let missed = planted.rows.iter().filter(|row| planted.cell(row, "met") == "no");
    let causes: String = missed.map(|row| format!("* {}\n", cause(planted, row))).collect();
    if causes.is_empty() { text } else { text + "\nWhy targets are missed:\n\n" + &causes }
}

const WORK_COLUMNS: [(&str, &str); 8] = [
    ("neighbour", "neighbour"),
    ("more", "more"),
    ("tries", "tries"),
    ("right", "right"),
    ("wrong", "wrong"),
    ("half by (s)", "half_by_s"),
    ("80 % by (s)", "80_percent_by_s"),
    ("met", "met"),
];

/// "1.0 % beside a neighbour".
fn place(planted: &Table, row: &[String]) -> String {
    let is_beside = planted.cell(row, "neighbour") == "yes";
    let beside = if is_beside { "beside a neighbour" } else { "alone" };
    format!("{} {beside}", planted.cell(row, "more"))
}

/// Of a missed target: the noise it met, beside that of the recording on which replays show what
/// the rule needs, and the time that this noise asks for.
fn cause(planted: &Table, row: &[String]) -> String {
    let cell = |name| planted.cell(row, name);
    if cell("wrong") != "0" {
        return format!(
            "{}: in wrong calls the copy with more work took less time ({} % more, by call).",
            place(planted, row),
            cell("calls_percent")
        );
    }
    let mut text = format!(
        "{}: the machine's noise. Two runs of one program differed by {} %",
        place(planted, row),
        cell("noise_percent")
    );
    let calm = recordings().iter().find(|noise| noise.name == CALM).map(Noise::pair_sd);
    if let (Some(calm), Ok(noise)) = (calm, cell("noise_percent").parse::<f64>()) {
        let times = noise / (100.0 * calm);
        text += &format!(
            ", {times:.1} times as much as in the recording \"{CALM}\" of \
             [replays.tsv](replays.tsv); the rounds that an answer takes grow with the square"
        );
    }
    match cell("80_percent_need_s") {
        "-" => text + ".",
        needed => text + &format!(". 80 % of the tries would have ended within about {needed} s."),
    }
}

fn answer(same: &Table, planted: &Table, of_copies: String) -> String {
    let ours = same.rows.iter().filter(|row| same.cell(row, "target") != "-");
    let count = |name: &str| -> usize {
        ours.clone().filter_map(|row| same.cell(row, name).parse::<usize>().ok()).sum()
    };
    let (found, tries) = (count("found"), count("tries"));
    let mut text = of_copies;
    text += &format!(
        "Of {tries} real comparisons of one file with itself, looked at after each of 300 pairs, \
         {found} ever excluded 0 (1 % is allowed)."
    );
    let calm = planted.rows.iter().filter(|row| planted.cell(row, "neighbour") == "no");
    for row in calm.filter(|row| planted.cell(row, "target") != "-") {
        let cell = |name| planted.cell(row, name);
        let (more, tries, asked) = (cell("more"), cell("tries"), cell("asked"));
        if tries == "0" {
            text += &format!(" {more} more work is not tried yet; {asked} tries are asked.");
            continue;
        }
        let (right, budget) = (cell("right"), cell("budget_s"));
        text +=
            &format!(" {more} more work is found within {budget} s in {right} of {tries} tries");
        text += &if tries == asked { ".".to_owned() } else { format!("; {asked} are asked.") };
    }
    text + "\n"
}

/// The machines, revisions and loads of the tries.
fn measured(tries: &[Try]) -> String {
    let distinct = |of: fn(&Try) -> &str| {
        let mut names: Vec<&str> = tries.iter().map(of).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    };
    let rounds: usize = tries.iter().map(|made| made.wall_ns.len()).sum();
    let loads = |beside: bool| {
        let loads = tries.iter().filter(|made| made.planned.neighbour == beside);
        let loads: Vec<f64> = loads.map(|made| made.load).collect();
        lab_stats::describe::median(&loads).map_or("-".to_owned(), |load| format!("{load:.1}"))
    };
    format!(
        "Machine: {}. Commit: {}. {} tries, {rounds} rounds. Median load when a try began: {}, and \
         {} of tries beside a neighbour that loads each CPU half of the time.",
        distinct(|made| &made.machine),
        distinct(|made| &made.commit),
        tries.len(),
        loads(false),
        loads(true)
    )
}
