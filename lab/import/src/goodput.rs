//! Goodput: requests a second that meet an objective. A run has one, for all of its requests met
//! the same server in the same minutes.

use std::str::FromStr;

use crate::{Benchmark, Contents, Sample};

/// What an objective may name of a request.
const KEYS: [&str; 3] = ["ttft_ms", "itl_ms", "reply_ms"];
/// Of these, the time that a reply of one token does not have.
const GAP: usize = 1;
const NS_PER_MS: f64 = 1e6;

/// The times of a request as [`KEYS`] has them, in nanoseconds, as far as they are told.
pub(crate) type Times = [Option<f64>; 3];

/// What each request should meet: a time for the first token, one between tokens in its mean, one
/// for the whole reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo(Times);

/// No objective, or none that a file can be held to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SloError {
    /// A word of nobody's.
    #[error(
        "`{0}` is no key of --slo; give ttft_ms, itl_ms or reply_ms, as in ttft_ms=200,itl_ms=50"
    )]
    Unknown(String),
    /// No time.
    #[error("`{key}` of --slo is `{value}`; give milliseconds above 0, as in {key}=200")]
    Value {
        /// Of these milliseconds.
        key: &'static str,
        /// What stands there.
        value: String,
    },
    /// Nobody knows which one counts.
    #[error("`{0}` of --slo is there twice; give it once")]
    Twice(&'static str),
    /// Not what a load generator writes of each request.
    #[error("{0} does not say which requests it holds and how long all took; leave out --slo")]
    NoRequests(String),
    /// The generator does not measure it.
    #[error("{file} tells no `{key}` of its requests; leave it out of --slo")]
    Untold {
        /// The file.
        file: String,
        /// What it lacks.
        key: &'static str,
    },
}

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut most = Times::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let at = KEYS.iter().position(|key| *key == name);
            let at = at.ok_or_else(|| SloError::Unknown(name.to_owned()))?;
            let ms = value.parse().ok().filter(|ms: &f64| *ms > 0.0 && ms.is_finite());
            let Some(ms) = ms else {
                return Err(SloError::Value { key: KEYS[at], value: value.to_owned() });
            };
            if most[at].replace(ms * NS_PER_MS).is_some() {
                return Err(SloError::Twice(KEYS[at]));
            }
        }
        Ok(Self(most))
    }
}

impl Slo {
    fn is_met(&self, request: &Times) -> bool {
        let is_within = |at: usize| match (self.0[at], request[at]) {
            (Some(most), Some(time)) => time <= most,
            (Some(_), None) => at == GAP,
            (None, _) => true,
        };
        (0..KEYS.len()).all(is_within)
    }
}

/// The requests of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// Of each one that was answered.
    pub(crate) answered: Vec<Times>,
    /// How long all took, where the file says it.
    pub(crate) took_ns: f64,
    /// Else when the first one began and the last one ended.
    span_ns: Option<[f64; 2]>,
}

impl Requests {
    /// One was under way from here to there.
    pub(crate) fn was_under_way(&mut self, from_ns: f64, to_ns: f64) {
        let [first, last] = self.span_ns.unwrap_or([from_ns, to_ns]);
        self.span_ns = Some([first.min(from_ns), last.max(to_ns)]);
    }

    fn ran_ns(&self) -> f64 {
        self.took_ns + self.span_ns.map_or(0.0, |[first, last]| last - first)
    }
}

impl Contents {
    /// The goodput of the file's run, as the time that a request took which met the objective.
    ///
    /// # Errors
    /// [`SloError`] where the file does not tell what the objective names.
    pub fn goodput(&self, slo: &Slo) -> Result<Benchmark, SloError> {
        let Benchmark { tool, file, .. } = &self.benchmarks[0];
        let Requests { answered, .. } = &self.requests;
        let ran_ns = self.requests.ran_ns();
        if ran_ns <= 0.0 {
            return Err(SloError::NoRequests(file.clone()));
        }
        let is_told = |at: usize| answered.iter().any(|times| times[at].is_some());
        let is_lacking = |at: &usize| slo.0[*at].is_some() && !is_told(*at);
        if !answered.is_empty()
            && let Some(at) = (0..KEYS.len()).find(is_lacking)
        {
            return Err(SloError::Untold { file: file.clone(), key: KEYS[at] });
        }
        let good = answered.iter().filter(|times| slo.is_met(times)).count();
        let sample = Sample { ns: ran_ns / good as f64, fork: None };
        let goodput = Benchmark::new(*tool, file, "goodput", vec![sample]);
        Ok(Benchmark { is_rate: true, ..goodput })
    }
}
