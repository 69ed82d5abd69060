//! Who waits for whom in a shape.

use std::collections::BTreeSet;

use lab_protocol::workflows::{Shape, Step};

/// A shape, and for each of its steps who waits for whom. All lists are of step indices, in order
/// and without repetition.
#[derive(Debug)]
pub struct Graph {
    shape: Shape,
    waits_for: Vec<Vec<u32>>,
    deciders: Vec<Vec<u32>>,
    followers: Vec<Vec<u32>>,
}

impl Graph {
    /// Of a shape whose steps only wait for steps before them.
    pub fn new(shape: &Shape) -> Self {
        let steps = &shape.steps;
        let deciders: Vec<Vec<u32>> = steps.iter().map(|step| sorted(deciders_of(step))).collect();
        let waits_for: Vec<Vec<u32>> = steps
            .iter()
            .map(|step| sorted(step.after.iter().copied().chain(deciders_of(step))))
            .collect();
        let mut followers = vec![Vec::new(); steps.len()];
        for (step, waits_for) in (0u32..).zip(&waits_for) {
            for &other in waits_for {
                followers[other as usize].push(step);
            }
        }
        Self { shape: shape.clone(), waits_for, deciders, followers }
    }

    /// The shape itself.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The steps that must be done, or left out, before this one may be claimed.
    pub fn waits_for(&self, step: u32) -> &[u32] {
        &self.waits_for[step as usize]
    }

    /// Those of them that decide whether this step exists and how many are made of it; without
    /// any, it exists from the start.
    pub fn deciders(&self, step: u32) -> &[u32] {
        &self.deciders[step as usize]
    }

    /// The steps that wait for this one.
    pub fn followers(&self, step: u32) -> &[u32] {
        &self.followers[step as usize]
    }
}

fn deciders_of(step: &Step) -> impl Iterator<Item = u32> {
    step.when.map(|when| when.step).into_iter().chain(step.parts_of)
}

fn sorted(steps: impl Iterator<Item = u32>) -> Vec<u32> {
    steps.collect::<BTreeSet<u32>>().into_iter().collect()
}
