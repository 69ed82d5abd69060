//! The first lines: three questions, answered by numbers that were computed, each with its records.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::Contrast;
use lab_stats::correlation::{pearson, spearman};
use lab_stats::describe::median;
use lab_stats::verdict::Verdict;

use super::Page;
use super::study::is_of_tr115;
use crate::compare::{Line, takes_part};
use crate::contrast::Contrasted;
use crate::frame::{UNSCALED_PPM, configuration, name, time_scale_label, time_scale_ppm};
use crate::measure::{Measured, Unit};
use crate::metrics::tokens_per_agent;
use crate::study::{Judged, Study, is_unpaired};
use crate::tables::{show, show_percent};

/// The published variant whose figure was 50 %, and the code that was really published.
const SUSPECT: &str = "async_std";
const SUSPECT_AS_PUBLISHED: &str = "async_std_as_published";
/// Groups of equal work that are named as the worst.
const WORST_SHOWN: usize = 3;

pub(super) fn write(study: &Study, contrasted: &[Contrasted], page: &mut Page) {
    if !contrasted.is_empty() {
        page.paragraph(&format!(
            "**One server for all agents, or one each?** {}",
            one_or_each(contrasted)
        ));
    }
    let described =
        study.measured_variants().into_iter().filter(|name| study.is_as_described(name));
    if described.count() < 2 && !contrasted.is_empty() {
        return;
    }
    page.paragraph(&format!("**Does the runtime matter for two agents?** {}", matters(study)));
    page.paragraph(&format!("**What made async-std 50 %?** {}", fifty_percent(study)));
    page.paragraph(&format!("**What made the \"pathological\" runs?** {}", pathological(study)));
}

/// What each declared contrast says of it.
fn one_or_each(contrasted: &[Contrasted]) -> String {
    let sentence = |one: &Contrasted| {
        let Contrast { name, variant, metric, factor, level, reference, .. } = one.contrast;
        let counted = format!("`{factor}` {level} against {reference}");
        let Some(shift) = one.line.shift else {
            return format!("`{name}`: no pairs of {counted}.");
        };
        let interval = shift.interval.map_or(String::new(), |interval| {
            format!("{} … {}, ", one.show(interval.low), one.show(interval.high))
        });
        let verdict =
            one.line.verdict.as_ref().map_or("no verdict".to_owned(), ToString::to_string);
        format!(
            "`{metric}` of `{variant}`, {counted}: {} ({interval}n = {}), {verdict} (`{name}`).",
            one.show(shift.estimate),
            one.line.n,
        )
    };
    contrasted.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

fn matters(study: &Study) -> String {
    let Some(primary) = study.judged.first() else {
        return "These records carry no declared comparison (a smoke test has none), so they cannot \
                say."
            .to_owned();
    };
    let described: Vec<&Line> =
        primary.lines.iter().filter(|line| study.is_as_described(&line.variant)).collect();
    let tested: Vec<&Line> =
        described.iter().copied().filter(|line| line.verdict.is_some()).collect();
    let reference = &study.frame.run_file.analysis.reference;
    if tested.is_empty() {
        return format!(
            "It cannot be answered from these records: no variant has six pairs with \
             `{reference}` on `{}`.",
            primary.comparison.metric
        );
    }
    let counted = |word: &str| {
        tested
            .iter()
            .filter(|line| primary.with_verdict(word).iter().any(|l| l.variant == line.variant))
            .count()
    };
    let differs = counted("faster") + counted("slower");
    let opening = match (differs, counted("equivalent")) {
        (0, equal) if equal == tested.len() => {
            format!("No: all differ by less than {}", primary.show_margin().trim_start_matches('±'))
        }
        (0, _) => "No difference was shown, and not all can be called equal".to_owned(),
        (some, _) => format!("For {some} of {} variants, yes", tested.len()),
    };
    let (widest, difference) = largest(&tested);
    let counted_in = if is_unpaired(study.frame) { "runs" } else { "pairs" };
    let mut text = format!(
        "{opening}: on `{}` against `{reference}`, among the variants as the report describes \
         them, {}. The largest estimated difference is {} (`{widest}`, {} {counted_in}).",
        primary.comparison.metric,
        verdict_lists(primary, |line| study.is_as_described(&line.variant)),
        primary.show(difference),
        tested.iter().map(|line| line.n).max().unwrap_or(0),
    );
    text.push_str(&beyond_longest(study));
    for further in study.judged.iter().skip(1) {
        text.push_str(&format!(
            " On `{}`: {}.",
            further.comparison.metric,
            verdict_lists(further, |line| study.is_as_described(&line.variant))
        ));
    }
    text.push_str(&scale_note(study, primary));
    text.push_str(" Records: the (cell, block) pairs that `values-1.tsv` lists.");
    text
}

/// A faster server makes the client's own time weigh more, so a scaled verdict is the stricter one.
fn scale_note(study: &Study, primary: &Judged) -> String {
    let runs = study.concurrent().filter(|one| takes_part(primary.comparison, &one.row.run.cell));
    let scales: BTreeSet<u64> = runs.map(|one| time_scale_ppm(&one.row.run)).collect();
    let labels: Vec<String> = scales
        .iter()
        .filter(|ppm| **ppm < UNSCALED_PPM)
        .map(|ppm| time_scale_label(*ppm))
        .collect();
    if labels.is_empty() {
        return String::new();
    }
    format!(
        " These cells are {}: the client's own time weighs that much more in them than in real \
         time.",
        labels.join(", ")
    )
}

fn largest<'a>(lines: &[&'a Line]) -> (&'a str, f64) {
    let estimates = lines.iter().filter_map(|line| Some((&*line.variant, line.shift?.estimate)));
    estimates.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or(("none", 0.0))
}

