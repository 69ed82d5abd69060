//! What the server did, call by call: the truth that a client's numbers are held against.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::faults::FaultPlan;
use crate::spec::ServerSpec;
use crate::trace::TracedReply;

/// Stands in a time of a [`CallRecord`] for something that did not happen.
pub const NEVER: i64 = -1;

/// All calls of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The run that `begin` named.
    pub run: String,
    /// Calls that were streamed, whole or in part, in the order in which they arrived.
    pub calls: Vec<CallRecord>,
    /// Requests for a reply that got none: unknown models, bad requests and faults.
    pub refused: u64,
}

/// One streamed call. Times are `CLOCK_MONOTONIC` in nanoseconds, or [`NEVER`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The reply's own name, which OpenAI's chunks carry.
    pub id: String,
    /// The seed of the request.
    pub seed: i64,
    /// The port it came in by, counted from 0.
    pub port_index: usize,
    /// When its last byte had come, by the kernel's stamp: the schedule counts from here. Where the
    /// kernel gives none, it is `heard_ns`.
    pub received_ns: i64,
    /// When the server had read it. What was due before this was written late, and
    /// `pacing_error_ns` says so.
    pub heard_ns: i64,
    /// When the first token was due.
    pub first_due_ns: i64,
    /// The stamp of the first token.
    pub first_sent_ns: i64,
    /// The stamp of the last token.
    pub last_sent_ns: i64,
    /// The stamp of the `done` line.
    pub done_sent_ns: i64,
    /// Tokens that were stamped.
    pub tokens: usize,
    /// xxh64 (seed 0) of the bytes of those of the answer, bit-cast; thoughts are no part of it.
    pub text_hash: i64,
    /// The stamp of each token, whatever the client speaks and whether or not it was sent in a
    /// stream. Tokens of one chunk have the same.
    pub sent_ns: Vec<i64>,
    /// Stamp minus due time of each token; never negative.
    pub pacing_error_ns: Vec<i64>,
    /// When its client was seen to have closed its side before the end, or [`NEVER`].
    pub left_ns: i64,
    /// Writes that a slow client did not take at once. Their tokens left later than their stamps.
    pub buffered_writes: u64,
    /// The `done` line went out.
    pub complete: bool,
}

/// The run that the server is in.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) spec: ServerSpec,
    pub(crate) faults: FaultPlan,
    /// Whether anybody will ask for the calls.
    pub(crate) is_recorded: bool,
    refused: AtomicU64,
    /// Replies of the trace that were replayed.
    replayed: AtomicUsize,
}

impl Run {
    pub(crate) fn new(id: String, spec: ServerSpec, is_recorded: bool) -> Self {
        let faults = FaultPlan::new(&spec.faults);
        Self {
            id,
            spec,
            faults,
            is_recorded,
            refused: AtomicU64::new(0),
            replayed: AtomicUsize::new(0),
        }
    }

    pub(crate) fn count_refusal(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// The reply of the trace to a request of this seed, or else the one whose turn it is; `None`
    /// without a trace.
    pub(crate) fn traced(&self, seed: i64) -> Option<&TracedReply> {
        let trace = &self.spec.trace;
        let turn = || trace.get(self.replayed.fetch_add(1, Ordering::Relaxed) % trace.len().max(1));
        trace.iter().find(|reply| reply.seed == Some(seed)).or_else(turn)
    }

    pub(crate) fn ledger(&self, mut calls: Vec<CallRecord>) -> Ledger {
        calls.sort_by_key(|call| call.received_ns);
        Ledger { run: self.id.clone(), calls, refused: self.refused.load(Ordering::Relaxed) }
    }
}
