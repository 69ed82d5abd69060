//! tasker's HTTP interface.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use workflows_kit::RunError;

use crate::template::{NAME, NAMESPACE, VERSION};

/// No single answer takes a hundredth of it; a peer that hangs must not hang the lab.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Api {
    agent: Agent,
    tasks: String,
}

impl Api {
    /// Of the orchestrator that listens at this host and port.
    ///
    /// # Errors
    /// It does not say that it is there.
    pub(crate) fn open(address: &str) -> Result<Self, RunError> {
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .build();
        let api = Self { agent: config.into(), tasks: format!("http://{address}/v1/tasks") };
        api.ask(&format!("http://{address}/health"), None)?;
        Ok(api)
    }

    /// Computer a task in, and gives tasker's number of it.
    ///
    /// # Errors
    /// tasker does not take it.
    pub(crate) fn submit(&self, task: u32, input: u64) -> Result<String, RunError> {
        // Tasks with the same context are the same task to tasker.
        let context = json!({ "task": task, "input": input });
        let request = json!({
            "name": NAME,
            "namespace": NAMESPACE,
            "version": VERSION,
            "context": context,
            "initiator": "lab",
            "source_system": "lab",
            "reason": "measured",
        });
        let answer = self.ask(&self.tasks, Some(&request))?;
        text(&answer, "task_uuid").map(str::to_owned)
    }

    /// As the published bench asked: tasker says so when all steps are complete, which may be
    /// before the task's own last transition.
    ///
    /// # Errors
    /// tasker does not answer, or will not go on with the task.
    pub(crate) fn is_complete(&self, number: &str) -> Result<bool, RunError> {
        let answer = self.ask(&format!("{}/{number}", self.tasks), None)?;
        match text(&answer, "execution_status")? {
            "all_complete" => Ok(true),
            "blocked_by_failures" => {
                Err(RunError::failed(format!("tasker is blocked by failures: {answer}")))
            }
            _ => Ok(false),
        }
    }

    fn ask(&self, url: &str, body: Option<&Value>) -> Result<Value, RunError> {
        let failed = |error| RunError::failed(format!("{url} does not answer: {error}"));
        let sent = match body {
            Some(body) => {
                let post = self.agent.post(url).header("content-type", "application/json");
                post.send(body.to_string())
            }
            None => self.agent.get(url).call(),
        };
        let mut answer = sent.map_err(failed)?;
        let said = answer.body_mut().read_to_string().map_err(failed)?;
        if !answer.status().is_success() {
            let status = answer.status();
            return Err(RunError::failed(format!("{url} says {status}: {said}")));
        }
        serde_json::from_str(&said)
            .map_err(|error| RunError::failed(format!("{url} says {said:?}: {error}")))
    }
}

fn text<'a>(answer: &'a Value, key: &str) -> Result<&'a str, RunError> {
    answer[key]
        .as_str()
        .ok_or_else(|| RunError::failed(format!("tasker's answer has no {key}: {answer}")))
}
