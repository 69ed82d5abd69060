//! What a watch knows, as Prometheus scrapes it: OpenMetrics text by the crate of that project.
//!
//! Ours are `lab_watch_*`. The histograms have the names that OpenTelemetry's conventions for
//! generative AI give to what a client sees, and the same once more as of the server, written as
//! Prometheus writes them: dots as underscores, the unit at the end.

use std::sync::atomic::AtomicU64;

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::{Api, Call, Change, Event, Moment, Rule, Seen, Watch};

type Labels = Vec<(&'static str, String)>;
type Histograms = Family<Labels, Histogram>;

/// The buckets that the conventions recommend.
const TO_FIRST_S: [f64; 16] =
    [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
/// The same for the time between two tokens; the first two are ours, for cards are faster now.
const BETWEEN_S: [f64; 15] =
    [0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5];
/// TR115's threshold is none of the recommended bounds.
const LATE_BOUND_S: f64 = crate::LATE_S;

/// Where subjects come from, and so what the histograms say of each.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Servers that are asked for a model: a subject is an address.
    Servers {
        /// Its name.
        model: String,
        /// What they speak.
        api: Api,
    },
    /// A record: a subject is a variant.
    Record,
}

/// The metrics of a watch.
#[derive(Debug)]
pub struct Exposition {
    registry: Registry,
    origin: Origin,
    rounds: Counter,
    calls: Family<Labels, Counter>,
    tokens: Family<Labels, Counter>,
    prompt_tokens: Family<Labels, Counter>,
    cached_tokens: Family<Labels, Counter>,
    values: Family<Labels, Gauge<f64, AtomicU64>>,
    states: Family<Labels, Gauge>,
    fired: Family<Labels, Counter>,
    to_answer: Histograms,
    to_first: Histograms,
    between: Histograms,
}

impl Exposition {
    /// Thresholds are there at once, all else as it is seen.
    pub fn new(rules: &[Rule], origin: Origin) -> Self {
        let mut shown = Self {
            registry: Registry::default(),
            origin,
            rounds: Counter::default(),
            calls: Family::default(),
            tokens: Family::default(),
            prompt_tokens: Family::default(),
            cached_tokens: Family::default(),
            values: Family::default(),
            states: Family::default(),
            fired: Family::default(),
            to_answer: Histograms::new_with_constructor(|| Histogram::new(to_first_s())),
            to_first: Histograms::new_with_constructor(|| Histogram::new(to_first_s())),
            between: Histograms::new_with_constructor(|| Histogram::new(BETWEEN_S)),
        };
        shown.register_ours(rules);
        shown.register_conventional();
        shown
    }

    fn register_ours(&mut self, rules: &[Rule]) {
        let thresholds = Family::<Labels, Gauge<f64, AtomicU64>>::default();
        for rule in rules {
            thresholds.get_or_create(&of_rule(rule)).set(rule.threshold);
        }
        let ours = self.registry.sub_registry_with_prefix("lab_watch");
        ours.register("rounds", "Times at which servers were asked", self.rounds.clone());
        ours.register("calls", "Requests by how they ended", self.calls.clone());
        let says = "Tokens of replies, thoughts among them, as the servers count them";
        ours.register("tokens", says, self.tokens.clone());
        let says = "Tokens of prompts, where servers say";
        ours.register("prompt_tokens", says, self.prompt_tokens.clone());
        let says = "Tokens of prompts that servers had in their caches";
        ours.register("prompt_cached_tokens", says, self.cached_tokens.clone());
        let says = "From the request to the first chunk of the answer, after any thought";
        ours.register_with_unit("first_answer", says, Unit::Seconds, self.to_answer.clone());
        ours.register("value", "Value of a rule's window", self.values.clone());
        ours.register("threshold", "What the value is held against", thresholds);
        ours.register("alert", "0 inactive, 1 pending, 2 firing", self.states.clone());
        ours.register("alerts_fired", "Times that a rule fired", self.fired.clone());
    }

    fn register_conventional(&mut self) {
        let (to_first, between) = ("time_to_first_chunk", "time_per_output_chunk");
        for whose in ["gen_ai_client_operation", "gen_ai_server"] {
            let named = self.registry.sub_registry_with_prefix(whose);
            let says = "From the request to the first chunk, at the client";
            named.register_with_unit(to_first, says, Unit::Seconds, self.to_first.clone());
            let says = "From one chunk to the next, at the client";
            named.register_with_unit(between, says, Unit::Seconds, self.between.clone());
        }
    }

    /// Takes what a watch has just taken, and what changed by it.
    pub fn take(&self, moment: &Moment, watch: &Watch, events: &[Event]) {
        self.rounds.inc();
        for (subject, seen) in &moment.seen {
            let Seen::Call(call) = seen else { continue };
            let labels =
                vec![("subject", subject.clone()), ("outcome", call.outcome.name().to_owned())];
            self.calls.get_or_create(&labels).inc();
            self.take_call(subject, call);
        }
        for event in events.iter().filter(|event| event.state == Change::Firing) {
            let rule = watch.rules().iter().find(|rule| rule.name() == event.rule);
            let labels = rule.map(|rule| of_subject(rule, &event.subject)).unwrap_or_default();
            self.fired.get_or_create(&labels).inc();
        }
    }

    fn take_call(&self, subject: &str, call: &Call) {
        let of_subject = vec![("subject", subject.to_owned())];
        self.tokens.get_or_create(&of_subject).inc_by(call.tokens);
        let told =
            [(&self.prompt_tokens, call.prompt_tokens), (&self.cached_tokens, call.cached_tokens)];
        for (counters, count) in told {
            if let Some(count) = count {
                counters.get_or_create(&of_subject).inc_by(count);
            }
        }
        if let Some(seconds) = call.first_answer_s {
            self.to_answer.get_or_create(&of_subject).observe(seconds);
        }
        let labels = self.conventional(subject);
        if let Some(seconds) = call.first_token_s {
            self.to_first.get_or_create(&labels).observe(seconds);
        }
        if !call.gaps_s.is_empty() {
            let between = self.between.get_or_create(&labels);
            call.gaps_s.iter().for_each(|seconds| between.observe(*seconds));
        }
    }

    /// The text, up to its `# EOF`, with every rule as it stands now.
    pub fn text(&self, watch: &Watch) -> String {
        for reading in watch.readings() {
            let labels = of_subject(reading.rule, reading.subject);
            self.states.get_or_create(&labels).set(reading.state.level());
            if let Some(value) = reading.value {
                self.values.get_or_create(&labels).set(value);
            } else {
                self.values.remove(&labels);
            }
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes everything");
        text
    }

    /// The attributes that the conventions ask for.
    fn conventional(&self, subject: &str) -> Labels {
        let api = match &self.origin {
            Origin::Servers { api, .. } => *api,
            Origin::Record => Api::Ollama,
        };
        let (provider, operation) = api.conventional();
        let mut labels = vec![
            ("gen_ai_operation_name", operation.to_owned()),
            ("gen_ai_provider_name", provider.to_owned()),
        ];
        match &self.origin {
            Origin::Servers { model, .. } => {
                let authority = subject.strip_prefix("http://").unwrap_or(subject);
                let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
                labels.push(("gen_ai_request_model", model.clone()));
                labels.push(("server_address", host.to_owned()));
                labels.push(("server_port", port.to_owned()));
            }
            Origin::Record => labels.push(("lab_variant", subject.to_owned())),
        }
        labels
    }
}

fn to_first_s() -> Vec<f64> {
    let mut bounds = [&TO_FIRST_S[..], &[LATE_BOUND_S]].concat();
    bounds.sort_by(f64::total_cmp);
    bounds
}

fn of_rule(rule: &Rule) -> Labels {
    vec![
        ("rule", rule.name()),
        ("metric", rule.metric.name.to_owned()),
        ("severity", rule.severity.name().to_owned()),
    ]
}

fn of_subject(rule: &Rule, subject: &str) -> Labels {
    let mut labels = of_rule(rule);
    labels.push(("subject", subject.to_owned()));
    labels
}
