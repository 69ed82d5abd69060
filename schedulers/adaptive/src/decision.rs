//! What `choose` answers and what `finish` is told.

/// Where a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arm {
    /// On the Tokio worker that asked.
    Inline,
    /// On the Rayon pool.
    Offload,
}

/// Why a call runs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Nothing was measured of this site yet; the hint decided.
    Cold,
    /// The draw between the two estimates.
    Learned,
    /// A sample of the other arm, paid from the exploration budget.
    Probe,
    /// GR0: a single worker runs nothing but short calls.
    Gr0SingleWorker,
    /// GR1: the estimate is above the cap on inline time.
    Gr1Cap,
    /// GR2: others wait, and the estimate is not short.
    Gr2Pressure,
    /// GR3: a recent inline call of the site was very long.
    Gr3Strike,
}

impl Reason {
    /// Every reason, in the order of their counters.
    pub const ALL: [Self; 7] = [
        Self::Cold,
        Self::Learned,
        Self::Probe,
        Self::Gr0SingleWorker,
        Self::Gr1Cap,
        Self::Gr2Pressure,
        Self::Gr3Strike,
    ];

    /// The reason's name in metrics and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Learned => "learned",
            Self::Probe => "probe",
            Self::Gr0SingleWorker => "gr0",
            Self::Gr1Cap => "gr1",
            Self::Gr2Pressure => "gr2",
            Self::Gr3Strike => "gr3",
        }
    }
}

/// A decision. Hand it to [`crate::Scheduler::finish`] once the call is done; a decision that is
/// dropped, because the call was cancelled or panicked, teaches nothing and costs nothing.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "run the call where the decision says, and finish it"]
pub struct Decision {
    pub(crate) site: u32,
    pub(crate) arm: Arm,
    pub(crate) level: u8,
    pub(crate) reason: Reason,
}

impl Decision {
    /// Where the call has to run.
    #[inline]
    #[must_use]
    pub const fn arm(&self) -> Arm {
        self.arm
    }

    /// Why.
    #[inline]
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }
}

/// What a call cost, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// From the decision to the result in the caller's hands: what is minimised.
    pub total_ns: u64,
    /// The work itself. Inline it defaults to the total. Offloaded it tells how long the call
    /// would have blocked a worker, so that a change is seen without trying.
    pub function_ns: Option<u64>,
    /// From handing the job to the pool to its start. For traces; the total contains it.
    pub queued_ns: Option<u64>,
}

impl Cost {
    /// A cost of which only the total is known.
    #[must_use]
    pub const fn total(total_ns: u64) -> Self {
        Self { total_ns, function_ns: None, queued_ns: None }
    }
}
