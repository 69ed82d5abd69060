//! A page of Markdown with its tables and pictures.

use std::collections::BTreeMap;

use crate::tables::{Entry, Table};
use crate::{Figure, Report};

/// The folder of the chapters.
const DETAILS: &str = "details";

/// From a chapter of `reports/NAME`.
const METHODS: &str = "../../docs/METHODOLOGY.md";

/// The Markdown grows from top to bottom, and every table that stands in it is kept as TSV too.
/// What comes before the first chapter is the first screen; each chapter is a page of its own.
pub struct Page {
    answer: Option<String>,
    /// The text of the first screen, or of the chapter under way.
    pub markdown: String,
    first_screen: Option<String>,
    /// Title and text.
    chapters: Vec<(String, String)>,
    tables: BTreeMap<String, String>,
    /// Names of the chapter's tables that people see nothing of.
    unseen: Vec<String>,
    /// What each of those holds.
    index: Table,
    figures: Vec<Figure>,
    scales: Table,
}

impl Page {
    /// A page with nothing but its title.
    pub fn titled(title: &str) -> Self {
        Self {
            answer: None,
            markdown: format!("# {title}\n\n"),
            first_screen: None,
            chapters: Vec::new(),
            tables: BTreeMap::new(),
            unseen: Vec::new(),
            index: Table::new(&[("table", "table"), ("what it holds", "holds")]),
            figures: Vec::new(),
            scales: Table::new(&[("figure", "figure"), ("time scale", "time_scale")]),
        }
    }

    /// What may be said of the question, as a paragraph.
    pub(crate) fn answer(&mut self, text: String) {
        self.paragraph(&text);
        self.answer = Some(text);
    }

    /// What follows stands in chapters.
    pub(crate) fn end_of_first_screen(&mut self) {
        self.first_screen = Some(std::mem::take(&mut self.markdown));
    }

    /// A chapter begins; on the first screen a heading.
    pub fn heading(&mut self, text: &str) {
        if self.first_screen.is_none() {
            self.markdown.push_str(&format!("## {text}\n\n"));
            return;
        }
        self.end_chapter();
        self.chapters.push((text.to_owned(), String::new()));
    }

    fn end_chapter(&mut self) {
        if !self.unseen.is_empty() {
            let names = std::mem::take(&mut self.unseen).join(", ");
            if !self.markdown.ends_with("\n\n") && !self.markdown.is_empty() {
                self.markdown.push('\n');
            }
            self.paragraph(&format!("More: {names}."));
        }
        let text = std::mem::take(&mut self.markdown);
        match self.chapters.last_mut() {
            Some((_, chapter)) => *chapter = text,
            None => self.markdown = text,
        }
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.markdown.push_str(&format!("{text}\n\n"));
    }

    /// An item of a list.
    pub fn item(&mut self, text: &str) {
        self.markdown.push_str(&format!("* {text}\n"));
    }

