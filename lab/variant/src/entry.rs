//! The command line of every variant.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use lab_protocol::{PROTOCOL, RunOutcome, RunSpec, Status, exit};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Identity, RunError, caught};

const ONLY_ARGUMENTS: &str = "the only arguments are --describe and --help";

/// What a run came to, as [`RunOutcome`] has it.
#[derive(Debug, Default)]
pub struct Numbers {
    /// Numbers of the whole run, unit in the name.
    pub counters: BTreeMap<String, u64>,
    /// Columns of integers, unit in the name.
    pub samples: BTreeMap<String, Vec<i64>>,
}

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one [`RunSpec`]
/// line from standard input and writes one [`RunOutcome`] line to standard output.
///
/// `prepare` checks the workload, and its error is a sentence that refuses the spec; `measure` does
/// it, and its error and its panic become an outcome without numbers. The exit codes are those of
/// [`lab_protocol::exit`].
pub fn variant_main<W: DeserializeOwned, P>(
    identity: &Identity,
    prepare: impl FnOnce(W) -> Result<P, String>,
    measure: impl FnOnce(P) -> Result<Numbers, RunError>,
) -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let input = io::stdin().lock();
    let said = answer(identity, &arguments, input, prepare, measure);
    if let Some(sentence) = said.complaint {
        eprintln!("{sentence}");
    }
    let written = said.answer.map_or(Ok(()), |text| writeln!(io::stdout(), "{text}"));
    match written {
        Ok(()) => ExitCode::from(said.code as u8),
        // Whoever asked is gone.
        Err(_) => ExitCode::from(exit::FAILED as u8),
    }
}

/// What a program leaves.
#[derive(Debug, PartialEq)]
struct Said {
    /// For standard output.
    answer: Option<String>,
    /// For standard error.
    complaint: Option<String>,
    code: i32,
}

impl Said {
    fn answer(text: String) -> Self {
        Self { answer: Some(text), complaint: None, code: exit::DONE }
    }

    fn refusal(sentence: String) -> Self {
        Self { answer: None, complaint: Some(sentence), code: exit::BAD_SPEC }
    }
}

/// `input` is given away, for a variant may want to read on while it is measured.
fn answer<W: DeserializeOwned, P>(
    identity: &Identity,
    arguments: &[OsString],
    input: impl BufRead,
    prepare: impl FnOnce(W) -> Result<P, String>,
    measure: impl FnOnce(P) -> Result<Numbers, RunError>,
) -> Said {
    match arguments.iter().map(|argument| argument.to_str()).collect::<Vec<_>>()[..] {
        [] => {}
        [Some("--describe")] => return Said::answer(json(&identity.describe())),
        [Some("--help" | "-h")] => return Said::answer(help(identity)),
        _ => return Said::refusal(ONLY_ARGUMENTS.to_owned()),
    }
    let prepared = read_spec(input).and_then(|spec| Ok((spec.run, prepare(spec.workload)?)));
    match prepared {
        Ok((run, prepared)) => outcome(identity, run, caught(|| measure(prepared))),
        Err(sentence) => Said::refusal(sentence),
    }
}

fn read_spec<W: DeserializeOwned>(mut input: impl BufRead) -> Result<RunSpec<W>, String> {
    let mut line = String::new();
    let length = input.read_line(&mut line);
    match length.map_err(|error| format!("cannot read standard input: {error}"))? {
        0 => Err("standard input ended before a run spec: write one JSON line to it".to_owned()),
        _ => RunSpec::from_line(&line),
    }
}

fn outcome(identity: &Identity, run: String, result: Result<Numbers, RunError>) -> Said {
    match result {
        Ok(Numbers { counters, samples }) => {
            let (protocol, status) = (PROTOCOL, Status::Ok);
            let done = RunOutcome { protocol, run, status, reason: None, counters, samples };
            Said::answer(json(&done))
        }
        Err(error) => {
            let (status, code) = match error {
                RunError::Unsupported(_) => (Status::Unsupported, exit::DONE),
                RunError::Failed(_) => (Status::Failed, exit::FAILED),
            };
            let complaint = Some(format!("{}: {error}", identity.variant()));
            let outcome = RunOutcome::without_numbers(&run, status, error.to_string());
            Said { answer: Some(json(&outcome)), complaint, code }
        }
    }
}

fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("an outcome has only string keys")
}

fn help(identity: &Identity) -> String {
    let lab_protocol::Identity { family, variant, measures, version, .. } = identity.describe();
    let sentence = identity.sentence();
    format!(
        "{family}-{variant} ({measures} {version}): {sentence}\n\nReads one run spec as a JSON \
         line from standard input and writes one outcome as a JSON line.\n\n  --describe  print \
         who this is, as JSON\n  --help      print this\n\nExit codes: 0 done, 1 failed (the \
         outcome says why), 2 bad spec"
    )
}

