//! One agent as a state machine: it says what to do next, the variant does it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lab_protocol::runtimes::{Agent, Workload};

use crate::analysis::analysis;
use crate::reply::Reply;
use crate::thread::thread_number;
use crate::work;
use crate::{CallError, CallLog, IngestJob, Ingested, Meter, Request, RunError, now_ns};

/// The samples of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentLog {
    /// It was to start.
    pub due_ns: i64,
    /// Its work began.
    pub start_ns: i64,
    /// The folder was read.
    pub ingest_end_ns: i64,
    /// So much was read.
    pub ingest_bytes: i64,
    /// Its last reply was complete.
    pub end_ns: i64,
    /// Times that it was given bytes on another thread than before.
    pub migrations: i64,
    /// Its calls, in order.
    pub calls: Vec<CallLog>,
}

/// One agent at work.
#[derive(Debug)]
pub struct AgentRun {
    index: usize,
    spec: Agent,
    due: Instant,
    ingest_dir: Option<String>,
    give_up_lag_ms: Option<u64>,
    meter: Arc<Meter>,
    log: AgentLog,
    /// Calls begun; the current one is the last of them.
    begun: usize,
    reply: Reply,
    analysis: Option<String>,
    /// Where it was given bytes last.
    thread: Option<i64>,
}

impl AgentRun {
    /// The agents of a workload in their order. All memory for samples is set aside here.
    pub fn all(workload: &Workload, meter: &Arc<Meter>) -> Vec<Self> {
        let agents = workload.agents.iter().enumerate();
        let (began, began_ns) = (Instant::now(), now_ns());
        agents
            .map(|(index, spec)| Self {
                index,
                spec: spec.clone(),
                due: began + Duration::from_nanos(spec.start_after_ns),
                ingest_dir: workload.ingest_dir.clone(),
                give_up_lag_ms: workload.give_up_lag_ms,
                meter: Arc::clone(meter),
                log: AgentLog {
                    due_ns: began_ns.saturating_add_unsigned(spec.start_after_ns),
                    calls: spec.calls.iter().map(|c| CallLog::new(c.options.num_predict)).collect(),
                    ..AgentLog::default()
                },
                begun: 0,
                reply: Reply::new("", 0),
                analysis: None,
                thread: None,
            })
            .collect()
    }

    /// When it is to start, for a runtime to wait until then; `None` for at once.
    pub fn due(&self) -> Option<Instant> {
        (self.spec.start_after_ns > 0).then_some(self.due)
    }

    /// Its clock starts.
    pub fn start(&mut self) {
        self.meter.agent();
        self.log.start_ns = now_ns();
    }

    /// The first step, for a thread on which blocking is allowed.
    pub fn ingest_job(&self) -> IngestJob {
        IngestJob { dir: self.ingest_dir.clone().map(PathBuf::from) }
    }

    /// Takes the result of the first step.
    ///
    /// # Errors
    /// [`RunError::Failed`] where the folder could not be read.
    pub fn ingested(&mut self, result: io::Result<Ingested>) -> Result<(), RunError> {
        let ingested = result.map_err(|error| {
            let dir = self.ingest_dir.as_deref().unwrap_or_default();
            RunError::failed(format!("agent {}: cannot ingest {dir}: {error}", self.index))
        })?;
        self.log.ingest_end_ns = now_ns();
        self.log.ingest_bytes = ingested.bytes.cast_signed();
        Ok(())
    }

    /// Begins the next call; `None` when all are done.
    pub fn next_request(&mut self) -> Option<Request> {
        let call = self.begun;
        let log = self.log.calls.get_mut(call)?;
        log.start_ns = now_ns();
        self.begun += 1;
        self.reply = Reply::new(&self.spec.model, log.received_ns.capacity());
        let mut prompt = self.spec.calls[call].prompt.clone();
        if let Some(analysis) = &self.analysis {
            prompt = format!("{prompt}\n\n{analysis}");
        }
        Some(Request::generate(&self.spec, call, &prompt))
    }

    /// The head of the response arrived. A status other than 200 fails in
    /// [`end_of_body`](Self::end_of_body), when the server's explanation is there.
    pub fn head(&mut self, status: u16) {
        self.reply.head(status);
    }