/// "equivalent `a`, `b`; cannot tell `c`".
fn verdict_lists(judged: &Judged, keep: impl Fn(&Line) -> bool) -> String {
    let words = ["faster", "slower", "equivalent", "cannot tell", "withheld"];
    let named = words.iter().filter_map(|word| {
        let lines = judged.with_verdict(word).into_iter().filter(|line| keep(line));
        let names: Vec<String> = lines.map(|line| named(judged, line)).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")))
    });
    let lists: Vec<String> = named.collect();
    if lists.is_empty() { "no verdict".to_owned() } else { lists.join("; ") }
}

/// "Cannot tell" says little without what could have been found.
fn named(judged: &Judged, line: &Line) -> String {
    let unknown = line.verdict == Some(Verdict::CannotTell);
    match line.detectable.filter(|_| unknown) {
        Some(effect) => {
            let found = judged.show(effect);
            let found = found.trim_start_matches('+');
            format!("`{}` (a difference of {found} would have been found)", line.variant)
        }
        None => format!("`{}`", line.variant),
    }
}

/// The part of a run that is not its longest agent: all that a runtime could save by scheduling.
fn beyond_longest(study: &Study) -> String {
    let parallel = study
        .concurrent()
        .filter(|one| study.is_as_described(one.variant()) && !study.is_serial(one.variant()));
    let (mut beyond, mut shares) = (Vec::new(), Vec::new());
    for one in parallel {
        let values = one.value("wall_beyond_longest_agent_ns").zip(one.value("wall_ns"));
        if let Some((rest, wall)) = values {
            beyond.push(rest);
            shares.push(rest / wall);
        }
    }
    median(&beyond).zip(median(&shares)).map_or(String::new(), |(rest, share)| {
        format!(
            " A run outlasted its longest agent by {} in the median, {} of its wall time.",
            show(rest, Unit::Ns),
            show_percent(share).trim_start_matches('+')
        )
    })
}

