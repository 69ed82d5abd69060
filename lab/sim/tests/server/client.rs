//! A plain blocking client, and a server in a thread that is steered through real pipes.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt::RcvBuf};
use serde_json::{Value, json};

/// A server behind its control pipe, as the driver has it.
pub struct Lab {
    control: Option<PipeWriter>,
    answers: BufReader<PipeReader>,
    server: Option<JoinHandle<anyhow::Result<()>>>,
    pub ports: Vec<u16>,
}

impl Lab {
    pub fn start() -> Self {
        let listeners = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let (control_in, control) = pipe().unwrap();
        let (answers, control_out) = pipe().unwrap();
        let server = std::thread::spawn(|| {
            lab_sim::serve(listeners, BufReader::new(control_in), control_out)
        });
        let answers = BufReader::new(answers);
        let mut lab = Self { control: Some(control), answers, server: Some(server), ports: vec![] };
        lab.ports = serde_json::from_value(lab.answer()["ports"].clone()).unwrap();
        lab
    }

    /// A server in which run `r` has begun; `more` overrides keys of its spec.
    pub fn begun(more: Value) -> Self {
        let mut lab = Self::start();
        let answer = lab.ask(&json!({"begin": {"run": "r", "server": spec(more)}}));
        assert_eq!(answer, json!({"ready": "r"}));
        lab
    }

    pub fn ask(&mut self, line: &Value) -> Value {
        writeln!(self.control.as_mut().unwrap(), "{line}").unwrap();
        self.answer()
    }

    pub fn ledger(&mut self) -> Value {
        self.ask(&json!({"collect": "r"}))["ledger"].clone()
    }

    /// Closes the control pipe and waits for the server.
    pub fn end(mut self) -> anyhow::Result<()> {
        self.control.take();
        self.server.take().unwrap().join().unwrap()
    }

    pub fn connect(&self, port_index: usize) -> Client {
        let socket = TcpStream::connect(("127.0.0.1", self.ports[port_index])).unwrap();
        // So that a fault of the server fails the test instead of hanging it.
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { reader: BufReader::new(socket) }
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

/// A fast server for tests: 20 ms of prefill and 1,000 tokens/s, both a tenth of it.
pub fn spec(more: Value) -> Value {
    let mut spec = json!({
        "mode": "free", "model": "m", "ttft_ms": {"median": 20.0, "sigma_log": 0.1},
        "rate_tokens_per_s": [1000.0], "itl_sigma_log": 0.2, "time_scale": 0.1,
    });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec
}

pub struct Client {
    reader: BufReader<TcpStream>,
}

/// A response whose body was read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub header: String,
    pub body: String,
}

impl Reply {
    pub fn lines(&self) -> Vec<Value> {
        self.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Client {
    pub fn send(&mut self, method: &str, path: &str, body: &str) {
        write!(
            self.reader.get_mut(),
            "{method} {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
    }

    pub fn send_generate(&mut self, seed: i64, num_predict: usize) {
        let body = json!({
            "model": "m", "prompt": "hi", "stream": true, "keep_alive": "30m",
            "options": {"seed": seed, "num_predict": num_predict, "num_gpu": 99},
        });
        self.send("POST", "/api/generate", &body.to_string());
    }

    pub fn generate(&mut self, seed: i64, num_predict: usize) -> std::io::Result<Reply> {
        self.send_generate(seed, num_predict);
        self.read()
    }

    /// Has the kernel keep little for it: else its buffer grows with what comes, up to megabytes.
    pub fn keep_little(&self) {
        setsockopt(self.reader.get_ref(), RcvBuf, &(16 << 10)).unwrap();
    }

    /// Reads nothing until no more bytes have come for half a second: the sockets are full, or
    /// the server has sent all. At most ten seconds.
    pub fn wait_until_full(&self) {
        let mut space = vec![0; 16 << 20];
        let mut waiting = 0;
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(500));
            let now = self.reader.get_ref().peek(&mut space).unwrap();
            if now == waiting {
                return;
            }
            waiting = now;
        }
    }

    pub fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, "");
        self.read().unwrap()
    }

    /// Reads one response; an end before its end is an error.
    pub fn read(&mut self) -> std::io::Result<Reply> {
        let mut header = String::new();
        while !header.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut header)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = header[9..12].parse().unwrap();
        let mut body = Vec::new();
        if header.contains("chunked") {
            while self.read_chunk(&mut body)? {}
        } else {
            let length = header.split("Content-Length: ").nth(1).unwrap();
            let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
            body.resize(length, 0);
            self.reader.read_exact(&mut body)?;
        }
        Ok(Reply { status, header, body: String::from_utf8(body).unwrap() })
    }

    /// Reads the response's header and its first chunk.
    pub fn read_first_line(&mut self) -> String {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            self.reader.read_line(&mut line).unwrap();
        }
        let mut body = Vec::new();
        self.read_chunk(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// What has arrived so far, or the end of it.
    pub fn read_some(&mut self) -> std::io::Result<usize> {
        self.reader.read(&mut [0; 4096])
    }

    fn read_chunk(&mut self, body: &mut Vec<u8>) -> std::io::Result<bool> {
        let mut size = String::new();
        self.reader.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim_end(), 16)
            .map_err(|_| std::io::Error::from(std::io::ErrorKind::UnexpectedEof))?;
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk)?;
        assert!(chunk.ends_with(b"\r\n"));
        body.extend_from_slice(&chunk[..size]);
        Ok(size > 0)
    }
}
