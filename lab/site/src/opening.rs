//! The first screen of a report in its parts: what is asked, what the answer is, and where and when
//! it was measured.

/// Bullets that stand for an answer where there is no sentence.
const BULLETS_MAX: usize = 3;
/// Digits of a commit that people need.
const COMMIT_DIGITS: usize = 12;

/// `report.md` in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening<'m> {
    /// The heading.
    pub(crate) title: &'m str,
    /// The bold line below it; the heading where there is none.
    pub(crate) question: &'m str,
    /// The paragraph that follows, where one does.
    pub(crate) lead: Option<&'m str>,
    /// The paragraph that names machine and commit.
    pub(crate) facts: Option<String>,
    /// What else there is before the list of details.
    pub(crate) rest: Vec<&'m str>,
}

impl<'m> Opening<'m> {
    pub(crate) fn of(markdown: &'m str) -> Self {
        let mut opening = Self::default();
        let blocks = markdown.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
        let mut is_first = true;
        for block in blocks.take_while(|block| !block.starts_with("Details: ")) {
            if opening.title.is_empty() && block.starts_with("# ") {
                opening.title = block.trim_start_matches("# ");
            } else if opening.question.is_empty() && is_first && is_question(block) {
                opening.question = block.trim_matches('*');
            } else if opening.facts.is_none() && is_facts(block) {
                opening.facts = Some(with_short_commits(block));
            } else if is_first && is_text(block) {
                opening.lead = Some(block);
                is_first = false;
            } else {
                opening.rest.push(block);
                is_first = false;
            }
        }
        if opening.question.is_empty() {
            opening.question = opening.title;
        }
        opening
    }

    /// The answer: the sentence, or the first bullets.
    pub(crate) fn answer(&self) -> String {
        let bullets = || {
            let list = self.rest.first().filter(|block| block.starts_with("* "));
            let lines = list.into_iter().flat_map(|list| list.lines()).take(BULLETS_MAX);
            lines.collect::<Vec<_>>().join("\n")
        };
        self.lead.map_or_else(bullets, str::to_owned)
    }

    /// Question and answer, for a list of records.
    pub(crate) fn short(&self) -> String {
        match self.question.is_empty() {
            true => self.answer(),
            false => format!("**{}**\n\n{}", self.question, self.answer()),
        }
    }
}

fn is_question(block: &str) -> bool {
    block.starts_with("**") && block.ends_with("**") && !block.contains('\n')
}

fn is_facts(block: &str) -> bool {
    is_text(block) && block.contains("CPU") && block.to_lowercase().contains("commit")
}

/// Whether a block is a paragraph of plain text: no heading, list, table, picture or caption.
fn is_text(block: &str) -> bool {
    let is_caption = block.starts_with('*') && !block.starts_with("**");
    !is_caption && !["#", "- ", "|", "![", "```"].iter().any(|start| block.starts_with(start))
}

/// The text with as much of each commit as people need.
fn with_short_commits(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let short = |word: &str| match word.trim_end_matches(['.', ',']) {
        commit if commit.len() == 40 && commit.chars().all(is_hex) => {
            format!("{}{}", &commit[..COMMIT_DIGITS], &word[commit.len()..])
        }
        _ => word.to_owned(),
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_its_sentence_and_its_machine() {
        let first = "# adding\n\n**Which?**\n\n`a` wins.\n\n* One.\n* Two.\n\n| a |\n| --- |\n\n\
                     EPYC (2 CPUs), commit 0123.\n\nDetails: [Bars](details/bars.md).\n";
        let opening = Opening::of(first);
        assert_eq!((opening.title, opening.question), ("adding", "Which?"));
        assert_eq!(opening.answer(), "`a` wins.");
        assert_eq!(opening.facts.as_deref(), Some("EPYC (2 CPUs), commit 0123."));
        assert_eq!(opening.rest, ["* One.\n* Two.", "| a |\n| --- |"]);
    }

    #[test]
    fn bullets_answer_where_no_sentence_does() {
        let opening = Opening::of("# Which?\n\n* 1\n* 2\n* 3\n* 4\n\nMore.\n");
        assert_eq!((opening.question, opening.lead), ("Which?", None));
        assert_eq!(opening.answer(), "* 1\n* 2\n* 3");
        assert_eq!(opening.short(), "**Which?**\n\n* 1\n* 2\n* 3");
    }

    #[test]
    fn the_machine_is_no_answer_and_its_commits_are_short() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let first = format!("# Which?\n\nOn 2 CPUs. Commit: {commit}, {commit}.\n\n## Part\n");
        let opening = Opening::of(&first);
        let short = "On 2 CPUs. Commit: 0123456789ab, 0123456789ab.";
        assert_eq!((opening.lead, opening.facts.as_deref()), (None, Some(short)));
        assert_eq!(opening.answer(), "");
    }
}
