//! Who computes a step: the worker thread itself, or a process of its own in some language.

use std::env;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lab_protocol::workflows::{Worker, Workload};
use workflows_worker::{Answer, Hello, Step, hosts};

use crate::{Job, RunError, now_ns};

/// Where koffi is, which Node.js does not have of itself.
const KOFFI: &str = "LAB_KOFFI";

/// What one worker thread computes with.
///
/// A process is started once for each thread and ends when this is dropped, for its input ends
/// then. One that dies is not started again: the run fails and says so, as a native worker's
/// panic would make it fail.
#[derive(Debug)]
pub struct Computer(Option<Process>);

/// A value, and `CLOCK_MONOTONIC` around the operation in nanoseconds, read where it was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The step's value.
    pub value: u64,
    /// `step_started_ns`.
    pub started_ns: i64,
    /// `step_finished_ns`.
    pub finished_ns: i64,
}

#[derive(Debug)]
struct Process {
    host: Host,
    child: Child,
    /// `None` when nothing more will be asked.
    steps: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    hello: Hello,
}

/// What is started, and what it stands for.
#[derive(Debug, Clone, Copy)]
struct Host {
    program: &'static str,
    /// Debian's name of what has the program.
    package: &'static str,
    /// What comes between the program and its script.
    option: &'static [&'static str],
    script: &'static str,
    /// What it calls a library with, in `_ffi` levels.
    ffi: Option<&'static str>,
}

const PYTHON: Host = Host {
    program: "python3",
    package: "python3",
    // Isolated: nothing of the user's is loaded.
    option: &["-I", "-c"],
    script: hosts::PYTHON,
    ffi: None,
};
const RUBY: Host =
    Host { program: "ruby", package: "ruby", option: &["-e"], script: hosts::RUBY, ffi: None };
const NODE: Host = Host {
    program: "node",
    package: "nodejs",
    option: &["--input-type=module", "-e"],
    script: hosts::NODE,
    ffi: None,
};
const TYPESCRIPT: Host = Host {
    option: &["--input-type=module", "-e", hosts::ERASING],
    script: hosts::TYPESCRIPT,
    ..NODE
};

/// The worker in Rust is a program of ours.
const OURS: &str = "workflows-worker";
const LIBRARY: &str = "libworkflows_worker.so";

/// The languages of [`Worker::FourLanguages`]; Node.js without koffi, which few machines have.
const FOUR: [Worker; 4] =
    [Worker::NativeProcess, Worker::RubyFfi, Worker::PythonFfi, Worker::NodeProcess];

/// What the worker with this number computes with.
pub fn language(worker: Worker, number: u32) -> Worker {
    match worker {
        Worker::FourLanguages => FOUR[number as usize % FOUR.len()],
        one => one,
    }
}

impl Computer {
    /// Starts one of each language of the workload and ends it, so that one that the machine lacks
    /// is known before anything else is started. Gives the median of an empty call through the
    /// boundary of the first `_ffi` worker.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn try_all(workload: &Workload) -> Result<Option<u64>, RunError> {
        let languages = if workload.worker == Worker::FourLanguages { FOUR.len() } else { 1 };
        let mut call_ns = None;
        for number in 0..languages {
            let computer = Self::start(workload, number as u32)?;
            call_ns = call_ns.or(computer.ffi_call_ns());
        }
        Ok(call_ns)
    }

    /// Starts a process where the worker with this number is one, and waits until it is ready.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] where the machine lacks the language or a piece of it; otherwise
    /// it could not be started.
    pub fn start(workload: &Workload, number: u32) -> Result<Self, RunError> {
        let ffi = |name, host| Some(Host { ffi: Some(name), ..host });
        let host = match language(workload.worker, number) {
            Worker::Native => return Ok(Self(None)),
            Worker::NativeProcess | Worker::FourLanguages => None,
            Worker::PythonFfi => ffi("ctypes", PYTHON),
            Worker::PythonProcess => Some(PYTHON),
            Worker::RubyFfi => ffi("Fiddle", RUBY),
            Worker::RubyProcess => Some(RUBY),
            Worker::NodeFfi => ffi("koffi", NODE),
            Worker::NodeProcess => Some(NODE),
            Worker::TypescriptFfi => ffi("koffi", TYPESCRIPT),
            Worker::TypescriptProcess => Some(TYPESCRIPT),
        };
        let folder = Path::new(&workload.worker_folder);
        host.map_or_else(|| Process::ours(folder), |host| Process::of(host, folder))
            .map(|process| Self(Some(process)))
    }

    /// The job's value, and when the operation began and ended.
    ///
    /// # Errors
    /// The process has ended.
    pub fn compute(&mut self, job: &Job) -> Result<Done, RunError> {
        let Some(process) = &mut self.0 else {
            let started_ns = now_ns();
            let value = job.compute();
            return Ok(Done { value, started_ns, finished_ns: now_ns() });
        };
        process.ask(job)
    }

    /// Median of an empty call through the boundary of an `_ffi` worker.
    fn ffi_call_ns(&self) -> Option<u64> {
        self.0.as_ref()?.hello.ffi_call_ns
    }
}

