//! The pages of `lab serve` that are no reports: the list of records, a sweep that goes on, two
//! sweeps beside each other, and what to choose from.

use maud::{Markup, html};

use crate::{Source, chapter, opening::Opening, page::document};

/// Seconds between two looks at a sweep that goes on: each costs time of the machine that is
/// measured.
const REFRESH_S: u32 = 15;

/// A link to another page of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads: an address that is encoded already.
    pub address: String,
    /// What it says.
    pub text: String,
}

/// A record, as the list shows it.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// The address of its page.
    pub address: String,
    /// How the addresses of comparisons name it.
    pub place: String,
    /// Its folder, for people.
    pub shown: String,
    /// What is known of it: the day, the machine, whether it goes on.
    pub facts: String,
    /// The Markdown of its first screen, or as much of it as there is.
    pub first: String,
    /// Whether it is a sweep, which can be compared with another one.
    pub is_sweep: bool,
}

/// A sweep that goes on.
#[derive(Debug, Clone, Default)]
pub struct Going {
    /// Its folder, for people.
    pub shown: String,
    /// The question.
    pub question: String,
    /// Planned runs.
    pub planned: u64,
    /// Rows of these.
    pub rows: u64,
    /// What else is known, a line each.
    pub facts: Vec<String>,
    /// The address of the report on what is recorded so far.
    pub so_far: String,
}

/// Every record with its question and its answer, in the order given.
pub fn listed(records: &[Listed]) -> String {
    let body = html! {
        h1 { "Records" }
        (choose_two(records))
        @if records.is_empty() {
            p { "No record is here yet: " code { "lab run EXPERIMENT" } " makes one." }
        }
        @for record in records { (entry(record)) }
    };
    document("Records", &html! {}, &body)
}

fn entry(record: &Listed) -> Markup {
    let source = Source { first: record.first.clone(), ..Source::default() };
    html! {
        section {
            h2 { a href=(record.address) { (record.shown) } }
            p { (record.facts) }
            (chapter::html(&source, &Opening::of(&record.first).short(), &record.address))
        }
    }
}

/// The form that leads to the page of two records.
fn choose_two(records: &[Listed]) -> Markup {
    let sweeps: Vec<&Listed> = records.iter().filter(|record| record.is_sweep).collect();
    let [of, with] = two(&sweeps);
    let options = |chosen: usize| {
        html! {
            @for (place, record) in sweeps.iter().enumerate() {
                option value=(record.place) selected[place == chosen] { (record.shown) }
            }
        }
    };
    html! {
        @if !sweeps.is_empty() {
            p { a href="/history" { "A metric over all sweeps of an experiment" } }
        }
        @if sweeps.len() > 1 {
            form action="/against" {
                label { "Compare " select name="of" { (options(of)) } } " "
                label { "with the earlier " select name="with" { (options(with)) } } " "
                button { "Compare" }
            }
        }
    }
}

/// The first sweep that has an earlier one of its experiment behind it, and that one; else the
/// first two.
fn two(sweeps: &[&Listed]) -> [usize; 2] {
    let title = |place: usize| sweeps[place].first.lines().next();
    let mut pairs = (0..sweeps.len()).flat_map(|of| (of + 1..sweeps.len()).map(move |w| [of, w]));
    pairs.find(|[of, with]| title(*of).is_some() && title(*of) == title(*with)).unwrap_or([0, 1])
}

/// A sweep that goes on, on a page that loads itself again.
pub fn going(going: &Going) -> String {
    let Going { shown, question, planned, rows, facts, so_far } = going;
    let body = html! {
        (all_records())
        h1 { (shown) }
        p { strong { (question) } }
        p {
            progress value=(rows) max=(planned) data-reload=(REFRESH_S) { (rows) }
            " " (rows) " of " (planned) " planned runs are recorded."
        }
        ul { @for fact in facts { li { (fact) } } }
        p {
            a href=(so_far) { "What the records say so far" }
            ": computing it takes time of this machine, which the sweep measures. This page is "
            "loaded again every " (REFRESH_S) " s."
        }
    };
    // A script loads it again; without scripts the browser does.
    let again = html! { noscript { meta http-equiv="refresh" content=(REFRESH_S); } };
    document(shown, &again, &body)
}

/// Links in a row, with a sentence before them, for the top of a record's page.
pub fn links(sentence: &str, links: &[Link]) -> Markup {
    html! {
        @if !sentence.is_empty() { p { (sentence) } }
        p { (row(links)) }
    }
}

fn row(links: &[Link]) -> Markup {
    html! {
        @for (place, link) in links.iter().enumerate() {
            @if place > 0 { " · " }
            (one(link))
        }
    }
}

fn one(link: &Link) -> Markup {
    html! { a href=(link.address) { (link.text) } }
}

/// The way back to the list, at the top of a page.
pub(crate) fn all_records() -> Markup {
    html! { p { a href="/" { "All records" } } }
}

/// Two sweeps beside each other: what differs besides time, and a table for each declared ratio.
pub fn compared(sides: &[Link; 2], notes: &[String], tables: &str) -> String {
    let [new, old] = sides.each_ref().map(one);
    let body = html! {
        (all_records())
        h1 { "What changed" }
        p { (new) " against the earlier " (old) "." }
        ul { @for note in notes { li { (note) } } }
        (chapter::html(&Source::default(), tables, ""))
    };
    document("What changed", &html! {}, &body)
}

/// Links by title, to choose one of.
pub fn choices(title: &str, sentence: &str, groups: &[(String, Vec<Link>)]) -> String {
    let body = html! {
        (all_records())
        h1 { (title) }
        p { (sentence) }
        @for (name, choices) in groups { h2 { (name) } p { (row(choices)) } }
    };
    document(title, &html! {}, &body)
}

/// Why there is no such page, in one sentence.
pub fn sorry(sentence: &str) -> String {
    let body = html! { (all_records()) h1 { "No page" } p { (sentence) } };
    document("No page", &html! {}, &body)
}
