//! One execution of a variant: a spec in, an outcome out, and no way for it to hurt the sweep.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    process::ExitStatus,
    sync::atomic::AtomicBool,
    time::Duration,
};

use lab_process::monotonic_ns;
use lab_process::{Answer, Bound, Limits, Run, Unfinished};
use lab_protocol::{PROTOCOL, RunOutcome, Status};

use crate::hyperfine::{self, Timed};

/// A variant that prints more than this is not printing an outcome.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;
/// A longer name of a counter or a column is none.
const NAME_BYTES_MAX: usize = 64;
/// How much of a variant's last words goes into a reason.
const EXCERPT_CHARS: usize = 200;

/// How an execution ended.
#[derive(Debug)]
pub(crate) enum Executed {
    /// The variant gave an outcome (which may say `failed`).
    Outcome(RunOutcome),
    /// It gave none; the sentence says what happened instead.
    Broken(String),
    /// The user wants to stop; there is nothing to record.
    Interrupted,
}

/// An execution and when it happened.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) ended: Executed,
    pub(crate) start_ns: u64,
    pub(crate) process_ns: u64,
    /// CPU time of the process and of its children that it waited for, as the kernel counted it;
    /// none where it did not end by itself.
    pub(crate) cpu_ns: Option<u64>,
    /// What was measured of the program's process, where it ended by itself.
    pub(crate) timed: Option<Timed>,
}

/// Who starts the program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Starter<'a> {
    /// The lab.
    Lab,
    /// hyperfine, with files in this folder.
    Hyperfine(&'a Path),
}

/// Who is run, and what it is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) program: &'a Path,
    /// Variables of its environment beside those of the lab's.
    pub(crate) variables: &'a [(String, String)],
    /// On which it may run; on all that the lab may use where none is named.
    pub(crate) cpus: &'a [usize],
    pub(crate) spec_line: &'a str,
    pub(crate) run: &'a str,
}

impl Call<'_> {
    /// What is not of this call's program alone.
    fn around(&self, run: Run) -> Run {
        Run { variables: self.variables.to_vec(), cpus: self.cpus.to_vec(), ..run }
    }
}

/// Starts the program, hands it the spec line and waits for its outcome, at most `deadline`.
pub(crate) fn execute(
    starter: Starter<'_>,
    call: Call<'_>,
    deadline: Duration,
    interrupt: &AtomicBool,
) -> Execution {
    let start_ns = monotonic_ns();
    let executed = match starter {
        Starter::Lab => by_the_lab(call, deadline, interrupt),
        Starter::Hyperfine(folder) => by_hyperfine(folder, call, deadline, interrupt),
    };
    let (ended, done) = match executed {
        Ok((ended, done)) => (ended, Some(done)),
        Err(ended) => (ended, None),
    };
    Execution {
        ended,
        start_ns: done.as_ref().map_or(start_ns, |done| done.answer.start_ns),
        process_ns: done.as_ref().map_or_else(|| monotonic_ns() - start_ns, Done::wall_ns),
        cpu_ns: done.as_ref().map(|done| done.answer.usage.cpu_ns()),
        timed: done.and_then(|done| done.timed),
    }
}

/// What was started has ended by itself: the program, or hyperfine with it.
struct Done {
    answer: Answer,
    timed: Option<Timed>,
}

impl Done {
    fn wall_ns(&self) -> u64 {
        ns(self.answer.wall)
    }
}

fn by_the_lab(
    call: Call<'_>,
    deadline: Duration,
    interrupt: &AtomicBool,
) -> Result<(Executed, Done), Executed> {
    let run = call.around(Run::of(call.program, [""; 0]));
    let run = Run { input_line: Some(call.spec_line.to_owned()), ..run };
    let answer = finish(run, deadline, interrupt)?;
    let usage = &answer.usage;
    let (wall_ns, user_ns, system_ns) = (ns(answer.wall), ns(usage.user), ns(usage.system));
    let timed = Some(Timed { wall_ns, user_ns, system_ns });
    Ok((judge(answer.status, &answer.stdout, &answer.stderr, call.run), Done { answer, timed }))
}

