//! All pages of the repository together stay short enough to be read.

use lab_tidy::repository::Repository;

/// What all Markdown may have. Bars and dashes of tables are no words. It was 40,000 until the
/// pages had to say what rounds of before mean for verdicts that somebody has, and what of a
/// stranger's record is told and what is not; 42,000 until a card gave four reports; 45,000 until
/// `lab compare` said what it costs, beside what other rules find and how often they err; 46,600
/// until a how-to for each kind of what is compared was asked for; 48,600 until runtimes were taken
/// to their limits and the simulator spoke two APIs; 52,500 until each family's page had the JSON
/// that its programs read and write; 58,500 until load generators and Tokio's versions had reports;
/// 62,500 until dropped replies, replayed traces, what a token takes and sessions had theirs.
const WORDS_MAX: usize = 66_800;

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[test]
fn all_pages_together_are_short() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let pages = ours.files().into_iter().filter(|path| path.ends_with(".md"));
    // What tests audit is input.
    let pages = pages.filter(|path| !path.starts_with("lab/audit/tests/"));
    let counts: Vec<usize> = pages.map(|path| words(&ours.read(&path))).collect();
    let all: usize = counts.iter().sum();
    assert!(counts.len() > 100 && all <= WORDS_MAX, "{all} words; {WORDS_MAX} at most");
}

#[test]
fn bars_are_no_words() {
    assert_eq!(words("| `a b` | -1.5 % |\n|---|---:|\n"), 3);
}
