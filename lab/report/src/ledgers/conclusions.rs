//! What the published report concludes, each sentence judged on this machine.

use super::answers::published;
use super::causes::{Cause, Finding, library_shards, margin};
use super::evidence::{Evidence, Side};
use super::sweep::{Sweep, with};
use crate::contrast::Contrasted;
use crate::effect::{Effect, Series, log_ratios, scaled};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// CPUs of the machine that the published report was made on.
const PUBLISHED_CPUS: u32 = 64;
const REPRODUCED: &str = "reproduced";
const REFUTED: &str = "refuted";
const CANNOT_TELL: &str = "cannot tell";

/// One conclusion, judged.
struct Judgement {
    statement: &'static str,
    needs: &'static str,
    measured: String,
    n: Option<usize>,
    verdict: String,
}

impl Judgement {
    /// The shards were counted and not timed; everything else rests on times.
    fn withhold(&mut self) {
        if [REPRODUCED, REFUTED].contains(&self.verdict.as_str()) {
            self.verdict = "withheld: A/A failed".to_owned();
        }
    }
}

pub(super) fn write(sweep: &Sweep, causes: &[Cause], contrasted: &[Contrasted], page: &mut Page) {
    page.heading("The published conclusions on this machine");
    let evidence = Evidence { sweep, contrasted };
    let mut judgements = vec![
        evidence.eight_is_best(),
        evidence.sixty_four_is_slower(),
        evidence.cliff(),
        evidence.default_beats_one_thread(),
        evidence.growth_proves_parallelism(),
        evidence.small_loads_want_few(),
        evidence.large_loads_want_all(),
        evidence.one_stream(),
        evidence.keep_the_default(),
        evidence.few_shards(),
    ];
    judgements.extend(causes.iter().map(|cause| of_cause(sweep, cause)));
    if sweep.alarm().is_some() {
        judgements.iter_mut().filter(|one| one.n.is_some()).for_each(Judgement::withhold);
    }
    let mut table = Table::new(&[
        ("statement", "statement"),
        ("needs", "needs"),
        ("measured here", "measured"),
        ("n", "n"),
        ("verdict", "verdict"),
    ]);
    for one in judgements {
        table.row(vec![
            Cell::text(one.statement),
            Cell::text(one.needs),
            Cell::text(one.measured),
            Cell::value(one.n.map(|n| n as f64), Unit::Count),
            Cell::text(one.verdict),
        ]);
    }
    page.table("conclusions", &table);
    page.paragraph(&beyond(sweep.cpus()));
}

/// What this machine cannot show about the published one.
fn beyond(cpus: u32) -> String {
    if cpus >= PUBLISHED_CPUS {
        return format!(
            "This machine has {cpus} CPUs, as many as the published one or more; its topology may \
             differ all the same, and the published report does not say what its was."
        );
    }
    format!(
        "**What {cpus} CPUs cannot show about {PUBLISHED_CPUS}.** With {cpus} CPUs every count \
         above {cpus} shares them: workers are descheduled while they hold a shard's lock or a \
         task, and no more than {cpus} caches ever hold a line. On {PUBLISHED_CPUS} CPUs the same \
         counts run at once: locks are contended by workers that really run, lines move between \
         many caches and perhaps sockets, and stealing has {PUBLISHED_CPUS} queues to look into. \
         So neither the place of the best count (8 of {PUBLISHED_CPUS} in the report), nor the \
         step from 8 to 16, nor the time that a {PUBLISHED_CPUS}-worker pool loses to coherency \
         can be read off these records; what can is the cost of workers that have no CPU, the \
         fixed cost of a run, and whether a second CPU helps at all. \
         `experiments/threads-64.toml` asks the rest of a machine that can answer."
    )
}

/// Overhead and too little work show on any machine; locks and cache lines are contended only by
/// workers that run at once.
fn of_cause(sweep: &Sweep, cause: &Cause) -> Judgement {
    let (statement, at_once) = match cause.name {
        "Too little work per transaction" => {
            ("Cause 1: there is too little work per transaction for many workers", false)
        }
        "Thread overhead" => ("Cause 2: the overhead of threads dominates", false),
        "Contention on shards" => ("Cause 3: workers contend for the map's shards", true),
        _ => ("Cause 4: cache lines move between cores", true),
    };
    let here = sweep.cpus() >= PUBLISHED_CPUS;
    let verdict = match cause.verdict {
        _ if at_once && !here => format!("not testable on {} cores", sweep.cpus()),
        Finding::Supported => REPRODUCED.to_owned(),
        Finding::NotSupported => REFUTED.to_owned(),
        Finding::CannotTell | Finding::NotMeasured => CANNOT_TELL.to_owned(),
        Finding::Withheld => "withheld: A/A failed".to_owned(),
    };
    let needs = match at_once {
        true => "64 CPUs, so that 64 workers run at once; the test of the cause above",
        false => "the test of the cause above",
    };
    let whom = if here { "" } else { ", for workers beyond the CPUs" };
    Judgement {
        statement,
        needs,
        measured: format!("{}{whom}", cause.verdict.word()),
        n: cause.decided_by.as_ref().map(Effect::n),
        verdict,
    }
}

