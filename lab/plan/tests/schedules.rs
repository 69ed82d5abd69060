//! Every schedule of a plan, checked by enumeration: each order comes about equally often, each
//! member of a round is as often right after its own program as any other and as often in each
//! place. Else what a run leaves to the next would be taken for a difference of the programs.

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{
    Address, Answer, Cell, Checked, Definition, Factor, Family, InputError, Needs, Places, Planned,
    Section, Truth, Unit, Work, lower, section, section_schema,
};
use lab_plan::{Asked, Experiment, Manifest, Plan, PlannedRun, plan};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug)]
struct Made;

impl Family for Made {
    fn definition(&self) -> &'static Definition {
        const {
            &Definition {
                name: "made",
                former_names: &[],
                factors: &[Factor::new("a")],
                adjacent_factor: None,
                metrics: &[lower(("m", "m"), Unit::Ns, "A time.")],
                section: section::<MadeSection>,
                section_schema: section_schema::<MadeSection>,
            }
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct MadeSection {
    defaults: Cell,
}

impl Section for MadeSection {
    fn defaults(&self) -> Cell {
        self.defaults.clone()
    }

    fn needs(&self, _cells: &[Cell]) -> Needs {
        Needs::default()
    }

    fn plan(&self, _file: &str, _at: &Address<'_>) -> Result<Planned, InputError> {
        Ok(Planned { work: Arc::new(Nothing), expected_ms: 1, deadline_ms: 1 })
    }
}

#[derive(Debug)]
struct Nothing;

impl Work for Nothing {
    fn workload(&self, _at: &Places) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn check(&self, _answer: &Answer<'_>, _truth: &Truth<'_>) -> Result<Checked, String> {
        Ok(Checked::right())
    }
}

const ROUNDS: u32 = 6_000;
/// Of all rounds with a twin, so many are controls.
const CONTROLS: f64 = 1.0 / 3.0;
/// By how many standard deviations a count may be wrong: by chance a count is in 1 of 10^5.
const SDS: f64 = 4.5;

/// `variants` variants, the first being the reference, and its twin.
fn experiment(variants: usize, blocks: u32) -> (Experiment, Vec<Manifest>) {
    let text = format!(
        "schema = 1\nname = \"e\"\nquestion = \"?\"\nfamily = \"made\"\nseed = 5\n\
         blocks = {blocks}\n[variants]\ntags = [\"all\"]\ntwin = \"v0\"\n\
         [[cells]]\na = [\"0\", \"1\", \"2\"]\n\
         [analysis]\nreference = \"v0\"\npairing = \"paired\"\nalpha = 0.05\n\
         [analysis.rounds]\nbudget_s = 1\nmost = {ROUNDS}\n\
         [[analysis.comparisons]]\nmetric = \"m\"\ncells = {{ a = [\"0\"] }}\nscale = \"ratio\"\n\
         margin = 0.05\n\
         [[analysis.comparisons]]\nmetric = \"m\"\ncells = {{ a = [\"1\", \"2\"] }}\n\
         scale = \"ratio\"\nmargin = 0.05\n\
         [[analysis.contrasts]]\nid = \"levels\"\nvariant = \"v0\"\nmetric = \"m\"\n\
         factor = \"a\"\nlevel = \"1\"\nreference = \"0\"\ncells = {{}}\n\
         scale = \"ratio\"\nmargin = 0.05\n\
         [[expect]]\nid = \"ratio\"\nkind = \"check\"\nsays = \"?\"\ncells = {{ a = \"2\" }}\n\
         value = {{ variant = \"v0\", metric = \"m\" }}\nover = {{ variant = \"v1\" }}\n\
         rounds = true\nat_most = 1.0\n\
         [made.defaults]\na = \"0\"\n"
    );
    let manifest = |number: usize| {
        let name = format!("v{number}");
        let text = format!(
            "name = \"{name}\"\nfamily = \"made\"\ntags = [\"all\"]\nsentence = \"\"\n\
             measures = \"m\"\nversion = \"1\"\nfeatures = []\n"
        );
        Manifest::parse("variant.toml", &text, "made", &name).unwrap()
    };
    let parsed = Experiment::parse("e.toml", &text, &[&Made]);
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}\n{text}"));
    (parsed, (0..variants).map(manifest).collect())
}

fn planned(experiment: &Experiment, manifests: &[Manifest]) -> Plan {
    plan(experiment, manifests).unwrap_or_else(|error| panic!("{error}"))
}

/// A program at work: who follows the same one finds what it left itself. A twin is the
/// reference's program.
type Program = (String, Cell);

fn program(run: &PlannedRun) -> Program {
    (run.variant.trim_end_matches("_twin").to_owned(), run.cell.clone())
}

/// That these counts are of things that come equally often.
#[track_caller]
fn even<T: std::fmt::Debug>(counts: &BTreeMap<T, usize>, of: usize) {
    let total: usize = counts.values().sum();
    assert_eq!(counts.len(), of, "{counts:?}");
    let share = 1.0 / of as f64;
    let sd = (total as f64 * share * (1.0 - share)).sqrt();
    for (what, count) in counts {
        let away = (*count as f64 - total as f64 * share).abs();
        assert!(away <= SDS * sd, "{what:?}: {count} of {total} for {of}");
    }
}

fn counted<T: Ord>(all: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    all.into_iter().for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

/// That these rounds, one after the other, treat all that take part in them alike.
#[track_caller]
fn fair(rounds: &[Vec<PlannedRun>], orders: usize) {
    let members = rounds[0].len();
    let names = |round: &Vec<PlannedRun>| -> Vec<Program> {
        round.iter().map(|run| (run.variant.clone(), run.cell.clone())).collect()
    };
    even(&counted(rounds.iter().map(names)), orders);
    let places = rounds.iter().flat_map(|round| names(round).into_iter().enumerate());
    even(&counted(places), members * members);
    let runs: Vec<&PlannedRun> = rounds.iter().flatten().collect();
    let pairs = runs.windows(2).filter(|pair| program(pair[0]) == program(pair[1]));
    let after_itself = pairs.map(|pair| (pair[1].variant.clone(), pair[1].cell.clone()));
    even(&counted(after_itself), members);
}

/// The rounds of one kind, and the runs that washed them.
fn rounds(asked: &Asked, experiment: &Experiment, is_control: bool) -> [Vec<Vec<PlannedRun>>; 2] {
    let all = (0..ROUNDS).map(|round| asked.round(experiment, round, |_, _| true).unwrap());
    let kind = all.flatten().filter(|round| round.is_control == is_control);
    let (runs, washes) = kind.map(|round| (round.runs, vec![round.wash])).unzip();
    [runs, washes]
}

#[test]
fn rounds_of_every_kind_treat_all_their_members_alike() {
    for variants in 2..=3 {
        let (experiment, manifests) = experiment(variants, 1);
        let plan = planned(&experiment, &manifests);
        let factorial = |n: usize| (1..=n).product::<usize>();
        let [one_cell, two_cells, contrast, ratio] = &plan.asked[..] else { panic!("{plan:?}") };
        for (asked, of_question, of_control) in [
            (one_cell, factorial(variants), Some(2)),
            (two_cells, 2 * factorial(variants).pow(2), Some(2 * 2 * 2)),
            (contrast, 2, None),
            (ratio, 2, None),
        ] {
            let [question, _] = rounds(asked, &experiment, false);
            fair(&question, of_question);
            assert!(question.iter().flatten().all(|run| run.variant != "v0_twin"));
            let [controls, _] = rounds(asked, &experiment, true);
            let share = controls.len() as f64 / f64::from(ROUNDS);
            match of_control {
                None => assert!(controls.is_empty()),
                Some(orders) => {
                    fair(&controls, orders);
                    assert!((share - CONTROLS).abs() < 0.03, "{share}");
                    let around = ["v0", "v0_twin"];
                    let mut runs = controls.iter().flatten();
                    assert!(runs.all(|run| around.contains(&run.variant.as_str())));
                }
            }
        }
    }
}

#[test]
fn a_wash_is_any_of_its_rounds_runs_and_tells_nothing_of_their_order() {
    let (experiment, manifests) = experiment(3, 1);
    let plan = planned(&experiment, &manifests);
    for (asked, is_control) in
        [(&plan.asked[0], false), (&plan.asked[0], true), (&plan.asked[1], false)]
    {
        let [rounds, washes] = rounds(asked, &experiment, is_control);
        let members = rounds[0].len();
        let washes: Vec<&PlannedRun> = washes.iter().flatten().collect();
        let named = |run: &PlannedRun| (run.variant.clone(), run.cell.clone());
        even(&counted(washes.iter().map(|wash| named(wash))), members);
        let firsts = rounds.iter().map(|runs| named(&runs[0]));
        let beside = counted(washes.iter().map(|wash| named(wash)).zip(firsts));
        even(&beside, members * members);
        assert!(washes.iter().all(|wash| wash.warmup));
        let orders = rounds.iter().flatten().chain(washes).map(|run| run.order);
        assert!(counted(orders).values().all(|times| *times == 1), "an order stands twice");
    }
}

#[test]
fn who_is_left_is_treated_alike_and_a_control_without_its_twin_is_none() {
    let (experiment, manifests) = experiment(4, 1);
    let plan = planned(&experiment, &manifests);
    let asked = &plan.asked[0];
    let left = |without: &[&str]| {
        let wanted = |variant: &str, _: &Cell| !without.contains(&variant);
        let all = (0..ROUNDS).filter_map(|round| asked.round(&experiment, round, wanted).unwrap());
        let kinds = all.partition::<Vec<_>, _>(|round| round.is_control);
        [kinds.0, kinds.1].map(|kind| kind.into_iter().map(|round| round.runs).collect::<Vec<_>>())
    };
    let [controls, question] = left(&["v2"]);
    assert!(controls.len() > 1_800);
    fair(&question, 6);
    let [controls, question] = left(&["v0_twin"]);
    assert!(controls.is_empty());
    assert_eq!(question.len() as u32, ROUNDS);
    fair(&question, 24);
    assert_eq!(asked.round(&experiment, 0, |_, _| false).unwrap().map(|round| round.place), None);
}

#[test]
fn blocks_treat_all_entrants_alike() {
    let (experiment, manifests) = experiment(2, 3_000);
    let plan = planned(&experiment, &manifests);
    let timed: Vec<&PlannedRun> = plan.runs.iter().filter(|run| run.block > 0).collect();
    let named = |run: &PlannedRun| (run.variant.clone(), run.cell.clone());
    let blocks = timed.chunk_by(|one, next| one.block == next.block);
    let places = blocks.flat_map(|block| block.iter().map(|run| named(run)).enumerate());
    even(&counted(places), 9 * 9);
    let pairs = || timed.windows(2).map(|pair| (named(pair[0]), named(pair[1])));
    even(&counted(pairs().filter(|(one, next)| one == next)), 9);
    // Who follows whom within a block.
    even(&counted(pairs().filter(|(one, next)| one != next)), 9 * 8);
}
