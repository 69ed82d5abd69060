//! Plans of random experiments: every cell and variant as often as was asked, in an order that
//! depends on the seed alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lab_family::{
    Address, Answer, Cell, Checked, Definition, Factor, Family, InputError, Needs, Places, Planned,
    Section, Truth, Work, section, section_schema,
};
use lab_plan::{Experiment, Manifest, Plan, plan};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// A family whose levels of `c` are run back to back.
#[derive(Debug)]
struct Made;

impl Family for Made {
    fn definition(&self) -> &'static Definition {
        const {
            &Definition {
                name: "made",
                former_names: &[],
                factors: &[Factor::new("a"), Factor::new("b"), Factor::new("c")],
                adjacent_factor: Some("c"),
                metrics: &[],
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

const FACTORS: [&str; 3] = ["a", "b", "c"];

/// An experiment to be written down.
#[derive(Debug, Clone)]
struct Asked {
    seed: u64,
    blocks: u32,
    /// Variants `v0`, `v1`, …; every second one has the tag `even`.
    variants: usize,
    twin: bool,
    groups: Vec<Group>,
}

/// Cells, and whom they are for.
#[derive(Debug, Clone)]
struct Group {
    /// By factor, for some of them; a level may stand twice.
    levels: BTreeMap<&'static str, Vec<u8>>,
    only: Only,
}

#[derive(Debug, Clone, Copy)]
enum Only {
    Everybody,
    Even,
    First,
    AllButFirst,
}

impl Only {
    const ALL: [Self; 4] = [Self::Everybody, Self::Even, Self::First, Self::AllButFirst];

    fn text(self) -> &'static str {
        match self {
            Self::Everybody => "",
            Self::Even => "variant = [\"tag:even\"]\n",
            Self::First => "variant = [\"v0\"]\n",
            Self::AllButFirst => "variant = [\"!v0\"]\n",
        }
    }

    /// The twin of `v0` has its tags and another name.
    fn is_for(self, name: &str) -> bool {
        match self {
            Self::Everybody => true,
            Self::Even => matches!(name, "v0" | "v2" | "v4" | "v0_twin"),
            Self::First => name == "v0",
            Self::AllButFirst => name != "v0",
        }
    }
}

impl Asked {
    fn text(&self) -> String {
        let twin = if self.twin { "twin = \"v0\"\n" } else { "" };
        let mut text = format!(
            "schema = 1\nname = \"random\"\nquestion = \"?\"\nfamily = \"made\"\nseed = {}\n\
             blocks = {}\n[variants]\ntags = [\"all\"]\n{twin}",
            self.seed, self.blocks
        );
        for group in &self.groups {
            text += "[[cells]]\n";
            for (factor, levels) in &group.levels {
                let levels: Vec<String> = levels.iter().map(u8::to_string).collect();
                text += &format!("{factor} = {levels:?}\n");
            }
            text += group.only.text();
        }
        text += "[analysis]\nreference = \"v0\"\npairing = \"paired\"\nalpha = 0.05\n\
                 comparisons = []\n[made.defaults]\na = \"0\"\nb = \"0\"\nc = \"0\"\n";
        text
    }

    fn entrants(&self) -> Vec<String> {
        let names = (0..self.variants).map(|number| format!("v{number}"));
        names.chain(self.twin.then(|| "v0_twin".to_owned())).collect()
    }

    fn manifests(&self) -> Vec<Manifest> {
        let manifest = |number: usize| {
            let even = if number.is_multiple_of(2) { ", \"even\"" } else { "" };
            let (name, tags) = (format!("v{number}"), format!("[\"all\"{even}]"));
            let text = format!(
                "name = \"{name}\"\nfamily = \"made\"\ntags = {tags}\nsentence = \"\"\n\
                 measures = \"m\"\nversion = \"1\"\nfeatures = []\n"
            );
            Manifest::parse("variant.toml", &text, "made", &name).unwrap()
        };
        (0..self.variants).map(manifest).collect()
    }

    fn plan(&self) -> Plan {
        let experiment = Experiment::parse("random.toml", &self.text(), &[&Made])
            .unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        plan(&experiment, &self.manifests()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Who has to run where, in every block once.
    fn wanted(&self) -> BTreeSet<(String, Cell)> {
        let mut wanted = BTreeSet::new();
        for group in &self.groups {
            let levels = |factor| group.levels.get(factor).cloned().unwrap_or_else(|| vec![0]);
            let [first, second, third] = FACTORS.map(levels);
            for (a, b, c) in first.iter().flat_map(|a| {
                let third = &third;
                second.iter().flat_map(move |b| third.iter().map(move |c| (*a, *b, *c)))
            }) {
                let levels = FACTORS.into_iter().zip([a, b, c]);
                let cell: Cell =
                    levels.map(|(factor, level)| (factor.to_owned(), level.to_string())).collect();
                let names = self.entrants().into_iter().filter(|name| group.only.is_for(name));
                wanted.extend(names.map(|name| (name, cell.clone())));
            }
        }
        wanted
    }
}

fn group() -> impl Strategy<Value = Group> {
    let levels = proptest::collection::vec(0..4_u8, 1..4);
    let factors = proptest::collection::btree_map(proptest::sample::select(&FACTORS), levels, 1..4);
    (factors, proptest::sample::select(&Only::ALL))
        .prop_map(|(levels, only)| Group { levels, only })
}

fn asked() -> impl Strategy<Value = Asked> {
    let groups = proptest::collection::vec(group(), 1..4);
    (0..i64::MAX as u64, 1..6_u32, 1..6_usize, any::<bool>(), groups).prop_map(
        |(seed, blocks, variants, twin, groups)| Asked { seed, blocks, variants, twin, groups },
    )
}

type Step = (u32, bool, String, Cell);

fn steps(plan: &Plan) -> Vec<Step> {
    let step =
        |run: &lab_plan::PlannedRun| (run.block, run.warmup, run.variant.clone(), run.cell.clone());
    plan.runs.iter().map(step).collect()
}

proptest! {
    #[test]
    fn every_block_has_every_variant_and_cell_once(asked in asked()) {
        let plan = asked.plan();
        let orders: Vec<u64> = plan.runs.iter().map(|run| run.order).collect();
        prop_assert_eq!(orders, (0..plan.runs.len() as u64).collect::<Vec<_>>());
        let blocks: Vec<u32> = plan.runs.iter().map(|run| run.block).collect();
        prop_assert!(blocks.is_sorted(), "{:?}", blocks);

        let of_block = |block: u32| plan.runs.iter().filter(move |run| run.block == block);
        let checked: Vec<&str> = of_block(0).map(|run| run.variant.as_str()).collect();
        prop_assert_eq!(checked, asked.entrants());
        prop_assert!(plan.runs.iter().all(|run| run.warmup == (run.block == 0)));

        let wanted = asked.wanted();
        for block in 1..=asked.blocks {
            let pairs = of_block(block).map(|run| (run.variant.clone(), run.cell.clone()));
            let found: BTreeSet<(String, Cell)> = pairs.collect();
            prop_assert_eq!(&found, &wanted, "block {}", block);
            prop_assert_eq!(of_block(block).count(), wanted.len(), "block {}", block);
        }
        let runs = asked.entrants().len() + asked.blocks as usize * wanted.len();
        prop_assert_eq!(plan.runs.len(), runs);
    }

    #[test]
    fn the_order_depends_on_the_seed_alone(asked in asked(), shift in 1..5_usize) {
        let steps_here = steps(&asked.plan());
        prop_assert_eq!(&steps_here, &steps(&asked.plan()));
        // In whatever order the folders' manifests were read.
        let experiment = Experiment::parse("random.toml", &asked.text(), &[&Made]).unwrap();
        let mut manifests = asked.manifests();
        manifests.rotate_left(shift % asked.variants);
        prop_assert_eq!(&steps_here, &steps(&plan(&experiment, &manifests).unwrap()));
    }

    #[test]
    fn levels_that_are_read_as_a_pair_stay_together_and_take_turns(asked in asked()) {
        // By block, variant and the other factors: the levels of `c` in the order of their runs,
        // and the position of the first.
        let mut together: BTreeMap<(String, Cell, u32), (u64, Vec<String>)> = BTreeMap::new();
        let plan = asked.plan();
        for run in plan.runs.iter().filter(|run| run.block > 0) {
            let mut others = run.cell.clone();
            let level = others.remove("c").unwrap();
            let (first, levels) = together
                .entry((run.variant.clone(), others, run.block))
                .or_insert_with(|| (run.order, Vec::new()));
            prop_assert_eq!(run.order, *first + levels.len() as u64, "{:?}", run);
            levels.push(level);
        }
        for ((variant, others, block), (_, levels)) in &together {
            let next = (variant.clone(), others.clone(), block + 1);
            let turned = levels.iter().rev();
            let is_turned = together.get(&next).is_none_or(|(_, next)| next.iter().eq(turned));
            prop_assert!(is_turned, "{variant} {others:?} {block}");
        }
    }
}

#[test]
fn every_pair_is_the_first_of_a_block_for_some_seed() {
    let group = |only| Group { levels: BTreeMap::from([("a", vec![1, 2])]), only };
    let asked =
        Asked { seed: 0, blocks: 1, variants: 3, twin: true, groups: vec![group(Only::Everybody)] };
    // Eight pairs: that one of them is never first has a probability of 10^-11.
    let firsts = (0..200).map(|seed| {
        let runs = Asked { seed, ..asked.clone() }.plan().runs;
        let first = runs.iter().find(|run| run.block == 1).unwrap();
        (first.variant.clone(), first.cell.clone())
    });
    assert_eq!(firsts.collect::<BTreeSet<_>>(), asked.wanted());
}
