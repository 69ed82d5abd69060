//! A broker that is kept up over runs, and the virtual host in it that each run has for itself.
//!
//! Virtual hosts are made and deleted through RabbitMQ's management plugin, over HTTP: the tool for
//! the command line would start an Erlang machine of its own each time, which takes a second.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use workflows_kit::{Keepable, Keeps, RunError};

use crate::broker::Broker;

/// As the manifest names it.
pub(crate) const RABBITMQ: Keepable = Keepable { name: "rabbitmq", start };

/// The run's virtual host, in a broker that has one run at a time.
pub(crate) const HOST: &str = "run";
/// The broker answers within a tenth of a second; one that hangs must not hang the lab.
const PATIENCE: Duration = Duration::from_secs(20);
/// An answer is a few hundred bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Kept up by another process: what a run is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) process: u32,
    pub(crate) port: u16,
    /// Where the management plugin listens.
    administration: u16,
    pub(crate) password: String,
}

fn start(folder: &Path) -> Result<Box<dyn Keeps>, RunError> {
    Ok(Box::new(Up(Broker::own(folder, true)?)))
}

/// Kept up by this process.
struct Up(Broker);

impl Keeps for Up {
    fn offer(&self) -> String {
        let handle = self.0.handle();
        let (process, port, password) = (self.process(), handle.port, handle.password);
        let administration = self.0.administration().expect("it was started for runs to come");
        let kept = Kept { process, port, administration, password };
        serde_json::to_string(&kept).expect("it has only string keys")
    }

    fn process(&self) -> u32 {
        self.0.own_process().expect("this process has started it")
    }
}

impl Kept {
    /// What is offered to this run.
    ///
    /// # Errors
    /// The offer is none of ours.
    pub(crate) fn offered() -> Result<Option<Self>, RunError> {
        let read = |offer: String| {
            serde_json::from_str(&offer)
                .map_err(|error| RunError::setup(format!("the broker that is kept up: {error}")))
        };
        RABBITMQ.offered().map(read).transpose()
    }

    /// A new virtual host. One that a killed run has left is deleted, with its queues.
    pub(crate) fn make_host(&self) -> Result<(), RunError> {
        let everything = r#"{"configure":".*","write":".*","read":".*"}"#;
        let permissions = format!("/api/permissions/{HOST}/lab");
        // It answers 201 where it makes something, and 204 where that was there, which a host must
        // not have been. Who makes a host has permissions in it already.
        let questions: [(&str, String, &str, &[u16]); 3] = [
            ("DELETE", host(), "", &[204, 404]),
            ("PUT", host(), "{}", &[201]),
            ("PUT", permissions, everything, &[201, 204]),
        ];
        for (method, path, body, right) in questions {
            let done = self.ask(method, &path, body).and_then(|status| {
                let wrong = || io::Error::other(format!("it answers {status} to {method} {path}"));
                right.contains(&status).then_some(()).ok_or_else(wrong)
            });
            done.map_err(|error| {
                RunError::setup(format!("the broker that is kept up makes no host: {error}"))
            })?;
        }
        Ok(())
    }

    /// Where that fails the next run does it.
    pub(crate) fn delete_host(&self) {
        let _ = self.ask("DELETE", &host(), "");
    }

    /// The status of the answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> io::Result<u16> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.administration))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let who = base64(format!("lab:{}", self.password).as_bytes());
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {who}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.ok_or_else(|| io::Error::other("it does not speak HTTP"))
    }
}

fn host() -> String {
    format!("/api/vhosts/{HOST}")
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        std::array::from_fn::<char, 4, _>(|place| match place <= three.len() {
            true => LETTERS[(bits >> (18 - 6 * place) & 63) as usize].into(),
            false => '=',
        })
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    use super::*;

    /// A broker whose management plugin answers in this way, and the first lines of what it is
    /// asked.
    fn answering(statuses: &'static [u16]) -> (Kept, Receiver<String>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let administration = listener.local_addr().unwrap().port();
        let (sender, asked) = channel();
        thread::spawn(move || {
            for status in statuses {
                let mut stream = BufReader::new(listener.accept().unwrap().0);
                let lines = stream.by_ref().lines().map_while(Result::ok);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let length = head.iter().find_map(|line| line.strip_prefix("Content-Length: "));
                let mut body = vec![0; length.unwrap().parse().unwrap()];
                stream.read_exact(&mut body).unwrap();
                sender.send(head[0].clone()).unwrap();
                write!(stream.get_mut(), "HTTP/1.1 {status} -\r\n\r\n").unwrap();
            }
        });
        (Kept { process: 0, port: 0, administration, password: String::new() }, asked)
    }

    #[test]
    fn a_run_has_a_new_host_or_none() {
        const QUESTIONS: [&str; 3] =
            ["DELETE /api/vhosts/run", "PUT /api/vhosts/run", "PUT /api/permissions/run/lab"];
        let cases: [(&[u16], Option<&str>); 6] = [
            (&[204, 201, 204], None),
            (&[404, 201, 201], None),
            (&[500], Some("500")),
            // It was not deleted, whatever was said.
            (&[204, 204], Some("204")),
            (&[404, 400], Some("400")),
            (&[204, 201, 401], Some("401")),
        ];
        for (statuses, wrong) in cases {
            let (kept, asked) = answering(statuses);
            let made = kept.make_host().map_err(|error| error.to_string());
            let asked: Vec<String> = asked.try_iter().collect();
            let expected = QUESTIONS.map(|question| format!("{question} HTTP/1.1"));
            assert_eq!(asked, expected[..statuses.len()]);
            let answered = wrong.map_or(Ok(()), |status| {
                let question = QUESTIONS[statuses.len() - 1];
                Err(format!(
                    "cannot set up the variant: the broker that is kept up makes no host: it \
                     answers {status} to {question}"
                ))
            });
            assert_eq!(made, answered);
        }
    }

    /// The examples of RFC 4648, section 10.
    #[test]
    fn bytes_become_letters() {
        let examples =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, letters) in examples {
            assert_eq!(base64(text.as_bytes()), letters);
        }
    }
}