fn fifty_percent(study: &Study) -> String {
    let (Some(published), Some(described)) =
        (Figures::of(study, SUSPECT_AS_PUBLISHED), Figures::of(study, SUSPECT))
    else {
        return format!(
            "It cannot be answered from these records: it needs concurrent runs of both \
             `{SUSPECT}` and `{SUSPECT_AS_PUBLISHED}`."
        );
    };
    let is_the_harness = study.is_serial(SUSPECT_AS_PUBLISHED)
        && !study.is_serial(SUSPECT)
        && published.efficiency < 0.75 * described.efficiency;
    let opening = if is_the_harness {
        "The published harness, not the runtime: it held a lock for a whole agent, so the second \
         agent began when the first had ended"
    } else {
        "These records do not show the cause that the published code suggests (a lock held for a \
         whole agent)"
    };
    let mut text = format!(
        "{opening}. `{SUSPECT_AS_PUBLISHED}` overlaps its agents for {} of the shorter one's time \
         and reaches {} as published; `{SUSPECT}`, the same runtime without the lock, overlaps \
         them for {} and reaches {}.",
        show(published.overlap, Unit::Share),
        show(published.efficiency, Unit::Share),
        show(described.overlap, Unit::Share),
        show(described.efficiency, Unit::Share),
    );
    for (variant, figures) in [(SUSPECT_AS_PUBLISHED, &published), (SUSPECT, &described)] {
        if let Some([loss, imbalance, contention, remainder]) = figures.split {
            text.push_str(&format!(
                " Against solo runs `{variant}` loses {}: {} to imbalance, {} to the shared \
                 server, {} to the client.",
                show(loss, Unit::Share),
                show(imbalance, Unit::Share),
                show(contention, Unit::Share),
                show(remainder, Unit::Share),
            ));
        }
    }
    text.push_str(&wall_of_suspect(study));
    text.push_str(&format!(
        " Records: {} ({} runs) and {} ({} runs).",
        published.records, published.runs, described.records, described.runs
    ));
    text
}

/// Its wall time against the reference, where the primary comparison is about that: one GPU serves
/// one agent at a time faster, so the "half as efficient" variant may well end first.
fn wall_of_suspect(study: &Study) -> String {
    let primary = study.judged.first().filter(|judged| judged.comparison.metric == "wall_ns");
    let line = primary
        .and_then(|judged| judged.lines.iter().find(|line| line.variant == SUSPECT_AS_PUBLISHED));
    match (primary, line.and_then(|line| line.shift.zip(line.verdict.as_ref()))) {
        (Some(judged), Some((shift, verdict))) => format!(
            " Wall time of `{SUSPECT_AS_PUBLISHED}` against `{}`: {} ({verdict}).",
            study.frame.run_file.analysis.reference,
            judged.show(shift.estimate)
        ),
        _ => String::new(),
    }
}

/// A variant's medians, and the means of its split (means, so that the parts sum to the loss).
struct Figures {
    efficiency: f64,
    overlap: f64,
    split: Option<[f64; 4]>,
    runs: usize,
    records: String,
}

impl Figures {
    fn of(study: &Study, variant: &str) -> Option<Self> {
        let runs: Vec<&Measured> = study.concurrent_of(variant).collect();
        let (first, last) = (runs.first()?, runs.last()?);
        Some(Self {
            efficiency: study.median(variant, "efficiency_as_published")?,
            overlap: study.median(variant, "agent_overlap_share")?,
            split: mean_split(runs.iter().copied()),
            runs: runs.len(),
            records: format!("{} to {}", name(&first.row.run), name(&last.row.run)),
        })
    }
}

/// Mean shares of the loss and its parts, over runs that have a solo baseline.
pub(super) fn mean_split<'a, 'b: 'a>(
    runs: impl Iterator<Item = &'a Measured<'b>>,
) -> Option<[f64; 4]> {
    let shares: Vec<[f64; 4]> = runs.filter_map(shares_of).collect();
    let mean = |part: usize| shares.iter().map(|run| run[part]).sum::<f64>() / shares.len() as f64;
    (!shares.is_empty()).then(|| [0, 1, 2, 3].map(mean))
}