/// Refuses a workload in which one of these keys is 0.
///
/// # Errors
/// A sentence that names the first such key.
pub fn at_least_one<'a, N: PartialEq + From<u8>>(
    values: impl IntoIterator<Item = (&'a str, N)>,
) -> Result<(), String> {
    match values.into_iter().find(|(_, value)| *value == N::from(0)) {
        Some((key, _)) => Err(format!("{key} is 0, write at least 1")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: Identity = Identity::of(concat!(
        "name = \"some\"\nfamily = \"families\"\nsentence = \"It does things.\"\n",
        "measures = \"it\"\nversion = \"1.2\"\nfeatures = [\"a\", \"b\"]\n",
    ));
    const SPEC: &str = "{\"protocol\":1,\"run\":\"r\",\"workload\":7}\n";

    fn odd(workload: u64) -> Result<u64, String> {
        if workload % 2 == 1 { Ok(workload) } else { Err(format!("{workload} is even")) }
    }

    fn asked(arguments: &[&str]) -> Said {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let measure = |_| -> Result<Numbers, RunError> { unreachable!("only a question") };
        answer(&IDENTITY, &arguments, SPEC.as_bytes(), odd, measure)
    }

    fn run(line: &str, measure: impl FnOnce(u64) -> Result<Numbers, RunError>) -> Said {
        answer(&IDENTITY, &[], line.as_bytes(), odd, measure)
    }

    fn without_numbers(status: &str, reason: &str, code: i32) -> Said {
        let head = format!(r#"{{"protocol":1,"run":"r","status":"{status}","reason":"{reason}""#);
        let answer = Some(format!(r#"{head},"counters":{{}},"samples":{{}}}}"#));
        Said { answer, complaint: Some(format!("some: {reason}")), code }
    }

    #[test]
    fn it_says_who_it_is() {
        let line = concat!(
            r#"{"protocol":1,"family":"families","variant":"some","measures":"it","#,
            r#""version":"1.2","features":["a","b"]}"#
        );
        assert_eq!(asked(&["--describe"]), Said::answer(line.to_owned()));
    }

    #[test]
    fn its_help_says_how_it_is_called() {
        let text = "families-some (it 1.2): It does things.

Reads one run spec as a JSON line from standard input and writes one outcome as a JSON line.

  --describe  print who this is, as JSON
  --help      print this

Exit codes: 0 done, 1 failed (the outcome says why), 2 bad spec";
        assert_eq!(asked(&["--help"]), Said::answer(text.to_owned()));
        assert_eq!(asked(&["-h"]), Said::answer(text.to_owned()));
    }

    #[test]
    fn any_other_argument_is_refused() {
        let refusal = |sentence: &str| Said::refusal(sentence.to_owned());
        assert_eq!(asked(&["--fast"]), refusal(ONLY_ARGUMENTS));
        assert_eq!(asked(&["--describe", "--help"]), refusal(ONLY_ARGUMENTS));
    }

    #[test]
    fn a_bad_spec_is_refused_before_anything_is_measured() {
        let refused = |line: &str| {
            let said = run(line, |_| unreachable!("the spec is bad"));
            assert_eq!((said.answer, said.code), (None, exit::BAD_SPEC));
            said.complaint.unwrap()
        };
        let nothing = "standard input ended before a run spec: write one JSON line to it";
        assert_eq!(refused(""), nothing);
        assert!(refused("\n").starts_with("cannot read the run spec: "));
        let other = "the run spec is protocol 3, this variant speaks 1";
        assert_eq!(refused(&SPEC.replacen('1', "3", 1)), other);
        assert_eq!(refused(&SPEC.replacen('7', "8", 1)), "8 is even");
    }

    #[test]
    fn numbers_become_an_outcome() {
        let said = run(SPEC, |workload| {
            let counters = BTreeMap::from([("wall_ns".to_owned(), workload)]);
            let samples = BTreeMap::from([("elapsed_ns".to_owned(), vec![-1, 2])]);
            Ok(Numbers { counters, samples })
        });
        let line = concat!(
            r#"{"protocol":1,"run":"r","status":"ok","counters":{"wall_ns":7},"#,
            r#""samples":{"elapsed_ns":[-1,2]}}"#
        );
        assert_eq!(said, Said::answer(line.to_owned()));
    }

    #[test]
    fn what_cannot_be_done_is_no_failure() {
        let said = run(SPEC, |_| Err(RunError::unsupported("it lacks a wheel")));
        assert_eq!(said, without_numbers("unsupported", "it lacks a wheel", exit::DONE));
        let said = run(SPEC, |_| Err(RunError::failed("it broke")));
        assert_eq!(said, without_numbers("failed", "it broke", exit::FAILED));
    }

    #[test]
    fn a_panic_is_a_failure_with_its_text() {
        let failed = |reason| without_numbers("failed", reason, exit::FAILED);
        assert_eq!(run(SPEC, |_| panic!("a word")), failed("the variant panicked: a word"));
        assert_eq!(
            run(SPEC, |workload| panic!("at {workload}")),
            failed("the variant panicked: at 7")
        );
        assert_eq!(run(SPEC, |_| std::panic::panic_any(7)), failed("the variant panicked: "));
    }
}
