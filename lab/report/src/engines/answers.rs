//! The first lines: what was asked, answered by numbers, each with its rounds and interval.

use super::ablation::{Setting, reading};
use super::bars::Bar;
use super::crossover::Win;
use super::statements::Judgement;
use super::sweep::Sweep;
use crate::effect::Effect;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

/// What the answers are drawn from.
pub(super) struct Found<'f, 'a> {
    pub(super) statements: &'f [Judgement],
    pub(super) bars: &'f [Bar<'a>],
    pub(super) wins: &'f [Win<'a>],
    pub(super) settings: &'f [Setting<'a>],
}

/// One question and what its answer rests on.
struct Answer {
    question: String,
    answer: String,
    /// A ratio.
    effect: Option<Effect>,
}

pub(super) fn write(sweep: &Sweep, found: &Found, page: &mut Page) {
    let mut answers = vec![fastest(sweep, found.wins), spread(sweep, found.wins)];
    answers.extend(found.statements.iter().map(published));
    answers.extend(found.bars.iter().map(bar));
    answers.push(map(found.wins));
    answers.extend(strongest(found.settings));
    let mut table = Table::new(&[
        ("question", "question"),
        ("answer", "answer"),
        ("n (rounds)", "n"),
        ("interval", "interval"),
        ("detectable", "detectable"),
    ]);
    for one in answers {
        let effect = one.effect.as_ref();
        let interval = effect.and_then(|effect| effect.interval).map(|i| {
            let (low, high) = (show(i.low.exp(), Unit::Times), show(i.high.exp(), Unit::Times));
            format!("{low} … {high}")
        });
        table.row(vec![
            Cell::text(&one.question),
            Cell::text(&one.answer),
            Cell::value(effect.map(|effect| effect.n() as f64), Unit::Count),
            Cell::text(interval.unwrap_or_else(|| "none".to_owned())),
            super::detectable(sweep, effect),
        ]);
    }
    if let Some(alarm) = sweep.alarm() {
        page.paragraph(&format!(
            "**{alarm}**: this lab told two equal programs apart, so no time below is ground for a \
             choice."
        ));
    }
    page.table("answers", &table);
    page.paragraph(
        "Ratios of whole processes' times, or of throughputs where it says \"reach\", paired by \
         round; \"detectable\" is the true difference that these rounds would have found with a \
         power of 80 %. What was declared before anything ran, with Holm's correction, stands \
         under *Verdicts*; this table answers in the cells that it names.",
    );
}

fn unanswered(question: String, what: &str) -> Answer {
    Answer { question, answer: format!("Cannot be said: {what}."), effect: None }
}

/// The published table's cell among the wins.
fn published_win<'w, 'a>(sweep: &Sweep, wins: &'w [Win<'a>]) -> Option<&'w Win<'a>> {
    let cell = sweep.published()?;
    wins.iter().find(|win| win.cell == cell)
}

fn fastest(sweep: &Sweep, wins: &[Win]) -> Answer {
    let Some(win) = published_win(sweep, wins) else {
        let question = "Which engine is fastest in the published table's cell?".to_owned();
        return unanswered(question, "no two engines ran there");
    };
    Answer {
        question: format!("Which engine is fastest ({})?", sweep.label(&win.cell)),
        answer: format!(
            "{}; the runner-up, `{}`, takes {} of `{}`'s time",
            win.label(),
            win.runner_up,
            win.advantage.times(),
            win.best
        ),
        effect: Some(win.advantage.clone()),
    }
}

/// How much a choice of engine can matter, beside how far two equal programs differ.
fn spread(sweep: &Sweep, wins: &[Win]) -> Answer {
    let question = "How much does the choice of engine matter there?".to_owned();
    let win = published_win(sweep, wins).and_then(|win| {
        let concurrent = sweep.engines().into_iter().filter(|e| Some(*e) != sweep.floor());
        Win::of(sweep, &concurrent.collect::<Vec<_>>(), &win.cell)
    });
    let Some(win) = win else { return unanswered(question, "no two engines ran there") };
    let twins = sweep.study.frame.twins();
    let twin = twins.iter().find_map(|(twin, original)| {
        let time = |variant: &str| sweep.wall(variant, &win.cell);
        Effect::log_ratio(&time(twin), &time(original)).map(|effect| (*twin, effect))
    });
    let noise = twin.map_or("no twin ran there".to_owned(), |(twin, effect)| {
        format!("two equal programs (`{twin}`) differ by {}", effect.times())
    });
    Answer {
        question,
        answer: format!(
            "The slowest with threads, `{}`, takes {} of `{}`'s time; {noise}",
            win.slowest,
            win.spread.times(),
            win.best
        ),
        effect: Some(win.spread),
    }
}

fn published(judged: &Judgement) -> Answer {
    Answer {
        question: format!("Published: {}?", judged.statement),
        answer: judged.verdict.clone(),
        effect: judged.effect.clone(),
    }
}

fn bar(bar: &Bar) -> Answer {
    let question = format!("Does the best engine reach its target over `{}`?", bar.peer);
    let measured = bar.measured.as_ref().map(Effect::times);
    let answer = match measured {
        None => "Not measured".to_owned(),
        Some(measured) => {
            format!("{}: {} reaches {measured}, target {}", bar.met, bar.engine(), bar.target())
        }
    };
    Answer { question, answer, effect: bar.measured.clone() }
}

/// Clear wins by engine over the whole map.
fn map(wins: &[Win]) -> Answer {
    let question = "Who wins over corpora, queries and threads?".to_owned();
    if wins.is_empty() {
        return unanswered(question, "no cell was run by two engines");
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for win in wins.iter().filter(|win| win.is_clear()) {
        match counts.iter_mut().find(|(engine, _)| *engine == win.best) {
            Some((_, count)) => *count += 1,
            None => counts.push((win.best, 1)),
        }
    }
    let clear: usize = counts.iter().map(|(_, count)| count).sum();
    counts.sort_by_key(|(engine, count)| (usize::MAX - count, *engine));
    let listed: Vec<String> =
        counts.iter().map(|(engine, count)| format!("`{engine}` {count}")).collect();
    let listed = if listed.is_empty() { "none is clear".to_owned() } else { listed.join(", ") };
    let answer =
        format!("Of {} cells {clear} have a clear winner: {listed}; the others tie", wins.len());
    Answer { question, answer, effect: None }
}

/// The settings that gain and cost most.
fn strongest(settings: &[Setting]) -> Vec<Answer> {
    let judged = |word: &'static str| {
        settings.iter().filter(move |one| reading(one.pooled.as_ref()) == word)
    };
    let size = |one: &&Setting| one.pooled.as_ref().map_or(0.0, |effect| effect.estimate);
    let gain = judged("faster").min_by(|a, b| size(a).total_cmp(&size(b)));
    let cost = judged("slower").max_by(|a, b| size(a).total_cmp(&size(b)));
    let count = settings.len();
    let asked = [
        (format!("Which of {count} settings gains most (exploratory)?"), gain),
        (format!("Which of {count} settings costs most (exploratory)?"), cost),
    ];
    let answer = |(question, setting): (String, Option<&Setting>)| {
        let Some(one) = setting else {
            return unanswered(question, "none differs by more than its interval");
        };
        let ratio = one.pooled.as_ref().map_or(String::new(), Effect::times);
        Answer {
            question,
            answer: format!(
                "{} {} against {}, `{}`: {ratio} of the time",
                one.factor, one.level, one.against, one.engine
            ),
            effect: one.pooled.clone(),
        }
    };
    asked.into_iter().map(answer).collect()
}