impl Evidence<'_, '_> {
    fn eight_is_best(&self) -> Judgement {
        let (one, default) = (self.workers("8", "1"), self.workers("8", "default"));
        let against_one = self.side("eight_against_one", one.as_ref());
        let verdict = match (against_one, self.side("eight_against_default", default.as_ref())) {
            (Side::Faster, Side::Faster) => REPRODUCED,
            (Side::Slower | Side::Equal, _) | (_, Side::Slower | Side::Equal) => REFUTED,
            _ => CANNOT_TELL,
        };
        Judgement {
            statement: "8 workers are the best for 100 streams of 100: 3.2 times one worker, 1.8 \
                        times the default",
            needs: "more than 8 CPUs, so that 8 is a choice",
            measured: format!(
                "{}; {}",
                self.say("eight_against_one", one.as_ref()),
                self.say("eight_against_default", default.as_ref())
            ),
            n: one.as_ref().map(Effect::n),
            verdict: self.gated_by(9, verdict),
        }
    }

    fn sixty_four_is_slower(&self) -> Judgement {
        let effect = self.workers("8", "64");
        Judgement {
            statement: "Beyond the best count more workers are slower: 64 take 1.8 times as long \
             as 8",
            needs: "64 CPUs, so that 64 workers run at once",
            measured: self.say("eight_against_64", effect.as_ref()),
            n: effect.as_ref().map(Effect::n),
            verdict: self.gated_by(
                PUBLISHED_CPUS,
                reproduced(Side::Faster, self.side("eight_against_64", effect.as_ref())),
            ),
        }
    }

    fn cliff(&self) -> Judgement {
        let effect = self.workers("16", "8");
        Judgement {
            statement: "From 8 to 16 workers the time almost doubles",
            needs: "16 CPUs",
            measured: self.say("sixteen_against_eight", effect.as_ref()),
            n: effect.as_ref().map(Effect::n),
            verdict: self.gated_by(
                16,
                reproduced(Side::Slower, self.side("sixteen_against_eight", effect.as_ref())),
            ),
        }
    }

    fn default_beats_one_thread(&self) -> Judgement {
        let effect = self.workers("default", "current_thread");
        Judgement {
            statement: "The default runtime is 1.6 to 2.3 times as fast as a current_thread one",
            needs: "2 CPUs for the direction; the size depends on the machine",
            measured: self.say("default_against_current_thread", effect.as_ref()),
            n: effect.as_ref().map(Effect::n),
            verdict: self.gated_by(
                2,
                reproduced(
                    Side::Faster,
                    self.side("default_against_current_thread", effect.as_ref()),
                ),
            ),
        }
    }

    /// Time per transaction with many streams over that with one, at a level of workers.
    fn growth(&self, variant: &str, workers: &str) -> Series {
        let Some(rest) = published(self.sweep) else { return Series::new() };
        let at = |streams: &str| {
            let cell = with(&with(&rest, "streams", streams), "workers", workers);
            self.sweep.series(variant, &cell, "ns_per_transaction")
        };
        log_ratios(&at("1"), &at("10000"))
    }

    fn growth_proves_parallelism(&self) -> Judgement {
        let reference = self.sweep.reference();
        let all = self.growth(reference, "default");
        let alone = self.growth(reference, "1");
        let excess = Effect::difference(&alone, &scaled(&all, 0.5));
        let verdict = match &excess {
            Some(effect) if effect.surely_above(0.0) => REFUTED,
            Some(effect) if effect.surely_below(0.0) => REPRODUCED,
            _ => CANNOT_TELL,
        };
        let shown = |series: Series| {
            Effect::of(series.into_values().collect())
                .map_or("not measured".to_owned(), |effect| effect.times())
        };
        let floor = self.sweep.floor().map_or(Series::new(), |floor| self.growth(floor, "1"));
        Judgement {
            statement: "Throughput grows tenfold from 1 to 10,000 streams, which proves that \
                        multi-threading works",
            needs: "the same step on one worker: if that has half of the growth, threads are not \
                    what it shows",
            measured: format!(
                "growth with the default workers {}, with one worker {}, on the floor {}; {}; {}",
                shown(all),
                shown(alone),
                shown(floor),
                self.say("streams_10000_against_1", None),
                self.say("streams_10000_against_1_sync", None)
            ),
            n: excess.as_ref().map(Effect::n),
            verdict: verdict.to_owned(),
        }
    }

