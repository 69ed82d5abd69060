//! The questions that a sweep measures by themselves, in rounds of adjacent runs, and the blocks
//! that their runs stand in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Analysis, Comparison, Contrast, Expectation, RunFile};

/// `[analysis.rounds]`: after the blocks, the declared comparisons and contrasts that are not left
/// to the blocks, and the expectations that say so, are measured in rounds until they are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// Seconds for all questions together; what one leaves is for those after it.
    pub budget_s: u32,
    /// Rounds of one question, at most.
    #[serde(default = "most")]
    pub most: u32,
}

fn most() -> u32 {
    2_000
}

/// What some rounds are about.
#[derive(Debug, Clone, PartialEq)]
pub enum Question<'a> {
    /// All asked comparisons over the same cells, by their places: their runs are the same.
    Comparisons(Vec<usize>),
    /// One contrast.
    Contrast(&'a Contrast),
    /// One expectation.
    Expectation(&'a Expectation),
}

impl Analysis {
    /// What is asked in rounds, in order: the comparisons and contrasts that are not left to the
    /// blocks, and those of the expectations that say so. Empty where nothing is.
    pub fn questions<'a>(&'a self, expectations: &'a [Expectation]) -> Vec<Question<'a>> {
        if self.rounds.is_none() {
            return Vec::new();
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let asked = self.comparisons.iter().enumerate().filter(|(_, one)| one.rounds);
        for (place, comparison) in asked {
            let same = |group: &&mut Vec<usize>| {
                group.iter().any(|other| self.comparisons[*other].cells == comparison.cells)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        let comparisons = groups.into_iter().map(Question::Comparisons);
        let contrasts = self.contrasts.iter().filter(|one| one.rounds).map(Question::Contrast);
        let expected = expectations.iter().filter(|one| one.rounds).map(Question::Expectation);
        comparisons.chain(contrasts).chain(expected).collect()
    }

    /// Whether the blocks answer what a comparison or a contrast asks, whose key `rounds` this is.
    pub fn is_left_to_blocks(&self, rounds: bool) -> bool {
        self.rounds.is_none() || !rounds
    }

    /// How many comparisons and contrasts are left to the blocks although others are not.
    pub fn beside_rounds(&self) -> usize {
        let comparisons = self.comparisons.iter().map(|one| one.rounds);
        let all = comparisons.chain(self.contrasts.iter().map(|one| one.rounds));
        all.filter(|rounds| self.rounds.is_some() && !rounds).count()
    }
}

impl Comparison {
    /// "wall_ns gigabyte 2": its metric, and the levels that cells must have.
    pub fn label(&self) -> String {
        let levels = self.cells.values().map(|levels| levels.join("/"));
        format!("{} {}", self.metric, levels.collect::<Vec<_>>().join(" "))
    }
}

impl Rounds {
    /// The block of a question's round, both counted from 0, after a sweep's own blocks.
    pub fn block(self, blocks: u32, question: usize, round: u32) -> u32 {
        blocks + 1 + question as u32 * self.most + round
    }
}

impl RunFile {
    /// The question that a block's runs were made for; `None` for a block of the sweep's own.
    pub fn question_of(&self, block: u32) -> Option<usize> {
        let rounds = self.analysis.rounds?;
        let beyond = block.checked_sub(self.blocks + 1)?;
        Some((beyond / rounds.most) as usize)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn analysis(levels: &[&str]) -> Analysis {
        let comparison = |level: &&str| {
            let cells = json!({ "x": [level] });
            json!({ "metric": "m", "scale": "ratio", "margin": 0.01, "cells": cells })
        };
        let comparisons: Vec<_> = levels.iter().map(comparison).collect();
        let analysis = json!({
            "reference": "a", "pairing": "paired", "alpha": 0.05, "comparisons": comparisons,
            "rounds": { "budget_s": 60 },
        });
        serde_json::from_value(analysis).unwrap()
    }

    #[test]
    fn comparisons_over_the_same_cells_share_their_rounds() {
        let analysis = analysis(&["1", "2", "1"]);
        let expected = [vec![0, 2], vec![1]].map(Question::Comparisons);
        assert_eq!(analysis.questions(&[]), expected);
        assert_eq!(analysis.rounds.map(|rounds| rounds.most), Some(2_000), "unless it is told");
        assert_eq!(Analysis { rounds: None, ..analysis }.questions(&[]), []);
    }

    #[test]
    fn what_is_left_to_the_blocks_is_asked_in_no_round() {
        let mut analysis = analysis(&["1", "2", "1"]);
        analysis.comparisons[0].rounds = false;
        let expected = [vec![1], vec![2]].map(Question::Comparisons);
        assert_eq!(analysis.questions(&[]), expected);
        assert_eq!(analysis.beside_rounds(), 1);
        let left = serde_json::to_value(&analysis.comparisons).unwrap();
        assert_eq!((&left[0]["rounds"], left[1].get("rounds")), (&json!(false), None));
    }

    #[test]
    fn a_block_leads_back_to_its_question() {
        let machine =
            json!({"cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "a"});
        let file = json!({
            "schema": 2, "experiment": "e", "experiment_toml": "", "attachments": {},
            "experiment_sha256": "", "arguments": [], "seed": 1, "blocks": 4,
            "analysis": analysis(&["1"]), "runs_planned": 3, "git": null, "variants": [],
            "machine": machine, "started_unix_s": 0,
        });
        let mut file: RunFile = serde_json::from_value(file).unwrap();
        let rounds = Rounds { budget_s: 1, most: 9 };
        file.analysis.rounds = Some(rounds);
        for question in 0..3 {
            for round in [0, 8] {
                let block = rounds.block(4, question, round);
                assert_eq!(file.question_of(block), Some(question), "block {block}");
            }
        }
        assert_eq!((file.question_of(4), file.question_of(0)), (None, None));
        file.analysis.rounds = None;
        assert_eq!(file.question_of(5), None);
    }

    #[test]
    fn blocks_answer_what_no_round_asks() {
        let asked = analysis(&["1"]);
        assert!(asked.is_left_to_blocks(false) && !asked.is_left_to_blocks(true));
        let by_blocks = Analysis { rounds: None, ..asked };
        assert!(by_blocks.is_left_to_blocks(true));
        assert_eq!(by_blocks.beside_rounds(), 0);
    }

    #[test]
    fn a_comparison_is_called_by_its_metric_and_levels() {
        let mut comparison = analysis(&["1"]).comparisons.remove(0);
        comparison.cells.insert("y".to_owned(), vec!["2".to_owned(), "3".to_owned()]);
        assert_eq!(comparison.label(), "m 1 2/3");
    }

    #[test]
    fn every_round_has_a_block_of_its_own() {
        let rounds = Rounds { budget_s: 1, most: 9 };
        let blocks: Vec<u32> =
            (0..3).flat_map(|one| (0..9).map(move |round| rounds.block(4, one, round))).collect();
        assert_eq!(blocks, (5..32).collect::<Vec<_>>());
    }
}
