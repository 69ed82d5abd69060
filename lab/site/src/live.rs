//! The pages of `lab serve` that are no reports: the list of records, a sweep that goes on, two
//! sweeps beside each other, and what to choose from.

use crate::{
    Source,
    address::quoted,
    chapter::{self, escaped},
    opening::Opening,
    page::document,
};

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
    let one = |record: &Listed| {
        let source = Source { first: record.first.clone(), ..Source::default() };
        let body = chapter::html(&source, &Opening::of(&record.first).short(), &record.address);
        let (address, shown, facts) =
            (quoted(&record.address), escaped(&record.shown), escaped(&record.facts));
        format!(
            "<section><h2><a href=\"{address}\">{shown}</a></h2>\n<p>{facts}</p>\n{body}\
             </section>\n"
        )
    };
    let sections: String = records.iter().map(one).collect();
    let nothing = match records.is_empty() {
        true => "<p>No record is here yet: <code>lab run EXPERIMENT</code> makes one.</p>\n",
        false => "",
    };
    let body = format!("<h1>Records</h1>\n{}{nothing}{sections}", choose_two(records));
    document("Records", "", &body)
}

/// The form that leads to the page of two records.
fn choose_two(records: &[Listed]) -> String {
    let sweeps: Vec<&Listed> = records.iter().filter(|record| record.is_sweep).collect();
    if sweeps.is_empty() {
        return String::new();
    }
    let option = |record: &&Listed| {
        format!("<option value=\"{}\">{}</option>", quoted(&record.place), escaped(&record.shown))
    };
    let options: String = sweeps.iter().map(option).collect();
    format!(
        "<p><a href=\"/history\">A metric over all sweeps of an experiment</a></p>\n\
         <form action=\"/against\"><label>Compare <select name=\"of\">{options}</select></label> \
         <label>with the earlier <select name=\"with\">{options}</select></label> \
         <button>Compare</button></form>\n"
    )
}

/// A sweep that goes on, on a page that loads itself again.
pub fn going(going: &Going) -> String {
    let Going { planned, rows, .. } = going;
    let fact = |fact: &String| format!("<li>{}</li>\n", escaped(fact));
    let facts: String = going.facts.iter().map(fact).collect();
    let body = format!(
        "<p><a href=\"/\">All records</a></p>\n<h1>{shown}</h1>\n\
         <p><strong>{question}</strong></p>\n\
         <p><progress value=\"{rows}\" max=\"{planned}\" \
         data-reload=\"{REFRESH_S}\">{rows}</progress> \
         {rows} of {planned} planned runs are recorded.</p>\n<ul>\n{facts}</ul>\n\
         <p><a href=\"{so_far}\">What the records say so far</a>: computing it takes time of this \
         machine, which the sweep measures. This page is loaded again every {REFRESH_S} s.</p>\n",
        shown = escaped(&going.shown),
        question = escaped(&going.question),
        so_far = quoted(&going.so_far),
    );
    // A script loads it again; without scripts the browser does.
    let again = format!("<meta http-equiv=\"refresh\" content=\"{REFRESH_S}\">");
    document(&going.shown, &format!("<noscript>{again}</noscript>"), &body)
}

/// Links in a row, with a sentence before them, for the top of a record's page.
pub fn links(sentence: &str, links: &[Link]) -> String {
    let sentence = match sentence.is_empty() {
        true => String::new(),
        false => format!("<p>{}</p>\n", escaped(sentence)),
    };
    let links: Vec<String> = links.iter().map(link).collect();
    format!("{sentence}<p>{}</p>\n", links.join(" · "))
}

fn link(link: &Link) -> String {
    format!("<a href=\"{}\">{}</a>", quoted(&link.address), escaped(&link.text))
}

/// Two sweeps beside each other: what differs besides time, and a table for each declared ratio.
pub fn compared(sides: &[Link; 2], notes: &[String], tables: &str) -> String {
    let notes: String = notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
    let [new, old] = sides.each_ref().map(link);
    let tables = chapter::html(&Source::default(), tables, "");
    let body = format!(
        "<p><a href=\"/\">All records</a></p>\n<h1>What changed</h1>\n\
         <p>{new} against the earlier {old}.</p>\n<ul>\n{notes}</ul>\n{tables}"
    );
    document("What changed", "", &body)
}

/// Links by title, to choose one of.
pub fn choices(title: &str, sentence: &str, groups: &[(String, Vec<Link>)]) -> String {
    let group = |(name, choices): &(String, Vec<Link>)| {
        let links: Vec<String> = choices.iter().map(link).collect();
        format!("<h2>{}</h2>\n<p>{}</p>\n", escaped(name), links.join(" · "))
    };
    let groups: String = groups.iter().map(group).collect();
    let (heading, sentence) = (escaped(title), escaped(sentence));
    let all = "<p><a href=\"/\">All records</a></p>";
    document(title, "", &format!("{all}\n<h1>{heading}</h1>\n<p>{sentence}</p>\n{groups}"))
}

/// Why there is no such page, in one sentence.
pub fn sorry(sentence: &str) -> String {
    let sentence = escaped(sentence);
    let all = "<p><a href=\"/\">All records</a></p>";
    document("No page", "", &format!("{all}\n<h1>No page</h1>\n<p>{sentence}</p>\n"))
}
