//! Numbers of the declared comparisons, linked to the runs that they follow from.
//!
//! A number is the estimate of a variant: it stands in a row that begins with the variant's name.
//! In a table that says "against" its column says which comparison it belongs to; elsewhere the
//! heading above does, which begins with the comparison's number and names its quantity.

use maud::{Markup, html};
use pulldown_cmark::{Event, Tag, TagEnd};

use crate::runs;

/// Where the reader of a page's events is.
#[derive(Debug, Default)]
pub(crate) struct Links<'v> {
    /// The quantity of each comparison, `None` where it is not drawn; and the variants.
    comparisons: Vec<Option<&'v str>>,
    variants: Vec<&'v str>,
    /// The number in the heading above, less one, and whether the heading names its quantity.
    heading: Option<usize>,
    is_named: bool,
    in_heading: bool,
    /// Whether the table's columns are comparisons.
    is_against: bool,
    in_head: bool,
    /// The cell of the row, and the variant that the row begins with.
    cell: usize,
    variant: Option<&'v str>,
    in_body: bool,
}

impl<'v> Links<'v> {
    /// Of a report whose runs are drawn.
    pub(crate) fn of(runs: &'v runs::Runs) -> Self {
        let mut variants: Vec<&str> = runs.runs.iter().map(|run| run.variant.as_str()).collect();
        variants.sort_unstable();
        variants.dedup();
        let drawn = |asked: &'v runs::Asked| {
            let name = asked.quantity.as_str();
            runs.quantities.iter().any(|one| one.name == name).then_some(name)
        };
        Self { comparisons: runs.asked.iter().map(drawn).collect(), variants, ..Self::default() }
    }

    /// What stands instead of this event: an estimate as a link.
    pub(crate) fn linked(&mut self, event: &Event<'_>) -> Option<Markup> {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                (self.in_heading, self.heading, self.is_named) = (true, None, false);
            }
            Event::End(TagEnd::Heading(_)) => self.in_heading = false,
            Event::Text(text) if self.in_heading && self.heading.is_none() => {
                let number = text.split('.').next().and_then(|number| number.parse::<usize>().ok());
                self.heading = number.and_then(|number| number.checked_sub(1));
            }
            Event::Code(name) if self.in_heading => {
                let quantity = self.heading.and_then(|number| *self.comparisons.get(number)?);
                self.is_named |= quantity == Some(&**name);
            }
            Event::Start(Tag::TableHead) => (self.in_head, self.is_against) = (true, false),
            Event::Text(text) if self.in_head => self.is_against |= text.starts_with("against "),
            Event::End(TagEnd::TableHead) => (self.in_head, self.in_body) = (false, true),
            Event::End(TagEnd::Table) => self.in_body = false,
            Event::Start(Tag::TableRow) => (self.cell, self.variant) = (0, None),
            Event::End(TagEnd::TableCell) => self.cell += 1,
            Event::Code(name) if self.in_body && self.cell == 0 => {
                self.variant = self.variants.iter().find(|one| **one == &**name).copied();
            }
            Event::Text(text) if self.in_body && self.cell > 0 && is_estimate(text) => {
                return self.link(text);
            }
            _ => {}
        }
        None
    }

    fn link(&self, text: &str) -> Option<Markup> {
        let comparison = match self.heading {
            _ if self.is_against => self.cell - 1,
            Some(number) if self.is_named && self.cell == 1 => number,
            _ => return None,
        };
        self.comparisons.get(comparison).copied().flatten()?;
        let variant = self.variant?;
        Some(html! {
            a href={ "#" (runs::PLACE) } data-asked=(comparison) data-variant=(variant)
                title="the runs behind it" { (text) }
        })
    }
}

/// A difference: a sign, then a digit.
fn is_estimate(text: &str) -> bool {
    text.strip_prefix(['+', '-', '±'])
        .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
}
