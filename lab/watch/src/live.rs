//! Servers that run: one small request to each, again and again.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use lab_stats::describe::median;
use serde_json::{Map, Value};
use ureq::Agent;

use crate::api::Api;
use crate::ask::{Asked, Question, ask, client};
use crate::seen::{Ending, Moment, Round, Seen};

/// The subject that stands for the servers together.
pub const ALL: &str = "all";

/// So many of a server's last requests alone say how long one takes.
const ALONE_KEPT: usize = 5;
/// Whether the user has had enough is asked this often.
const NAP: Duration = Duration::from_millis(250);

/// Whom to ask, what, how often and how long.
#[derive(Debug, Clone)]
pub struct Asking {
    /// Base addresses, `http://HOST:PORT`.
    pub servers: Vec<String>,
    /// What they speak.
    pub api: Api,
    /// The model to ask for.
    pub model: String,
    /// Whether it is told to think, or not to; `None` leaves it to the model.
    pub think: Option<bool>,
    /// Request options beside seed and length.
    pub options: Map<String, Value>,
    /// The longest reply in tokens.
    pub tokens: u32,
    /// From the start of a round to the start of the next.
    pub every: Duration,
    /// Rounds at most.
    pub rounds: Option<u64>,
    /// No round starts later than this.
    pub within: Option<Duration>,
    /// In each round of this many the servers are asked one after the other; 0 is never.
    pub alone_every: u32,
    /// A request that takes longer has failed.
    pub limit: Duration,
}

/// Servers that are asked.
#[derive(Debug)]
pub struct Live {
    asking: Asking,
    client: Agent,
    began: Instant,
    rounds: u64,
    /// By server, how long its last requests alone took.
    alone_s: Vec<VecDeque<f64>>,
}

impl Live {
    /// Nobody is asked yet.
    pub fn new(asking: Asking) -> Self {
        Self {
            client: client(asking.limit),
            began: Instant::now(),
            rounds: 0,
            alone_s: vec![VecDeque::new(); asking.servers.len()],
            asking,
        }
    }

    /// Waits until the next round is due and asks every server once; `None` when the watch is over
    /// or interrupted.
    pub fn next(&mut self, interrupted: &AtomicBool) -> Option<Moment> {
        let asking = &self.asking;
        if asking.rounds.is_some_and(|most| self.rounds >= most) || !self.wait(interrupted) {
            return None;
        }
        self.rounds += 1;
        let every = u64::from(self.asking.alone_every);
        let alone = every > 0 && self.rounds.is_multiple_of(every);
        let together = !alone || self.asking.servers.len() < 2;
        let asked = if together { self.ask_together() } else { self.ask_in_turn() };
        let at_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut seen = Vec::new();
        if together {
            seen.push((ALL.to_owned(), Seen::Round(self.round(&asked))));
        } else {
            self.keep_alone(&asked);
        }
        let calls = self.asking.servers.iter().cloned().zip(asked);
        seen.extend(calls.map(|(server, asked)| (server, Seen::Call(asked.call))));
        Some(Moment { at_ns, seen })
    }

    /// Whether there is another round. Rounds start at multiples of the interval; what a long one
    /// covers is left out.
    fn wait(&self, interrupted: &AtomicBool) -> bool {
        let since = self.began.elapsed();
        let every = self.asking.every;
        let due = match since.as_nanos().checked_div(every.as_nanos()) {
            Some(passed) if self.rounds > 0 => {
                every.saturating_mul(u32::try_from(passed + 1).unwrap_or(u32::MAX))
            }
            _ => since,
        };
        if self.asking.within.is_some_and(|within| due >= within) {
            return false;
        }
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return false;
            }
            let left = due.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(NAP));
        }
    }

    fn ask_together(&self) -> Vec<Asked> {
        let question = &self.question();
        thread::scope(|scope| {
            let servers = self.asking.servers.iter();
            let threads: Vec<_> = servers
                .map(|server| scope.spawn(move || ask(&self.client, server, question)))
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|asked| asked.expect("asking does not panic")).collect()
        })
    }

    fn ask_in_turn(&self) -> Vec<Asked> {
        let question = self.question();
        let servers = self.asking.servers.iter();
        servers.map(|server| ask(&self.client, server, &question)).collect()
    }

    /// Its first line differs from round to round: a prompt that a server has in its cache would
    /// change the time to first token tenfold.
    fn question(&self) -> Question {
        Question {
            api: self.asking.api,
            model: self.asking.model.clone(),
            prompt: format!("Request {}.\nCount from one to one hundred in words.", self.rounds),
            tokens: self.asking.tokens,
            seed: self.rounds,
            think: self.asking.think,
            options: self.asking.options.clone(),
        }
    }

    fn round(&self, asked: &[Asked]) -> Round {
        let is_whole = asked.iter().all(|asked| asked.call.outcome == Ending::Answered);
        let together_s = if is_whole { asked.iter().map(duration_s).collect() } else { vec![] };
        let began = asked.iter().map(|asked| asked.began).min();
        let ended = asked.iter().map(|asked| asked.ended).max();
        let wall = began.zip(ended).map(|(began, ended)| ended - began);
        Round {
            together_s,
            alone_s: self.alone_s.iter().map(|kept| median(&Vec::from(kept.clone()))).collect(),
            wall_s: wall.unwrap_or_default().as_secs_f64(),
            late: asked.iter().any(|asked| asked.call.is_late()),
        }
    }

    fn keep_alone(&mut self, asked: &[Asked]) {
        for (kept, asked) in self.alone_s.iter_mut().zip(asked) {
            if asked.call.outcome == Ending::Answered {
                kept.push_back(duration_s(asked));
            }
            if kept.len() > ALONE_KEPT {
                kept.pop_front();
            }
        }
    }
}

fn duration_s(asked: &Asked) -> f64 {
    (asked.ended - asked.began).as_secs_f64()
}