/// CPU time is hyperfine's too; what hyperfine measured stands beside it.
fn by_hyperfine(
    folder: &Path,
    call: Call<'_>,
    deadline: Duration,
    interrupt: &AtomicBool,
) -> Result<(Executed, Done), Executed> {
    let file = |name: &str| folder.join(name);
    let (spec, output, export) = (file("spec.json"), file("outcome.json"), file("timed.json"));
    // What an earlier run left must never be read as this one's.
    for stale in [&output, &export] {
        let _ = fs::remove_file(stale);
    }
    if let Err(error) = fs::write(&spec, format!("{}\n", call.spec_line)) {
        return Err(Executed::Broken(format!("cannot write its spec: {error}")));
    }
    let run = call.around(hyperfine::once_between(&export, call.program, &spec, &output));
    let bound = Some(Bound { path: output.clone(), bytes_max: OUTPUT_BYTES_MAX });
    let answer = finish(Run { bound, ..run }, deadline, interrupt)?;
    let timed = fs::read_to_string(&export).map_err(|error| error.to_string());
    match timed.and_then(|text| hyperfine::read(&text)) {
        Ok(timed) => {
            let mut printed = Vec::new();
            // Of a file that cannot be read, as of an empty one, the outcome is missing.
            let _ = File::open(&output)
                .and_then(|file| file.take(OUTPUT_BYTES_MAX).read_to_end(&mut printed));
            let ended = outcome(&printed, &answer.stderr, "it ended", call.run);
            Ok((ended, Done { answer, timed: Some(timed) }))
        }
        Err(error) => {
            let said = excerpt(&answer.stderr);
            let reason = format!(
                "hyperfine exported no time ({error}; stderr: {said}); 1.16 or newer is needed"
            );
            Ok((Executed::Broken(reason), Done { answer, timed: None }))
        }
    }
}

