//! The sentences under a report's question, from sweeps whose truth is known.

use super::sweep::{EXPERIMENT, Fake, made, with_reference, world};
use lab_families::runtimes::Runtimes;
use lab_plan::PlannedRun;
use lab_report::{Frame, report};
use proof_kit::world::Made;

fn frame(fakes: &[Fake]) -> Frame {
    world(EXPERIMENT, fakes).frame(&Runtimes, |run| made(fakes, run))
}

/// The paragraph under the question.
fn answer(frame: &Frame) -> String {
    let report = report(frame, &[&Runtimes]).expect("a report");
    report.markdown.split("\n\n").nth(2).expect("an answer").to_owned()
}

/// The noise gate stops all runs but those of the first blocks, which are too few for a verdict.
fn gate_most(frame: &mut Frame) {
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 1) {
        row.run.gated = vec!["steal".into()];
    }
}

#[test]
fn a_difference_that_one_check_does_not_share_is_no_missing_difference() {
    let slow = Fake { slowness: 1.02, ..Fake::named("slow") };
    let mut frame = frame(&with_reference([slow, Fake::named("same")]));
    gate_most(&mut frame);
    let answer = answer(&frame);
    let [unsure, open, asked] = answer.split(". ").collect::<Vec<_>>()[..] else {
        panic!("{answer}")
    };
    assert!(unsure.starts_with("`slow` takes ") && unsure.contains(" % ("), "{answer}");
    let but = " more wall time than `tokio_default`, but this is not sure: all runs: slower; runs \
               past the noise gate: cannot tell";
    assert!(unsure.ends_with(but), "{answer}");
    assert!(open.starts_with("No difference was shown for `same`"), "{answer}");
    assert!(asked.starts_with("Asked at "), "{answer}");
}

#[test]
fn nothing_better_is_said_of_what_one_could_choose_where_another_is_better() {
    let slow = Fake { slowness: 1.5, ..Fake::named("slow") };
    let beside = |other| answer(&frame(&with_reference([slow.clone(), other])));
    // Agents one after the other end sooner here.
    let better = beside(Fake::serial("smol_as_published"));
    let equal = beside(Fake::named("smol_as_published"));
    let nothing = "Nothing that one could choose is shown to take less wall time than";
    assert!(better.starts_with(nothing), "{better}");
    assert!(equal.starts_with("Nothing is shown to take less wall time than"), "{equal}");
}

/// One server for both agents, against one each, with which they are `times` as fast.
fn of_servers(times: f64) -> Frame {
    let cells = "servers = [\"2\"]\n[[cells]]\nconfig = [\"hetero\", \"ctx512\", \"gpu100\"]\n\
                 arrangement = [\"concurrent\"]\nservers = [\"1\"]\n[analysis]\n";
    let contrast = "[[analysis.contrasts]]\nid = \"one_server\"\nvariant = \"tokio_default\"\n\
                    metric = \"wall_ns\"\nfactor = \"servers\"\nlevel = \"1\"\nreference = \"2\"\n\
                    scale = \"ratio\"\nmargin = 0.05\n\
                    cells = { arrangement = [\"concurrent\"] }\n[runtimes]";
    let text = EXPERIMENT.replace("[analysis]", cells).replace("[runtimes]", contrast);
    let make = |run: &PlannedRun| -> Made {
        let mut fakes = with_reference([]);
        if run.cell["servers"] == "1" {
            fakes.iter_mut().for_each(|fake| fake.slowness = times);
        }
        made(&fakes, run)
    };
    world(&text, &with_reference([])).frame(&Runtimes, make)
}

#[test]
fn levels_differ_by_times_in_whole_sentences() {
    let answer = answer(&of_servers(9.0));
    assert!(answer.starts_with("With servers 1 `tokio_default` takes "), "{answer}");
    assert!(answer.contains(" times ("), "{answer}");
    assert!(answer.ends_with(") as much wall time as with servers 2."), "{answer}");
}

#[test]
fn levels_that_one_check_does_not_tell_apart_have_a_difference_all_the_same() {
    let mut frame = of_servers(1.2);
    gate_most(&mut frame);
    let answer = answer(&frame);
    let but = " more wall time than with servers 2, but this is not sure: all runs: slower; runs \
               past the noise gate: cannot tell.";
    assert!(answer.starts_with("With servers 1 ") && answer.ends_with(but), "{answer}");
}
