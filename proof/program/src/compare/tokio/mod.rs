//! What recorded rounds of Tokio's versions and settings say of what was published about them.
//!
//! `tools/proof tokio` records the rounds; every number of the pages comes from them.

mod claims;
mod page;
mod recording;

use std::{fs, path::Path};

use anyhow::{Context, Result, anyhow};

use self::{
    claims::{CLAIMS, Judged},
    recording::Recording,
};

/// One kind of work, in the file NAME.jsonl.zst.
struct Workload {
    name: &'static str,
    /// What its programs do.
    does: &'static str,
}

const WORKLOADS: [Workload; 12] = [
    of("chain", "A token goes round a ring of 100 tasks: each wakes the next and waits."),
    of("messages", "Ten tasks send 64 bytes at a time to one, which forwards them to another."),
    of("spawn", "One task starts 5,000 that end at once, and waits for each."),
    of("beside", "A task wakes another and blocks its worker for 1 ms; the other does so too."),
    of("handlers", "Every 0.5 ms a task of some microseconds, as tokio#8065 has it."),
    of("timers", "64 tasks set a timer and cancel it at once, again and again."),
    of("mutex", "Eight tasks hand a lock to each other and wait while they hold it."),
    of("crowd", "100 tasks give up their turn again and again, while messages pass."),
    of("read-64k", "`fs::read` of 64 KiB from the page cache, one after the other."),
    of("read-1024k", "The same of 1 MiB."),
    of("read-16384k", "The same of 16 MiB."),
    of("read-64k-current-thread", "64 KiB on the current-thread runtime."),
];

const fn of(name: &'static str, does: &'static str) -> Workload {
    Workload { name, does }
}

/// All that was recorded.
struct Record {
    /// In the order of [`WORKLOADS`].
    recordings: Vec<Recording>,
    /// A line about the machine and the commit.
    machine: String,
    /// Processors that the programs could use.
    processors: u32,
}

impl Record {
    fn read(folder: &Path) -> Result<Self> {
        let measured = folder.join("measured.tsv");
        let text = fs::read_to_string(&measured).with_context(|| measured.display().to_string())?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
            line.ok_or_else(|| anyhow!("{}: there is no {name}", measured.display()))
        };
        let [machine, processors, kernel] = ["machine", "processors", "kernel"].map(value);
        let [commit, load] = ["commit", "load"].map(value);
        let processors = processors?;
        let machine = format!(
            "Machine: {}, {processors} processors, Linux {}. Commit: {}. Load before: {}.",
            machine?, kernel?, commit?, load?
        );
        let read =
            |one: &Workload| Recording::read(&folder.join(one.name.to_owned() + ".jsonl.zst"));
        Ok(Self {
            recordings: WORKLOADS.iter().map(read).collect::<Result<_>>()?,
            machine,
            processors: processors.parse().context("processors")?,
        })
    }

    fn of(&self, workload: &str) -> &Recording {
        let place = WORKLOADS.iter().position(|one| one.name == workload);
        &self.recordings[place.expect("a claim names a workload")]
    }
}

/// Writes the tables and pages beside the rounds of `folder`.
pub(super) fn write(folder: &Path) -> Result<()> {
    let record = Record::read(folder)?;
    let judged = CLAIMS.iter().map(|claim| claim.judge(&record)).collect::<Result<Vec<_>>>()?;
    fs::create_dir_all(folder.join("details"))?;
    let files = [
        ("claims.tsv", claims_table(&judged)),
        ("details/workloads.md", page::workloads(&record)?),
        ("report.md", page::first(&record, &judged)?),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn claims_table(judged: &[Judged]) -> String {
    let mut text = "statement\tsource\tworkload\tmetric\treference\tcandidate\tsaid\there\t\
                    processors\toutcome\n"
        .to_owned();
    for Judged { claim, estimate, answer } in judged {
        text += &[
            claim.statement,
            claim.source,
            claim.workload,
            claim.metric,
            claim.reference,
            claim.candidate,
            &claim.said.to_string(),
            &page::with_interval(estimate.as_ref()),
            &claim.processors.to_string(),
            &answer.to_string(),
        ]
        .join("\t");
        text += "\n";
    }
    text
}