impl Process {
    fn ours(folder: &Path) -> Result<Self, RunError> {
        let program = built(folder, OURS)?;
        let host = Host { program: OURS, package: OURS, option: &[], script: "", ffi: None };
        Self::start(host, &mut Command::new(program))
    }

    fn of(host: Host, folder: &Path) -> Result<Self, RunError> {
        let mut command = Command::new(host.program);
        command.args(host.option).arg(host.script);
        match host.ffi {
            None => command.arg("process"),
            Some("koffi") if env::var_os(KOFFI).is_none() => {
                return Err(RunError::unsupported(format!(
                    "there is no koffi for node: run tools/peer koffi up and set {KOFFI} as it \
                     says, or leave node_ffi and typescript_ffi out"
                )));
            }
            Some(_) => command.arg("ffi").arg(built(folder, LIBRARY)?),
        };
        Self::start(host, &mut command)
    }

    fn start(host: Host, command: &mut Command) -> Result<Self, RunError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => RunError::unsupported(format!(
                "there is no {} on PATH: install it (Debian: {}), or leave its workers out",
                host.program, host.package
            )),
            _ => RunError::setup(format!("{}: {error}", host.program)),
        })?;
        let steps = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let hello = Hello { ffi_call_ns: None };
        let mut process = Self { host, child, steps, answers, hello };
        match Hello::read(&mut process.answers) {
            Ok(Some(hello)) => {
                process.hello = hello;
                Ok(process)
            }
            Ok(None) => Err(process.lacking()),
            Err(error) => Err(RunError::setup(format!("{}: {error}", host.program))),
        }
    }

    /// It has ended before it was ready.
    fn lacking(mut self) -> RunError {
        let Host { program, ffi, .. } = self.host;
        match (self.end(), ffi) {
            (Some(code), Some(ffi)) if code == hosts::LACKING => RunError::unsupported(format!(
                "there is no working {ffi} for {program}: install it, or leave the _ffi worker out"
            )),
            (Some(hosts::NO_TYPES), _) => RunError::unsupported(
                "there is no TypeScript in node: run tools/peer amaro up and set LAB_AMARO as it \
                 says, or leave the workers in TypeScript out",
            ),
            _ => RunError::setup(format!("the worker in {program} ended before it was ready")),
        }
    }

    fn ask(&mut self, job: &Job) -> Result<Done, RunError> {
        let steps = self.steps.as_mut().expect("its input ends with it");
        let part = u64::from(job.id.part);
        let asked = Step::write(steps, job.operation, part, &job.inputs);
        match asked.and_then(|()| Answer::read(&mut self.answers)) {
            Ok(Some(Answer { value, started_ns, finished_ns })) => {
                Ok(Done { value, started_ns, finished_ns })
            }
            ended => {
                let why = ended.err().map_or(String::new(), |error| format!(" ({error})"));
                let program = self.host.program;
                Err(RunError::failed(format!(
                    "the worker process {program} has ended while it did a step{why}; run it again"
                )))
            }
        }
    }

    /// Ends its input, waits for it, and gives its exit code.
    fn end(&mut self) -> Option<i32> {
        drop(self.steps.take());
        self.child.wait().ok()?.code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A file of ours in the workload's `worker_folder`.
fn built(folder: &Path, name: &str) -> Result<PathBuf, RunError> {
    let path = folder.join(name);
    if folder.is_absolute() && path.is_file() {
        return Ok(path);
    }
    Err(RunError::setup(format!(
        "worker_folder is {:?}: give the absolute path of the folder that has {name}, which \
         `cargo build -p workflows-worker` makes",
        folder.display()
    )))
}
