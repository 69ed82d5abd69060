//! What can be seen of servers from outside: requests, and requests that were made at once.

/// TR115 takes a first token after this many seconds for a sign of contention.
pub const LATE_S: f64 = 3.0;

/// What was seen at one moment, by subject: a server, all of them, or a variant of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Since the watch, or the record, began.
    pub at_ns: u64,
    /// What was seen of whom.
    pub seen: Vec<(String, Seen)>,
}

/// One observation.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// A request.
    Call(Call),
    /// Requests that were made at once.
    Round(Round),
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With the last line of its reply.
    Answered,
    /// In any other way.
    Failed,
    /// Not within its time, which is a failure too.
    TimedOut,
    /// As if it had been answered, and without a token, which is a failure too.
    Empty,
}

impl Ending {
    /// As metrics name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Empty => "empty",
        }
    }
}

/// A request, as its client saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// How it ended.
    pub outcome: Ending,
    /// Why it failed.
    pub reason: Option<String>,
    /// From the request to the first token, be it of a thought or of the answer.
    pub first_token_s: Option<f64>,
    /// From the request to the first token of the answer; `None` where there was only thought.
    pub first_answer_s: Option<f64>,
    /// Whether the model thought before it answered.
    pub thought: bool,
    /// From the first token to the last.
    pub streaming_s: f64,
    /// Tokens of the reply, thoughts among them: what the server counts, or else the lines.
    pub tokens: u64,
    /// Tokens of the prompt, where the server says.
    pub prompt_tokens: Option<u64>,
    /// Those of them that it had in its cache.
    pub cached_tokens: Option<u64>,
    /// Times between two lines with text; empty where a record kept none.
    pub gaps_s: Vec<f64>,
}

impl Call {
    /// A request without a whole reply.
    pub fn failed(outcome: Ending, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            reason: Some(reason.into()),
            first_token_s: None,
            first_answer_s: None,
            thought: false,
            streaming_s: 0.0,
            tokens: 0,
            prompt_tokens: None,
            cached_tokens: None,
            gaps_s: Vec::new(),
        }
    }

    /// Whether the first token came after [`LATE_S`].
    pub fn is_late(&self) -> bool {
        self.first_token_s.is_some_and(|seconds| seconds > LATE_S)
    }

    /// The rate of the reply while it streamed. The first line's tokens were there at its
    /// beginning; where lines have several, each counts for as many.
    pub(crate) fn tokens_per_s(&self) -> Option<f64> {
        let lines = match self.gaps_s.len() {
            0 => self.tokens,
            gaps => gaps as u64 + 1,
        };
        let streamed = self.tokens as f64 * lines.saturating_sub(1) as f64 / lines.max(1) as f64;
        (streamed > 0.0 && self.streaming_s > 0.0).then(|| streamed / self.streaming_s)
    }
}

/// Requests, or whole agents of a record, that were there at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// How long each took; empty where one of them failed.
    pub together_s: Vec<f64>,
    /// How long each takes alone, where that is known.
    pub alone_s: Option<Vec<f64>>,
    /// From the first one's start to the last one's end.
    pub wall_s: f64,
    /// Whether the first token of any was late.
    pub late: bool,
}

impl Round {
    /// TR115's figure: durations together over N × wall time. It cannot see servers that slow each
    /// other down, for both of its parts grow.
    pub(crate) fn efficiency_as_published(&self) -> Option<f64> {
        self.share(&self.together_s)
    }

    /// Durations alone over N × wall time.
    pub(crate) fn efficiency_true(&self) -> Option<f64> {
        self.share(self.alone_s.as_deref()?)
    }

    /// So many times faster than one after the other.
    pub(crate) fn times(&self, efficiency: Option<f64>) -> Option<f64> {
        Some(efficiency? * self.together_s.len() as f64)
    }

    /// `None` for one request, which has nobody to be at once with.
    fn share(&self, durations_s: &[f64]) -> Option<f64> {
        let count = self.together_s.len();
        let known = count > 1 && durations_s.len() == count && self.wall_s > 0.0;
        known.then(|| durations_s.iter().sum::<f64>() / (count as f64 * self.wall_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_on_one_card_look_perfect_as_published() {
        // Each alone takes 1 s, both at once 2 s.
        let round = Round {
            together_s: vec![2.0, 2.0],
            alone_s: Some(vec![1.0, 1.0]),
            wall_s: 2.0,
            late: false,
        };
        let published = round.efficiency_as_published();
        assert_eq!((published, round.times(published)), (Some(1.0), Some(2.0)));
        let real = round.efficiency_true();
        assert_eq!((real, round.times(real)), (Some(0.5), Some(1.0)));
    }

    #[test]
    fn one_request_and_a_failed_round_have_no_efficiency() {
        let one = Round { together_s: vec![1.0], alone_s: None, wall_s: 1.0, late: false };
        assert_eq!(one.efficiency_as_published(), None);
        let failed = Round { together_s: vec![], alone_s: None, wall_s: 1.0, late: true };
        assert_eq!(failed.efficiency_as_published(), None);
    }

    #[test]
    fn a_rate_needs_two_tokens() {
        let call = |tokens| Call { streaming_s: 0.5, tokens, ..Call::failed(Ending::Answered, "") };
        assert_eq!((call(1).tokens_per_s(), call(11).tokens_per_s()), (None, Some(20.0)));
        // Three lines of four tokens each.
        let of_lines = Call { gaps_s: vec![0.25; 2], ..call(12) };
        assert_eq!(of_lines.tokens_per_s(), Some(16.0));
    }
}
