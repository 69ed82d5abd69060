//! What can be compared of runs.

/// What can be compared; of each less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Time from start to end.
    Wall,
    /// CPU time in and outside the kernel.
    Cpu,
    /// CPU time outside the kernel.
    User,
    /// CPU time in the kernel.
    System,
    /// Peak resident memory.
    Rss,
    /// Page faults.
    Faults,
    /// Context switches.
    Switches,
    /// Blocks of 512 bytes read from and written to disks.
    Blocks,
    /// Bytes read from anything.
    Read,
    /// Bytes written to anything.
    Written,
    /// Instructions executed outside the kernel.
    Instructions,
    /// Cycles of the processor's clock outside the kernel.
    Cycles,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 12] = [
        Self::Wall,
        Self::Cpu,
        Self::User,
        Self::System,
        Self::Rss,
        Self::Faults,
        Self::Switches,
        Self::Blocks,
        Self::Read,
        Self::Written,
        Self::Instructions,
        Self::Cycles,
    ];

    /// As a command line names it, and what it is.
    pub fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Wall => ("wall", "Time from start to end"),
            Self::Cpu => ("cpu", "CPU time in and outside the kernel"),
            Self::User => ("user", "CPU time outside the kernel"),
            Self::System => ("system", "CPU time in the kernel"),
            Self::Rss => ("rss", "Peak resident memory"),
            Self::Faults => ("faults", "Page faults"),
            Self::Switches => ("switches", "Context switches"),
            Self::Blocks => ("blocks", "Blocks of 512 bytes read from and written to disks"),
            Self::Read => ("read", "Bytes read from anything: files, pipes, terminals"),
            Self::Written => ("written", "Bytes written to anything"),
            Self::Instructions => ("instructions", "Instructions executed outside the kernel"),
            Self::Cycles => ("cycles", "Cycles of the processor's clock outside the kernel"),
        }
    }

    /// Whether it is a time, of which less is faster.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Wall | Self::Cpu | Self::User | Self::System)
    }

    /// Whether it is a count, which may be 0.
    pub(super) fn is_count(self) -> bool {
        matches!(self, Self::Faults | Self::Switches | Self::Blocks)
    }

    /// As tables name it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::Cpu => "CPU time",
            Self::User => "user CPU",
            Self::System => "system CPU",
            Self::Rss => "peak RSS",
            Self::Faults => "page faults",
            Self::Switches => "context switches",
            Self::Blocks => "disk blocks",
            Self::Read => "bytes read",
            Self::Written => "bytes written",
            Self::Instructions => "instructions",
            Self::Cycles => "cycles",
        }
    }
}