    /// Items of a list.
    pub fn items(&mut self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.item(&text));
    }

    /// A table in the text, kept as `name`.tsv; people see few of its rows.
    pub fn table(&mut self, name: &str, table: &Table) {
        self.excerpt(name, table);
        self.data(name, table);
    }

    /// Few rows of a table whose numbers stand in `name`.tsv in another form.
    pub fn excerpt(&mut self, name: &str, table: &Table) {
        let shown = table.short();
        let beyond = shown.left_out;
        let more =
            (beyond > 0).then(|| format!("{beyond} more rows: {}.", link(&format!("{name}.tsv"))));
        self.paragraph(shown.with_note(more).trim_end());
    }

    /// A table in the text whose numbers stand in a TSV of their own.
    pub fn markdown_table(&mut self, table: &Table) {
        self.markdown.push_str(&format!("{}\n", table.markdown()));
    }

    /// A table that few will want to read: kept as TSV alone and named at the chapter's end.
    /// `tables.tsv` says what it holds.
    pub fn beside(&mut self, name: &str, what: &str, table: &Table) {
        let file = format!("{name}.tsv");
        self.unseen.push(link(&file));
        self.index.row(vec![Entry::text(file), Entry::text(what)]);
        self.data(name, table);
    }

    /// A table for machines alone.
    pub fn data(&mut self, name: &str, table: &Table) {
        self.tables.insert(format!("{name}.tsv"), table.tsv());
    }

    /// A picture of `name`.tsv; the time scale of its cells stands in the caption and, through
    /// `figures.tsv`, in the picture.
    pub fn figure(&mut self, name: &str, what: &str, time_scale: &str) {
        self.figure_by((name, &format!("{name}.gp")), what, time_scale);
    }

    /// The same, drawn by a script of another name.
    pub fn figure_by(&mut self, (name, script): (&str, &str), what: &str, scale: &str) {
        let caption = format!("{what} ({scale}).");
        self.scales.row(vec![Entry::text(name), Entry::text(scale)]);
        let file = format!("{name}.svg");
        // The first picture stands on the first screen, and once is enough.
        if self.first_screen.is_none() || !self.figures.is_empty() {
            self.markdown.push_str(&picture(&file, &caption));
        }
        self.figures.push(Figure { file, script: script.to_owned(), caption });
    }

    /// What the page says, once it is complete.
    pub fn report(mut self) -> Report {
        self.end_chapter();
        self.tables.insert("figures.tsv".to_owned(), self.scales.tsv());
        if !self.index.is_empty() {
            self.tables.insert("tables.tsv".to_owned(), self.index.tsv());
        }
        let mut markdown = self.first_screen.take().unwrap_or_else(|| self.markdown.clone());
        if let Some(Figure { file, caption, .. }) = self.figures.first() {
            markdown.push_str(&picture(file, caption));
        }
        if !self.chapters.is_empty() {
            let links =
                self.chapters.iter().map(|(title, _)| format!("[{title}]({})", file(title)));
            let links: Vec<String> = links.collect();
            markdown.push_str(&format!("Details: {}.", links.join(", ")));
            if !self.index.is_empty() {
                markdown.push_str(&format!(" More: {}.", link("tables.tsv")));
            }
            markdown.push('\n');
        }
        let details = self.chapters.iter().map(|(title, text)| (file(title), chapter(title, text)));
        let details = details.collect();
        Report {
            answer: self.answer,
            markdown,
            details,
            tables: self.tables,
            figures: self.figures,
        }
    }
}

/// A table by its file.
fn link(file: &str) -> String {
    format!("[`{file}`]({file})")
}

/// A picture and its caption.
fn picture(file: &str, caption: &str) -> String {
    let name = file.trim_end_matches(".svg");
    format!("![{name}]({file})\n\n*{caption}*\n\n")
}

/// A link to a heading of docs/METHODOLOGY.md, for a chapter of a report.
pub fn method(heading: &str) -> String {
    let letters = heading.chars().filter(|one| one.is_alphanumeric() || *one == ' ');
    let anchor = letters.collect::<String>().to_lowercase().replace(' ', "-");
    // What stands in brackets is no part of the name.
    let name = heading.split(" (").next().unwrap_or(heading);
    format!("[{name}]({METHODS}#{anchor})")
}

/// Where a chapter lies: its title in small letters, with hyphens for what is no letter.
fn file(title: &str) -> String {
    let letters = title.chars().map(|one| if one.is_alphanumeric() { one } else { ' ' });
    let words: String = letters.collect::<String>().to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    format!("{DETAILS}/{}.md", words.join("-"))
}

/// A chapter as a page of its own: links to what lies beside the first screen lead one folder up.
fn chapter(title: &str, text: &str) -> String {
    let mut body = String::new();
    for (turn, part) in text.split("](").enumerate() {
        if turn > 0 {
            body.push_str(if part.starts_with("http") { "](" } else { "](../" });
        }
        body.push_str(part);
    }
    format!("# {title}\n\n[Report](../report.md)\n\n{body}").replace("\n### ", "\n## ")
}
