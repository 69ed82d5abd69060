//! What a variant reads and writes: one [`RunSpec`] line in, one [`RunOutcome`] line out.
//!
//! Beside the command line that kits share, in `lab/variant`, this is the only crate of `lab/` that
//! a variant sees. It holds data, the formulas by which an answer can be checked, and no behaviour:
//! no clock, no process, no network. Integers carry their unit in the name; every time is
//! `CLOCK_MONOTONIC` in nanoseconds, so the readings of a variant and of a server on the same
//! machine can be compared.

#![forbid(unsafe_code)]

/// Constants for names that are written in one crate and read in another.
macro_rules! names {
    ($($constant:ident = $name:literal),* $(,)?) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $constant: &str = $name;
        )*
    };
}
pub(crate) use names;

pub mod engines;
pub mod kept;
pub mod ledgers;
pub mod runtimes;
pub mod schedulers;
pub mod workflows;

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error, MapAccess, Visitor},
};

/// The version of everything in this crate. A variant refuses a spec of another version (exit code
/// 2).
pub const PROTOCOL: u32 = 1;

/// Exit codes of a variant.
pub mod exit {
    /// The outcome was written and says `ok` or `unsupported`.
    pub const DONE: i32 = 0;
    /// The outcome was written and says `failed`, with a reason.
    pub const FAILED: i32 = 1;
    /// The spec could not be read; nothing was run.
    pub const BAD_SPEC: i32 = 2;
}

/// One execution of a variant in a cell, as one JSON line on the variant's standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec<W> {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Names the run in messages and is echoed in the outcome, for example
    /// `b2-tokio_default-ctx512`.
    pub run: String,
    /// What to do; the type belongs to the variant's family, for example [`runtimes::Workload`].
    pub workload: W,
}

impl<W: DeserializeOwned> RunSpec<W> {
    /// Reads a spec from one line.
    ///
    /// # Errors
    /// A sentence that names the unknown or missing key, or the version that was expected.
    pub fn from_line(line: &str) -> Result<Self, String> {
        let spec: Self = serde_json::from_str(line)
            .map_err(|error| format!("cannot read the run spec: {error}"))?;
        if spec.protocol != PROTOCOL {
            return Err(format!(
                "the run spec is protocol {}, this variant speaks {PROTOCOL}",
                spec.protocol
            ));
        }
        Ok(spec)
    }
}

/// How a run ended. A failure is a row like any other, and never a fast success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The work was done.
    Ok,
    /// It was not, and the outcome's `reason` says why.
    Failed,
    /// The variant cannot do this workload.
    Unsupported,
}

/// What a run left, as one JSON line on the variant's standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOutcome {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// [`RunSpec::run`].
    pub run: String,
    /// How it ended.
    pub status: Status,
    /// One sentence, present unless `status` is `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whole-run numbers, unit in the name (`cpu_streaming_ns`, `rss_high_water_bytes`).
    #[serde(default, deserialize_with = "once_each")]
    pub counters: BTreeMap<String, u64>,
    /// Raw samples as columns of integers, unit in the name (`token_received_ns`). The family's
    /// page says which columns belong together row by row.
    #[serde(default, deserialize_with = "once_each")]
    pub samples: BTreeMap<String, Vec<i64>>,
}

/// A map in which no key stands twice: of two numbers of one name nobody knows which is meant.
fn once_each<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct OnceEach<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for OnceEach<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<String, V>()? {
                if found.contains_key(&key) {
                    return Err(A::Error::custom(format!("`{key}` stands there twice")));
                }
                found.insert(key, value);
            }
            Ok(found)
        }
    }

    deserializer.deserialize_map(OnceEach(PhantomData))
}

impl RunOutcome {
    /// An outcome without numbers: a failure or a refusal.
    pub fn without_numbers(run: &str, status: Status, reason: impl Into<String>) -> Self {
        Self {
            protocol: PROTOCOL,
            run: run.to_owned(),
            status,
            reason: Some(reason.into()),
            counters: BTreeMap::new(),
            samples: BTreeMap::new(),
        }
    }
}

/// What `--describe` prints: who a program is, so that nobody has to trust a file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The folder above the variant's folder.
    pub family: String,
    /// The variant's folder.
    pub variant: String,
    /// The crate or program whose behaviour is measured.
    pub measures: String,
    /// The version of it that was built in.
    pub version: String,
    /// The features of it that the variant asks for.
    pub features: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    type Spec = RunSpec<runtimes::Workload>;

    const LINE: &str = concat!(
        r#"{"protocol":1,"run":"r","workload":{"arrangement":"solo","#,
        r#""stall_timeout_ms":5,"ingest_dir":null,"agents":[]}}"#
    );

    #[test]
    fn a_spec_is_read_back_as_written() {
        let spec = Spec::from_line(LINE).unwrap();
        let line = serde_json::to_string(&spec).unwrap();
        assert_eq!(Spec::from_line(&line).unwrap(), spec);
    }

    #[test]
    fn an_unknown_key_is_named() {
        let error =
            Spec::from_line(&LINE.replacen("\"run\"", "\"hurry\":true,\"run\"", 1)).unwrap_err();
        assert!(error.contains("hurry"), "{error}");
    }

    #[test]
    fn another_protocol_version_is_refused() {
        let error = Spec::from_line(&LINE.replacen("1", "2", 1)).unwrap_err();
        assert_eq!(error, "the run spec is protocol 2, this variant speaks 1");
    }

    /// Those of the families' pages have every key that is written, and no other.
    #[test]
    fn examples_are_read_back_as_written() {
        fn check<W: DeserializeOwned + Serialize>(spec: &str, outcome: &str) {
            let value = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
            let read = RunSpec::<W>::from_line(spec).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), value(spec));
            let read: RunOutcome = serde_json::from_str(outcome).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), value(outcome));
        }
        macro_rules! check {
            ($family:ident) => {
                check::<$family::Workload>(
                    include_str!(concat!("examples/", stringify!($family), ".spec.json")),
                    include_str!(concat!("examples/", stringify!($family), ".outcome.json")),
                )
            };
        }
        check!(engines);
        check!(ledgers);
        check!(runtimes);
        check!(schedulers);
        check!(workflows);
    }
}
