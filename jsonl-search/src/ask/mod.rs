//! What a person asks: `jsonl-search QUERY [PATH…] [OPTION…]`.

mod options;
mod screen;
mod when;

use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::CommandFactory;
use clap_mangen::Man;

use options::Limit;
pub(crate) use options::Options;

use crate::Prefilter;
use crate::again::Texts;
use crate::kernel::{Plan, Showing};
use crate::merge::Order;
use crate::query::{Case, Expr, Manner, Query, Window, folder};
use crate::render::{Output, Style};

/// Messages that are shown where nobody says how many.
const LIMIT: u32 = 50;

/// What of the messages that match is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Messages,
    /// How many each file has.
    Counts,
    /// Which files have any.
    Files,
    Nothing,
}

/// A question that can be answered.
pub(crate) struct Asked {
    pub(crate) plan: Plan,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) threads: usize,
    /// Whether links to folders are followed.
    pub(crate) follows: bool,
    pub(crate) style: Style,
    pub(crate) shape: Shape,
    /// So many messages before and behind each one.
    pub(crate) around: (usize, usize),
    /// The most rows that somebody has asked for.
    pub(crate) limit: Option<u32>,
    /// Whether nobody has said how many messages are shown.
    pub(crate) is_limited_unasked: bool,
}

impl Asked {
    /// Whether messages are written while they are found: all of them, in the files' order.
    pub(crate) fn is_streamed(&self) -> bool {
        self.shape == Shape::Messages
            && self.plan.order == Order::Path
            && self.plan.limit.is_none()
            && self.around == (0, 0)
            && !self.style.numbers
    }
}

impl Options {
    /// What is asked for in place of a search: completions, or the manual.
    pub(crate) fn page(&self) -> Option<Vec<u8>> {
        let mut page = Vec::new();
        if let Some(shell) = self.completions {
            let mut command = Self::command();
            clap_complete::generate(shell, &mut command, "jsonl-search", &mut page);
        } else if self.man {
            let written = Man::new(Self::command()).render(&mut page);
            written.expect("a vector takes whatever is written");
        } else {
            return None;
        }
        Some(page)
    }

    /// # Errors
    /// A sentence that says what is missing, or what is wrong with the query.
    pub(crate) fn asked(self) -> Result<Asked, String> {
        let (texts, roots) = self.texts_and_roots()?;
        let style = self.style();
        let shape = self.shape();
        let plan = self.plan(&texts, style, shape)?;
        let both = self.context.unwrap_or(0);
        let around = [self.before_context, self.after_context];
        let [before, behind] = around.map(|count| count.unwrap_or(both) as usize);
        let own = || available_parallelism().map_or(1, usize::from);
        Ok(Asked {
            plan,
            roots,
            follows: self.follow,
            threads: self.threads.map_or_else(own, |threads| threads as usize),
            style,
            shape,
            around: (before, behind),
            limit: match self.limit {
                Some(Limit::Most(limit)) => Some(limit),
                _ => None,
            },
            is_limited_unasked: self.limit.is_none(),
        })
    }

    fn texts_and_roots(&self) -> Result<(Vec<String>, Vec<PathBuf>), String> {
        let mut roots = self.paths.clone();
        let first = self.query.clone();
        let mut texts = self.queries.clone();
        if texts.is_empty() {
            let query = first.ok_or("a query is missing; \"\" finds every message")?;
            texts.push(query.into_string().map_err(|_| "the query is no UTF-8")?);
        } else {
            roots.splice(..0, first.map(PathBuf::from));
        }
        if roots.is_empty() {
            roots.push(PathBuf::from("."));
        }
        Ok((texts, roots))
    }

    fn shape(&self) -> Shape {
        match self {
            _ if self.quiet => Shape::Nothing,
            _ if self.count => Shape::Counts,
            _ if self.files_with_matches => Shape::Files,
            _ => Shape::Messages,
        }
    }

    fn style(&self) -> Style {
        let output = if self.json { Output::Json } else { self.output };
        let is_text = output == Output::Text;
        let is_terminal = screen::is_terminal();
        let colours = is_text && self.color.or(screen::has_colours());
        Style {
            output,
            escapes: self.escape.or(is_terminal || colours),
            colours,
            links: is_text && self.hyperlink.or(is_terminal && colours),
            numbers: self.line_number,
        }
    }

    fn manner(&self) -> Manner {
        let case = match self {
            _ if self.ignore_case => Case::Ignored,
            _ if self.case_sensitive => Case::Exact,
            _ if self.smart_case => Case::Smart,
            _ => Case::Own,
        };
        Manner { case, whole_words: self.word_regexp, is_fixed: self.fixed_strings }
    }

    /// How that is searched.
    fn plan(&self, queries: &[String], style: Style, shape: Shape) -> Result<Plan, String> {
        let query = self.query_of(queries)?;
        let prefilter = Prefilter::lenient(&query);
        let mut plan = Plan::new(query);
        plan.prefilter = prefilter;
        plan.scope = self.texts.scope();
        plan.read = self.read;
        plan.order = self.sort;
        plan.limit = match self.limit {
            _ if shape != Shape::Messages => Some(0),
            None => Some(LIMIT as usize),
            Some(Limit::Most(limit)) => Some(limit as usize),
            Some(Limit::All) => None,
        };
        plan.showing = Some(Showing::new(style));
        let mut texts = Texts::default();
        texts.copies_streams = self.reads_again();
        plan.texts = Some(texts);
        plan.is_first_enough = shape == Shape::Nothing;
        Ok(plan)
    }

    /// Whether more of a file is needed than what matches.
    fn reads_again(&self) -> bool {
        let around = [self.context, self.before_context, self.after_context];
        self.line_number || around.iter().flatten().any(|&count| count > 0)
    }

    fn query_of(&self, texts: &[String]) -> Result<Query, String> {
        let manner = self.manner();
        let read =
            |text: &String| Expr::read(text, manner).map_err(|error| error.pointing_at(text));
        let mut any: Vec<Expr> = texts.iter().map(read).collect::<Result<_, _>>()?;
        let expr = if any.len() == 1 { any.remove(0) } else { Expr::Or(any) };
        let expr = if self.invert_match { Expr::Not(Box::new(expr)) } else { expr };
        Ok(Query {
            expr,
            roles: self.role.clone(),
            sessions: self.session.clone(),
            project: self.project.as_deref().map(folder),
            window: Window { after: self.after, before: self.before },
        })
    }
}