    /// Takes bytes of the body, cut anywhere. Call it as soon as the runtime hands them over: this
    /// is the moment that is stamped on every token which they complete.
    ///
    /// # Errors
    /// [`RunError::Failed`] for broken JSON and for a line in which the server reports an error.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        let received_ns = now_ns();
        self.meter.sample_queue();
        self.note_thread();
        let was_done = self.reply.is_done();
        let log = &mut self.log.calls[self.begun - 1];
        let before = log.received_ns.len();
        let result = self.reply.feed(bytes, received_ns, log, &self.meter);
        work::spend(self.spec.work_per_token_ns, log.received_ns.len() - before);
        if !was_done && self.reply.is_done() && self.begun == self.spec.calls.len() {
            self.meter.last_token();
        }
        result.and_then(|()| self.keep_up()).map_err(|error| self.failed(error))?;
        self.drop_where_asked();
        Ok(())
    }

    /// A client that is driven beyond what it can do falls behind farther with each token, and no
    /// number of such a run is worth its time.
    fn keep_up(&self) -> Result<(), CallError> {
        let log = &self.log.calls[self.begun - 1];
        let last = self.give_up_lag_ms.zip(log.received_ns.last().zip(log.sent_ns.last()));
        let Some((limit_ms, (received_ns, &sent_ns))) = last else { return Ok(()) };
        let lag_ms = (received_ns - sent_ns) / 1_000_000;
        match sent_ns >= 0 && lag_ms > limit_ms.cast_signed() {
            true => Err(CallError::Saturated { lag_ms, limit_ms }),
            false => Ok(()),
        }
    }

    /// Whether it has dropped the rest of its last reply. The variant then begins to read on, gives
    /// that up and closes the connection; [`next_request`](Self::next_request) has nothing left.
    pub fn drops(&self) -> bool {
        self.log.calls.last().is_some_and(|call| call.dropped_ns >= 0)
    }

    fn drop_where_asked(&mut self) {
        let is_last = self.begun == self.spec.calls.len();
        let log = &mut self.log.calls[self.begun - 1];
        let enough = self.spec.drop_after_tokens;
        let has_enough = enough > 0 && log.received_ns.len() as u64 >= enough;
        if is_last && has_enough && log.dropped_ns < 0 && !self.reply.is_done() {
            self.meter.last_token();
            log.text_hash = self.reply.text_hash();
            log.dropped_ns = now_ns();
            log.end_ns = log.dropped_ns;
            self.log.end_ns = log.dropped_ns;
        }
    }

    fn note_thread(&mut self) {
        let here = thread_number();
        self.log.migrations += i64::from(self.thread.is_some_and(|last| last != here));
        self.log.calls[self.begun - 1].thread = here;
        self.thread = Some(here);
    }

    /// The body is complete, or nobody reads it to its end.
    ///
    /// # Errors
    /// [`RunError::Failed`] for a status other than 200 and for a body without a `done` line.
    pub fn end_of_body(&mut self) -> Result<(), RunError> {
        if self.drops() {
            return Ok(());
        }
        let received_ns = now_ns();
        let was_done = self.reply.is_done();
        let log = &mut self.log.calls[self.begun - 1];
        let before = log.received_ns.len();
        let result = self.reply.finish(received_ns, log, &self.meter);
        work::spend(self.spec.work_per_token_ns, log.received_ns.len() - before);
        result.map_err(|error| self.failed(error))?;
        if !was_done && self.begun == self.spec.calls.len() {
            self.meter.last_token();
        }
        self.analysis = Some(analysis(self.reply.text()));
        self.log.end_ns = now_ns();
        Ok(())
    }

    /// Adds agent, call and server to an error.
    pub fn failed(&self, error: CallError) -> RunError {
        let (agent, call, server) = (self.index, self.begun.saturating_sub(1), &self.spec.server);
        RunError::failed(format!("agent {agent}, call {call} on {server}: {error}"))
    }

    /// Its samples. Its clock stopped at the end of its last body.
    pub fn finish(self) -> AgentLog {
        self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent() -> AgentRun {
        let workload: Workload = serde_json::from_str(
            r#"{"arrangement":"solo","stall_timeout_ms":5,"ingest_dir":null,"agents":[
                {"server":"http://h:1","model":"m","calls":[
                 {"prompt":"one","options":{"seed":1,"num_predict":4}},
                 {"prompt":"two","options":{"seed":2,"num_predict":4}}]}]}"#,
        )
        .unwrap();
        AgentRun::all(&workload, &Arc::new(Meter::start())).remove(0)
    }

    const REPLY: &str = "{\"response\":\"memory \",\"sent_ns\":9}\n{\"response\":\"Memory\"}\n\
                         {\"model\":\"m\",\"done\":true,\"eval_count\":2,\"eval_duration\":8}\n";

    #[test]
    fn two_calls_give_two_logs_and_the_second_prompt_carries_the_analysis() {
        let mut agent = agent();
        agent.start();
        agent.ingested(agent.ingest_job().run()).unwrap();
        let mut bodies = Vec::new();
        while let Some(request) = agent.next_request() {
            bodies.push(String::from_utf8(request.body).unwrap());
            agent.head(200);
            agent.feed(REPLY.as_bytes()).unwrap();
            agent.end_of_body().unwrap();
        }
        assert!(bodies[0].contains(r#""prompt":"one","#), "{}", bodies[0]);
        assert!(bodies[1].contains(r#""prompt":"two\n\nanalysis: latency 0,"#), "{}", bodies[1]);
        assert!(bodies[1].contains("memory 2,"), "{}", bodies[1]);
        let log = agent.finish();
        for call in &log.calls {
            assert_eq!(call.sent_ns, [9, -1]);
            assert_eq!((call.eval_count, call.eval_ns, call.load_ns), (2, 8, -1));
            assert_eq!(call.text_hash, xxhash_rust::xxh64::xxh64(b"memory Memory", 0) as i64);
            assert!(call.start_ns <= call.received_ns[0] && call.received_ns[1] <= call.end_ns);
        }
        assert!(log.start_ns <= log.ingest_end_ns && log.calls[1].end_ns <= log.end_ns);
    }

    #[test]
    fn an_agent_that_goes_on_on_another_thread_has_migrated() {
        let mut agent = agent();
        agent.next_request().unwrap();
        agent.head(200);
        agent.feed(b"{\"response\":\"a\"}\n").unwrap();
        let here = thread_number();
        agent = std::thread::spawn(move || {
            agent.feed(b"{\"response\":\"b\"}\n").unwrap();
            agent.feed(b"{\"response\":\"c\"}\n").unwrap();
            agent
        })
        .join()
        .unwrap();
        assert_ne!(agent.log.calls[0].thread, here);
        agent.feed(b"{\"model\":\"m\",\"done\":true}\n").unwrap();
        agent.end_of_body().unwrap();
        let log = agent.finish();
        assert_eq!((log.migrations, log.calls[0].thread, log.calls[1].thread), (2, here, -1));
    }

    #[test]
    fn failures_name_agent_call_and_server() {
        let failure = |status: u16, body: &str| {
            let mut agent = agent();
            agent.next_request().unwrap();
            agent.head(status);
            agent.feed(body.as_bytes()).and_then(|()| agent.end_of_body()).unwrap_err().to_string()
        };
        let cases = [
            (404, r#"{"error":"model 'x' not found"}"#, "status 404: model 'x' not found"),
            (500, "oops", "status 500: oops"),
            (200, "{\"error\":\"boom\"}\n", "the server reports an error: boom"),
            (200, "{\"response\":\"a\"}\n", "the body ended without a done line, after 1 tokens"),
            (
                200,
                "{\"done\":true,\"model\":\"n\"}\n",
                "asked for model m, the server says that it ran n",
            ),
            (
                200,
                "{\"response\":\"a\",\"model\":\"n\"}\n{\"done\":true,\"model\":\"m\"}\n",
                "asked for model m, the server says that it ran n",
            ),
            (
                200,
                "{\"response\":\"a\",\"model\":\"m\"}\n{\"done\":true}\n",
                "asked for model m, the server does not say which one it ran",
            ),
            (
                200,
                "{\"done\":true,\"model\":\"m:latest\"}\n{\"response\":\"b\"}\n",
                "the server went on after its done line, with `b`",
            ),
            (
                200,
                "{\"done\":true,\"model\":\"m\"}\n{\"done\":true}\n",
                "the server went on after its done line, with ``",
            ),
        ];
        for (status, body, expected) in cases {
            let expected = format!("agent 0, call 0 on http://h:1: {expected}");
            assert_eq!(failure(status, body), expected);
        }
    }
}