/// Runs a variant's command to its end.
fn finish(run: Run, deadline: Duration, interrupt: &AtomicBool) -> Result<Answer, Executed> {
    let name = run.argv[0].clone();
    let limits = Limits { time: deadline, output_bytes: OUTPUT_BYTES_MAX };
    run.ask_until(limits, interrupt).map_err(|unfinished| match unfinished {
        Unfinished::CannotStart(error) => cannot_start(Path::new(&name), &error),
        Unfinished::Interrupted => Executed::Interrupted,
        Unfinished::TooLate(limit) => Executed::Broken(format!(
            "gave no outcome within {} s and was killed",
            limit.as_secs_f64()
        )),
        other => Executed::Broken(other.to_string()),
    })
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Names the program by its file, for its folder is this machine's own.
fn cannot_start(program: &Path, error: &io::Error) -> Executed {
    let name = program.file_name().unwrap_or(program.as_os_str()).display();
    let to_do = match error.kind() {
        io::ErrorKind::NotFound => "; install it, or run in the pinned environment (./enter)",
        _ => "",
    };
    Executed::Broken(format!("{name} cannot be started: {error}{to_do}"))
}

/// Turns exit status and output into an outcome, or into a sentence.
fn judge(status: ExitStatus, output: &[u8], stderr: &[u8], run: &str) -> Executed {
    let ended = outcome(output, stderr, &format!("it exited with {status}"), run);
    match ended {
        Executed::Outcome(outcome) if status.success() == (outcome.status == Status::Failed) => {
            let claim = outcome.status;
            let said = last_words(stderr);
            Executed::Broken(format!("reported {claim:?} but exited with {status}{said}"))
        }
        Executed::Broken(why) if !status.success() && !why.contains("exited with") => {
            Executed::Broken(format!("{why}; it exited with {status}"))
        }
        other => other,
    }
}

/// Reads the one line of an outcome. `ended` says in a sentence how its program did.
fn outcome(output: &[u8], stderr: &[u8], ended: &str, run: &str) -> Executed {
    let said = last_words(stderr);
    let Ok(text) = std::str::from_utf8(output) else {
        let shown = excerpt(output);
        return Executed::Broken(format!("printed bytes that are no UTF-8: `{shown}`{said}"));
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let [line] = lines[..] else {
        let count = lines.len();
        return Executed::Broken(format!(
            "{ended} and printed {count} lines instead of one outcome{said}"
        ));
    };
    let outcome: RunOutcome = match serde_json::from_str(line) {
        Ok(outcome) => outcome,
        Err(error) => {
            let shown = excerpt(line.as_bytes());
            return Executed::Broken(format!("printed no outcome but `{shown}` ({error}){said}"));
        }
    };
    if outcome.protocol != PROTOCOL {
        let theirs = outcome.protocol;
        return Executed::Broken(format!("speaks protocol {theirs}, this lab speaks {PROTOCOL}"));
    }
    let names = outcome.counters.keys().chain(outcome.samples.keys());
    if let Some(name) = names.into_iter().find(|name| !is_name(name)) {
        return Executed::Broken(format!(
            "names a number `{name}`: names are up to {NAME_BYTES_MAX} letters, digits and `_`"
        ));
    }
    if outcome.run != run {
        return Executed::Broken(format!("answered for run `{}` instead of `{run}`", outcome.run));
    }
    Executed::Outcome(outcome)
}

/// Of a counter or a column, which tables and exports show as it is.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_letter)
}

fn last_words(stderr: &[u8]) -> String {
    let words = excerpt(stderr);
    if words.is_empty() { String::new() } else { format!("; it said: {words}") }
}

fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
    let cut: String = line.trim().chars().take(EXCERPT_CHARS).collect();
    cut
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, time::Instant};

    use super::*;
    use crate::tools::tool_version;

    /// What is made of a program's end, as a sentence; `ok` and so on where it is an outcome.
    fn judged(code: i32, output: &str, stderr: &str) -> String {
        let status = ExitStatus::from_raw(code << 8);
        match judge(status, output.as_bytes(), stderr.as_bytes(), "r") {
            Executed::Outcome(outcome) => format!("{:?}", outcome.status).to_lowercase(),
            Executed::Broken(sentence) => sentence,
            Executed::Interrupted => panic!("nobody interrupted"),
        }
    }

    fn line(run: &str, status: &str) -> String {
        format!("\n{{\"protocol\":1,\"run\":\"{run}\",\"status\":\"{status}\"}}\n  \n")
    }

    #[test]
    fn an_outcome_counts_where_the_exit_status_says_the_same() {
        for (code, status) in [(0, "ok"), (1, "failed"), (0, "unsupported")] {
            assert_eq!(judged(code, &line("r", status), "words"), status);
        }
        assert_eq!(
            judged(0, &line("r", "failed"), "no server\n\n"),
            "reported Failed but exited with exit status: 0; it said: no server"
        );
        assert_eq!(judged(3, &line("r", "ok"), ""), "reported Ok but exited with exit status: 3");
    }

    #[test]
    fn what_is_no_outcome_is_told_in_a_sentence() {
        let two = line("r", "ok").repeat(2);
        for (output, expected) in [
            ("", "it exited with exit status: 0 and printed 0 lines instead of one outcome"),
            (&two, "it exited with exit status: 0 and printed 2 lines instead of one outcome"),
            (&line("s", "ok"), "answered for run `s` instead of `r`"),
            (
                &line("r", "ok").replace("\"protocol\":1", "\"protocol\":2"),
                "speaks protocol 2, this lab speaks 1",
            ),
        ] {
            let _attack = proof_kit::Attack::on("answers", expected);
            assert_eq!(judged(0, output, ""), expected);
        }
        let no_json = judged(0, "hello\n", "first\n last \n");
        assert!(no_json.starts_with("printed no outcome but `hello` ("), "{no_json}");
        assert!(no_json.ends_with("; it said: last"), "{no_json}");
        let cut = judged(7, "{\n", "");
        assert!(cut.ends_with("; it exited with exit status: 7"), "{cut}");
        assert_eq!(excerpt("é".repeat(300).as_bytes()), "é".repeat(EXCERPT_CHARS));
    }

    #[test]
    fn an_outcome_of_two_minds_or_with_names_that_are_none_is_no_outcome() {
        let with = |more: &str| line("r", "ok").replace("\"ok\"}", &format!("\"ok\",{more}}}"));
        let escape = "\"counters\":{\"\\u001b[2Ja\":1}";
        let long = format!("\"samples\":{{\"{}\":[1]}}", "a".repeat(65));
        let cases = [
            ("a counter twice", "\"counters\":{\"a\":1,\"a\":2}", "`a` stands there twice"),
            ("a column twice", "\"samples\":{\"a\":[1],\"a\":[2]}", "`a` stands there twice"),
            (
                "a counter twice, once escaped",
                "\"counters\":{\"a\":1,\"\\u0061\":2}",
                "`a` stands there twice",
            ),
            ("counters twice", "\"counters\":{},\"counters\":{}", "duplicate field `counters`"),
            ("a status twice", "\"status\":\"failed\"", "duplicate field `status`"),
            ("a key that nobody knows", "\"verified\":true", "unknown field `verified`"),
            ("an escape sequence in a name", escape, "names a number"),
            ("a name with a space", "\"counters\":{\"a b\":1}", "names a number `a b`"),
            ("a name with a comma", "\"samples\":{\"a,b\":[1]}", "names a number `a,b`"),
            ("a name with markup", "\"counters\":{\"<b>\":1}", "names a number `<b>`"),
            ("a name that is empty", "\"counters\":{\"\":1}", "names a number ``"),
            ("a name without an end", &long, "up to 64 letters"),
            ("a number below 0", "\"counters\":{\"a\":-1}", "invalid value: integer `-1`"),
            ("a number that is a text", "\"counters\":{\"a\":\"1\"}", "invalid type: string"),
            ("a number past 64 bits", "\"counters\":{\"a\":18446744073709551616}", "invalid"),
            ("no number", "\"counters\":{\"a\":NaN}", "expected value"),
            ("a fraction", "\"samples\":{\"a\":[0.5]}", "invalid type: floating point"),
        ];
        for (name, more, said) in cases {
            let _attack = proof_kit::Attack::on("answers", name);
            let found = judged(0, &with(more), "");
            assert!(found.contains(said), "{name}: {found}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_no_outcome() {
        let _attack = proof_kit::Attack::on("answers", "a reason that is no UTF-8");
        let mut output = line("r", "ok").into_bytes();
        output.extend(b"\xff\xfe");
        let status = ExitStatus::from_raw(0);
        match judge(status, &output, b"", "r") {
            Executed::Broken(said) => assert!(said.starts_with("printed bytes that are no UTF-8")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_execution_has_the_programs_time_and_its_outcome() {
        // A shell takes its spec for a script.
        let spec_line = &format!("sleep 0.2; echo '{}'", line("r", "ok").trim());
        let call =
            Call { program: Path::new("/bin/sh"), variables: &[], cpus: &[], spec_line, run: "r" };
        let minute = Duration::from_secs(60);
        let done = execute(Starter::Lab, call, minute, &AtomicBool::new(false));
        assert!(matches!(done.ended, Executed::Outcome(_)), "{:?}", done.ended);
        assert!(done.process_ns >= 200_000_000, "it slept that long: {}", done.process_ns);
        assert!(done.start_ns + done.process_ns <= monotonic_ns(), "it has ended");
    }

    /// The program says for how long it was there: no starter sees less of it, or more than who
    /// waits for the starter.
    #[test]
    fn hyperfine_and_the_lab_time_one_program_within_the_same_bounds() {
        let version = tool_version("hyperfine");
        if let Err(why) = hyperfine::check_version(version.as_deref()) {
            return eprintln!("SKIPPED: {why}");
        }
        let spec_line = "a=$(date +%s%N); sleep 0.2; b=$(date +%s%N); \
                         echo '{\"protocol\":1,\"run\":\"r\",\"status\":\"ok\",\
                         \"counters\":{\"inner_ns\":'$((b - a))'}}'";
        let call =
            Call { program: Path::new("/bin/sh"), variables: &[], cpus: &[], spec_line, run: "r" };
        let folder = tempfile::tempdir().unwrap();
        for starter in [Starter::Lab, Starter::Hyperfine(folder.path())] {
            let start = Instant::now();
            let done = execute(starter, call, Duration::from_secs(60), &AtomicBool::new(false));
            let outer_ns = ns(start.elapsed());
            let Executed::Outcome(outcome) = done.ended else { panic!("{:?}", done.ended) };
            let Timed { wall_ns, user_ns, system_ns } = done.timed.unwrap();
            let inner_ns = outcome.counters["inner_ns"];
            assert!(200_000_000 <= inner_ns && inner_ns <= wall_ns, "{starter:?}: {wall_ns}");
            assert!(wall_ns <= outer_ns, "{starter:?}: {wall_ns} of {outer_ns}");
            assert!(user_ns + system_ns < wall_ns, "it sleeps: {user_ns} {system_ns}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named_without_its_folder() {
        let never = AtomicBool::new(false);
        let program = Path::new("/nowhere/hyperfine");
        let second = Duration::from_secs(1);
        let call = Call { program, variables: &[], cpus: &[], spec_line: "{}", run: "r" };
        match execute(Starter::Lab, call, second, &never).ended {
            Executed::Broken(reason) => {
                assert!(reason.starts_with("hyperfine cannot be started: No such"), "{reason}");
                assert!(reason.ends_with("install it, or run in the pinned environment (./enter)"));
            }
            other => panic!("{other:?}"),
        }
    }
}