/// Loss, imbalance, server contention and client remainder of one run.
fn shares_of(one: &Measured) -> Option<[f64; 4]> {
    Some([
        one.value("loss_share")?,
        one.value("loss_imbalance_share")?,
        one.value("loss_server_contention_share")?,
        one.value("loss_client_remainder_share")?,
    ])
}

fn pathological(study: &Study) -> String {
    let parallel: Vec<&Measured> = study
        .concurrent()
        .filter(|one| !study.is_serial(one.variant()) && is_of_tr115(one))
        .filter(|one| one.value("efficiency_as_published").is_some())
        .collect();
    let (mut efficiencies, mut balances) = (Vec::new(), Vec::new());
    for one in &parallel {
        if let Some(balance) = one.value("token_balance_share") {
            efficiencies.extend(one.value("efficiency_as_published"));
            balances.push(balance);
        }
    }
    if efficiencies.is_empty() {
        return "It cannot be answered from these records: no variant ran agents in parallel and \
                counted their tokens."
            .to_owned();
    }
    let opening = match (pearson(&efficiencies, &balances), spearman(&efficiencies, &balances)) {
        (Some(r), Some(rank)) => {
            let cause = if r > 0.7 {
                "Reply lengths, not runtimes: the published efficiency follows the balance of the \
                 two agents' token counts"
            } else {
                "These records do not show one cause: the published efficiency and the balance of \
                 the two agents' token counts go together only in part"
            };
            let runs = efficiencies.len();
            format!("{cause} (Pearson {r:.3}, Spearman {rank:.3}, {runs} runs).")
        }
        _ => "All runs here have the same balance of reply lengths, or the same efficiency, so \
              nothing can be attributed."
            .to_owned(),
    };
    let groups = worst_groups(&parallel, is_unpaired(study.frame));
    format!("{opening} The lowest: {}.", groups.join("; "))
}

/// The lowest efficiencies, runs with the same work together: with controlled lengths a bad draw
/// hits all variants alike, and one line says so.
fn worst_groups(parallel: &[&Measured], own_lengths: bool) -> Vec<String> {
    let mut groups: BTreeMap<(String, u32, String), Vec<&Measured>> = BTreeMap::new();
    for one in parallel {
        let run = &one.row.run;
        let owner = if own_lengths { run.variant.clone() } else { String::new() };
        groups.entry((configuration(run), run.block, owner)).or_default().push(one);
    }
    let lowest = |runs: &[&Measured]| {
        let values = runs.iter().filter_map(|one| one.value("efficiency_as_published"));
        values.fold(f64::INFINITY, f64::min)
    };
    let mut sorted: Vec<Vec<&Measured>> = groups.into_values().collect();
    sorted.sort_by(|a, b| lowest(a).total_cmp(&lowest(b)));
    sorted.iter().take(WORST_SHOWN).filter_map(|runs| describe_group(runs)).collect()
}

fn describe_group(runs: &[&Measured]) -> Option<String> {
    let value = |one: &Measured| one.value("efficiency_as_published").unwrap_or(f64::INFINITY);
    let worst = runs.iter().min_by(|a, b| value(a).total_cmp(&value(b)))?;
    let best = runs.iter().map(|one| value(one)).fold(0.0, f64::max);
    let tokens = tokens_per_agent(&worst.row.samples)?;
    let counts: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    let company = match runs.len() {
        1 => String::new(),
        many => format!(
            " (the {many} runs of that cell and block lie between it and {})",
            show(best, Unit::Share)
        ),
    };
    Some(format!(
        "{} at {}, whose agents wrote {} tokens{company}",
        name(&worst.row.run),
        show(value(worst), Unit::Share),
        counts.join(" and ")
    ))
}