    fn small_loads_want_few(&self) -> Judgement {
        let cpus = self.cpus().to_string();
        let loads = ["1", "10", "100"];
        let effects: Vec<(&str, Effect)> = loads
            .into_iter()
            .filter_map(|streams| Some((streams, self.streams(streams, &cpus, "1")?)))
            .collect();
        let all = |says: fn(&Effect) -> bool| {
            !effects.is_empty() && effects.iter().all(|(_, effect)| says(effect))
        };
        let verdict = match (all(|e| e.surely_above(0.0)), all(|e| e.surely_below(0.0))) {
            (true, _) => REPRODUCED,
            (_, true) => REFUTED,
            _ => CANNOT_TELL,
        };
        Judgement {
            statement: "Small loads (up to 100 streams) want fewer workers than CPUs",
            needs: "2 CPUs; here the only smaller count may be 1",
            measured: listed(&format!("{cpus} workers against 1"), &effects),
            n: effects.first().map(|(_, effect)| effect.n()),
            verdict: self.gated_by(2, verdict),
        }
    }

    fn large_loads_want_all(&self) -> Judgement {
        let cpus = self.cpus().to_string();
        let effects: Vec<(&str, Effect)> = ["1000", "10000"]
            .into_iter()
            .filter_map(|streams| Some((streams, self.streams(streams, &cpus, "1")?)))
            .collect();
        let any_slower = effects.iter().any(|(_, effect)| effect.surely_above(0.0));
        let all = !effects.is_empty() && effects.iter().all(|(_, e)| e.surely_below(0.0));
        let verdict = match (any_slower, all) {
            (true, _) => REFUTED,
            (_, true) => REPRODUCED,
            _ => CANNOT_TELL,
        };
        Judgement {
            statement: "Large loads (1,000 streams and more) want as many workers as CPUs",
            needs: "2 CPUs; whether it holds for 64 needs 64",
            measured: listed(&format!("{cpus} workers against 1"), &effects),
            n: effects.first().map(|(_, effect)| effect.n()),
            verdict: self.gated_by(2, verdict),
        }
    }

    fn one_stream(&self) -> Judgement {
        let effect = self.streams("1", "default", "current_thread");
        let margin = margin(self.sweep);
        let verdict = match &effect {
            Some(effect) if effect.surely_above(-margin) => REPRODUCED,
            Some(effect) if effect.surely_below(0.0) => REFUTED,
            _ => CANNOT_TELL,
        };
        Judgement {
            statement: "One stream needs no more than a current_thread runtime",
            needs: "any machine; one CPU-bound stream, not a TCP connection",
            measured: self.say("default_against_current_thread_at_1_stream", effect.as_ref()),
            n: effect.as_ref().map(Effect::n),
            verdict: verdict.to_owned(),
        }
    }

    fn keep_the_default(&self) -> Judgement {
        let rest = published(self.sweep);
        let best = rest.as_ref().and_then(|rest| {
            let levels: Vec<String> = (1..=self.cpus()).map(|n| n.to_string()).collect();
            self.sweep.best_within_cpus(self.sweep.reference(), rest, &levels)
        });
        let effect = best.and_then(|best| self.workers("default", &best.to_string()));
        let margin = margin(self.sweep);
        let verdict = match &effect {
            Some(effect) if effect.surely_below(margin) => REPRODUCED,
            Some(effect) if effect.surely_above(0.0) => REFUTED,
            _ => CANNOT_TELL,
        };
        let best = best.map_or("?".to_owned(), |best| best.to_string());
        Judgement {
            statement: "Keep the default number of workers: it costs nothing that matters",
            needs: "any machine, for its own CPUs",
            measured: effect.as_ref().map_or("not measured".to_owned(), |effect| {
                format!("default against {best}, the best up to the CPUs: {}", effect.percent())
            }),
            n: effect.as_ref().map(Effect::n),
            verdict: verdict.to_owned(),
        }
    }

    fn few_shards(&self) -> Judgement {
        let rule = u64::from(self.cpus() * 4).next_power_of_two();
        let shards = library_shards(self.sweep);
        let verdict = match shards {
            Some(shards) if shards == rule => REFUTED,
            _ => CANNOT_TELL,
        };
        Judgement {
            statement: "The map likely has 16 to 32 shards (on 64 CPUs)",
            needs: "the rule by which the library chooses",
            measured: shards.map_or("not counted".to_owned(), |shards| {
                format!(
                    "{shards} shards on {} CPUs; four per CPU, rounded up to a power of two, is \
                     {rule} here and 256 on 64",
                    self.cpus()
                )
            }),
            n: None,
            verdict: verdict.to_owned(),
        }
    }
}

/// A statement says where a level lies; this is where it does.
fn reproduced(said: Side, found: Side) -> &'static str {
    match found {
        Side::Unknown => CANNOT_TELL,
        found if found == said => REPRODUCED,
        _ => REFUTED,
    }
}

fn listed(what: &str, effects: &[(&str, Effect)]) -> String {
    if effects.is_empty() {
        return "not measured".to_owned();
    }
    let each = effects.iter().map(|(streams, effect)| format!("{streams}: {}", effect.percent()));
    format!("{what}, by streams: {}", each.collect::<Vec<_>>().join("; "))
}
