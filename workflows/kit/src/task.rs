//! The state of one task: which of its steps exist, which may be done now, and when it is complete.
//!
//! Nothing here reads a clock or waits. A back end calls [`Task::record`] when a step's value would
//! not be lost any more, and acts on what that makes possible.

use std::sync::Arc;

use lab_protocol::workflows::{Operation, When};

use crate::Graph;

/// The most steps that a fan-out may make.
pub const MAX_PARTS: u64 = 10_000;

/// Which step of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId {
    /// The index in the shape.
    pub step: u32,
    /// Which of a fan-out's steps; 0 for any other.
    pub part: u32,
}

/// A step that may be done now, with all it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Which step.
    pub id: StepId,
    /// What it computes.
    pub operation: Operation,
    /// From these values, in order.
    pub inputs: Vec<u64>,
}

impl Job {
    /// The step's value.
    pub fn compute(&self) -> u64 {
        self.operation.compute(&self.inputs, u64::from(self.id.part))
    }
}

/// What became of a task through one transition.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps of the shape that exist from now on, or from which a fan-out has now been made.
    pub created: Vec<u32>,
    /// Steps that may be done now.
    pub ready: Vec<Job>,
    /// Every step that the task has is recorded.
    pub complete: bool,
}

/// Why a value was not recorded. The task is then as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The step is not there, or waits for another.
    #[error("step {0:?} may not be done yet, or does not exist")]
    NotReady(StepId),
    /// A step is recorded once.
    #[error("step {0:?} is recorded already")]
    Twice(StepId),
    /// The value says how many steps a fan-out makes.
    #[error("a fan-out of {0} steps: at most {MAX_PARTS} are made")]
    TooManyParts(u64),
}

/// One task.
#[derive(Debug)]
pub struct Task {
    graph: Arc<Graph>,
    input: u64,
    nodes: Vec<Node>,
    /// Steps of the shape that are neither done nor left out.
    left: usize,
}

/// A step of the shape in this task.
#[derive(Debug)]
struct Node {
    /// Steps that are not done of those it waits for.
    waits: usize,
    /// And of those that decide about it.
    undecided: usize,
    /// The values of its parts; none when it was left out, or as long as it is undecided.
    parts: Vec<Option<u64>>,
    /// Parts without a value.
    left: usize,
}

impl Task {
    /// A task at its beginning, and what can be done first.
    pub fn new(graph: &Arc<Graph>, input: u64) -> (Self, Progress) {
        let steps = graph.shape().steps.len();
        let node = |step: u32| Node {
            waits: graph.waits_for(step).len(),
            undecided: graph.deciders(step).len(),
            parts: Vec::new(),
            left: 0,
        };
        let nodes = (0..steps as u32).map(node).collect();
        let mut task = Self { graph: Arc::clone(graph), input, nodes, left: steps };
        let mut progress = Progress::default();
        for step in 0..steps as u32 {
            if task.node(step).undecided == 0 {
                task.create(step, 1, &mut progress);
                if task.node(step).waits == 0 {
                    progress.ready.extend(task.jobs(step));
                }
            }
        }
        (task, progress)
    }

    /// Takes a step's value, and says what that makes possible. Where a fan-out made several steps,
    /// the values of all are inputs, in order; a decision or a further fan-out looks at the first.
    ///
    /// # Errors
    /// [`Refused`]; nothing has changed then.
    pub fn record(&mut self, id: StepId, value: u64) -> Result<Progress, Refused> {
        let steps = &self.graph.shape().steps;
        let node = self.nodes.get(id.step as usize).ok_or(Refused::NotReady(id))?;
        let known = node.parts.get(id.part as usize).ok_or(Refused::NotReady(id))?;
        if node.waits > 0 {
            return Err(Refused::NotReady(id));
        }
        if known.is_some() {
            return Err(Refused::Twice(id));
        }
        let fans_out = |step: &u32| steps[*step as usize].parts_of == Some(id.step);
        let many = id.part == 0 && self.graph.followers(id.step).iter().any(fans_out);
        if many && value > MAX_PARTS {
            return Err(Refused::TooManyParts(value));
        }
        let node = &mut self.nodes[id.step as usize];
        node.parts[id.part as usize] = Some(value);
        node.left -= 1;
        let mut progress = Progress::default();
        if node.left == 0 {
            self.done(id.step, &mut progress);
        }
        progress.complete = self.left == 0;
        Ok(progress)
    }

    /// Every step that the task has is recorded.
    pub fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// A step was done or left out: those that waited for it may go on, and one that is left out
    /// in turn lets others go on.
    fn done(&mut self, step: u32, progress: &mut Progress) {
        let graph = Arc::clone(&self.graph);
        let mut done = vec![step];
        while let Some(step) = done.pop() {
            self.left -= 1;
            for &follower in graph.followers(step) {
                let node = &mut self.nodes[follower as usize];
                node.waits -= 1;
                let waits = node.waits;
                if graph.deciders(follower).contains(&step) {
                    node.undecided -= 1;
                    if node.undecided == 0 {
                        let parts = self.parts_of(follower);
                        self.create(follower, parts, progress);
                    }
                }
                if waits == 0 && self.node(follower).parts.is_empty() {
                    done.push(follower);
                } else if waits == 0 {
                    progress.ready.extend(self.jobs(follower));
                }
            }
        }
    }

    fn create(&mut self, step: u32, parts: usize, progress: &mut Progress) {
        let node = &mut self.nodes[step as usize];
        node.parts = vec![None; parts];
        node.left = parts;
        if parts > 0 {
            progress.created.push(step);
        }
    }

    /// How many steps are made of one whose deciders are done.
    fn parts_of(&self, step: u32) -> usize {
        let step = &self.graph.shape().steps[step as usize];
        let exists = |when: When| {
            self.first(when.step).is_some_and(|value| (when.low..when.high).contains(&value))
        };
        match step.parts_of {
            _ if !step.when.is_none_or(exists) => 0,
            Some(other) => self.first(other).unwrap_or(0) as usize,
            None => 1,
        }
    }

    fn jobs(&self, step: u32) -> Vec<Job> {
        let what = &self.graph.shape().steps[step as usize];
        let inputs: Vec<u64> = if what.after.is_empty() {
            vec![self.input]
        } else {
            what.after
                .iter()
                .flat_map(|&other| self.node(other).parts.iter().flatten())
                .copied()
                .collect()
        };
        let parts = 0..self.node(step).parts.len() as u32;
        let job = |part| {
            let inputs = inputs.clone();
            Job { id: StepId { step, part }, operation: what.operation, inputs }
        };
        parts.map(job).collect()
    }

    fn first(&self, step: u32) -> Option<u64> {
        self.node(step).parts.first().copied().flatten()
    }

    fn node(&self, step: u32) -> &Node {
        &self.nodes[step as usize]
    }
}
