//! Restate: a server of the run's own, and a Node.js process that has the handler, does its steps
//! and calls it through the server (`host.mjs`). This one hands tasks in and is told of their
//! completion, through pipes.
//!
//! Node.js computes in one thread, so the workload's `workers` changes nothing. In a folder that a
//! killed run of the same workload has left, Restate's own recovery goes on.

#![forbid(unsafe_code)]

mod server;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use workflows_kit::{
    Accepted, BackEnd, Graph, Identity, RunError, Shape, StepRow, Submission, Workload,
    variant_main,
};
use workflows_peer::{Peer, System, folder_to_go_on_in, mark};

use server::Server;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

const RESTATE: System = System { name: "Restate", installer: "tools/peer restate up" };
const SCRIPT: &str = include_str!("host.mjs");
/// Names the folder in which npm has installed Restate's server and SDK.
const FOLDER: &str = "LAB_RESTATE";

fn main() -> ExitCode {
    variant_main::<Restate>(&IDENTITY)
}

/// Fields are dropped in order: the server ends last.
struct Restate {
    peer: Peer,
    _server: Server,
}

impl BackEnd for Restate {
    const BARE: Option<&'static str> = None;

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let folder = folder_to_go_on_in(workload)?;
        let missing = || {
            RunError::unsupported(format!(
                "there is no Restate: tools/peer restate up installs it, and prints what to put \
                 into {FOLDER}"
            ))
        };
        let packages = env::var_os(FOLDER).map(PathBuf::from).ok_or_else(missing)?;
        let server = Server::start(&packages, folder)?.ok_or_else(missing)?;
        mark(workload)?;
        let peer = Peer::start(RESTATE, host(&packages, &server, graph.shape()), folder)?;
        Ok(Self { peer, _server: server })
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        self.peer.submit(tasks)
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        self.peer.wait()
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        self.peer.look()
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        self.peer.finish()
    }
}

/// The Node.js process.
fn host(packages: &Path, server: &Server, shape: &Shape) -> Command {
    let shape = serde_json::to_string(shape).expect("a shape has only string keys");
    let mut command = Command::new("node");
    command.args(["--input-type=module", "--eval", SCRIPT, "--"]);
    command.arg(packages).args([&server.ingress, &server.administration, &shape]);
    command
}
