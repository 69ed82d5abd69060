//! How far a sweep is, for the person who waits for it.

/// Where a sweep is when a run is about to start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position<'a> {
    /// How much of the forecast is done, in milliseconds.
    pub done_ms: u64,
    /// The forecast.
    pub total_ms: u64,
    /// Cells that are done, of all blocks: each is one run of one variant. Runs of rounds come on
    /// top, as many as the questions need.
    pub cells_done: usize,
    /// All of them; 0 where nothing is recorded.
    pub cells: usize,
    /// What disturbed a run or a window of short runs most so far: a share of 0 where nothing did,
    /// none while that is not known.
    pub worst_noise: Option<Disturbance>,
    /// What comes.
    pub label: &'a str,
}

/// What took CPU time beside a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbance {
    /// `steal` or `other processes`.
    pub cause: &'static str,
    /// The least share that it can have had of the machine's CPU time.
    pub share: f64,
}

/// Tells a person how it goes.
pub trait Progress {
    /// A sentence.
    fn note(&mut self, sentence: &str);
    /// A run is about to start.
    fn at(&mut self, position: &Position<'_>);
}
