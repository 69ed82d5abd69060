//! The table of configurations: what the paced server imitates.

use std::collections::BTreeMap;

use lab_family::InputError;
use rand::Rng;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::runtimes::replay::Reply;

/// The name that records give the table of configurations.
pub(crate) const TABLE: &str = "servers";

/// The table of configurations.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Table {
    /// The format's version, 1.
    pub(crate) schema: u32,
    /// A row per configuration. Further keys (source, published figures) are for the report.
    pub(crate) config: BTreeMap<String, Row>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// For people.
    pub(crate) title: String,
    /// Layers on the GPU per agent; -1 leaves it to the server.
    pub(crate) num_gpu: Vec<i64>,
    /// Context length per agent.
    pub(crate) num_ctx: Vec<i64>,
    /// Sampling temperature.
    pub(crate) temperature: f64,
    /// Time to first token.
    pub(crate) ttft_ms: LogNormal,
    /// Tokens per second of one stream with 1, 2, … active requests.
    pub(crate) rate_tokens_per_s: Vec<f64>,
    /// Jitter of inter-token times (sd of the logarithm).
    pub(crate) itl_sigma_log: f64,
    /// Tokens of all of an agent's calls together.
    pub(crate) reply_tokens: Quantiles,
    /// The share of them in the first call.
    pub(crate) first_call_share: f64,
    /// Rows of the source behind this one.
    pub(crate) rows: u32,
    /// A trace of `lab sim record`, relative to this table's folder, that the paced server replays
    /// in real time: tokens, texts and times are the trace's. The n-th call of a run gets the n-th
    /// reply, and so on from the first. `ttft_ms` and `rate_tokens_per_s` then only forecast.
    pub(crate) trace: Option<String>,
    /// Those of `trace`.
    #[serde(skip)]
    pub(crate) replies: Vec<Reply>,
}

/// A log-normal distribution.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogNormal {
    /// Median.
    pub(crate) median: f64,
    /// Standard deviation of the natural logarithm.
    pub(crate) sigma_log: f64,
}

/// A distribution by its quantiles, linear between them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quantiles {
    /// Rising from 0 to 1.
    pub(crate) probability: Vec<f64>,
    /// The value at each.
    pub(crate) tokens: Vec<f64>,
}

impl Table {
    /// Reads and checks a table.
    ///
    /// # Errors
    /// Names the file and the key.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, InputError> {
        let table: Self = toml::from_str(text).map_err(|error| InputError::text(file, &error))?;
        for (name, row) in &table.config {
            row.check(file, name)?;
        }
        Ok(table)
    }
}

/// Pairs of configurations that the paced server treats alike: a second A/A. A real server also
/// reads the options that a treatment leaves out.
pub(crate) fn equal_configurations(
    section: &toml::Table,
    attachments: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let is_paced = section.get("servers").and_then(toml::Value::as_str) == Some("paced");
    let text = attachments.get(TABLE).filter(|_| is_paced);
    let rows = text.and_then(|text| Table::parse(TABLE, text).ok()).unwrap_or_default().config;
    let rows: Vec<(String, String)> =
        rows.into_iter().map(|(name, row)| (name, row.treatment())).collect();
    let mut pairs = Vec::new();
    for (index, (first, treatment)) in rows.iter().enumerate() {
        let equal = rows[index + 1..].iter().filter(|(_, other)| other == treatment);
        pairs.extend(equal.map(|(second, _)| (first.clone(), second.clone())));
    }
    pairs
}

/// The trace of each configuration that has one, of a record's attachments.
pub(crate) fn traces(attachments: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let text = attachments.get(TABLE);
    let rows = text.and_then(|text| Table::parse(TABLE, text).ok()).unwrap_or_default().config;
    rows.into_iter().filter_map(|(name, row)| Some((name, row.trace?))).collect()
}

impl Row {
    fn check(&self, file: &str, name: &str) -> Result<(), InputError> {
        let error = |key: &str, message: &str| {
            Err(InputError::value(file, &format!("config.{name}.{key}"), message))
        };
        let Quantiles { probability, tokens } = &self.reply_tokens;
        if probability.len() != tokens.len() || probability.is_empty() {
            return error(
                "reply_tokens",
                "needs as many tokens as probabilities, and at least one",
            );
        }
        if !probability.is_sorted() || !tokens.is_sorted() || tokens[0] < 1.0 {
            return error("reply_tokens", "must rise, from at least one token");
        }
        if self.rate_tokens_per_s.iter().any(|&rate| rate <= 0.0)
            || self.rate_tokens_per_s.is_empty()
        {
            return error("rate_tokens_per_s", "needs at least one rate, all above 0");
        }
        if self.num_gpu.is_empty() || self.num_ctx.is_empty() {
            return error("num_ctx", "needs a value per agent");
        }
        if !(self.ttft_ms.median > 0.0 && self.ttft_ms.sigma_log >= 0.0) {
            return error("ttft_ms", "needs a median above 0 and a sigma_log of at least 0");
        }
        if !(0.0..=1.0).contains(&self.first_call_share) {
            return error("first_call_share", "must lie between 0 and 1");
        }
        Ok(())
    }

    /// What makes two rows the same treatment: all that a server or a client can notice. Draws are
    /// addressed by this, so two rows with equal parameters are a second A/A pair.
    pub(crate) fn treatment(&self) -> String {
        if let Some(file) = &self.trace {
            return format!("trace {file}");
        }
        let rates = &self.rate_tokens_per_s;
        let tokens = &self.reply_tokens;
        format!("{:?} {rates:?} {:?} {tokens:?}", self.ttft_ms, self.itl_sigma_log)
    }
}

impl Quantiles {
    pub(crate) fn draw(&self, generator: &mut impl Rng) -> f64 {
        let p: f64 = generator.random();
        let above = self.probability.partition_point(|&probability| probability < p);
        if above == 0 {
            return self.tokens[0];
        }
        let Some(&high) = self.probability.get(above) else {
            return self.tokens[self.tokens.len() - 1];
        };
        let low = self.probability[above - 1];
        let share = (p - low) / (high - low);
        self.tokens[above - 1] + share * (self.tokens[above] - self.tokens[above - 1])
    }
}
