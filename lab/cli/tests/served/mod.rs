//! A running `lab serve`, asked as a browser asks.

// Each of the tests uses a part of it.
#![allow(dead_code)]

#[path = "../plain/mod.rs"]
pub mod plain;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use plain::unpack;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn committed(name: &str) -> PathBuf {
    root().join("reports").join(name)
}

/// A server on a free port, which ends with the test.
pub struct Server {
    pub child: Child,
    pub address: String,
}

impl Server {
    pub fn of(folders: &[&Path]) -> Self {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(root()).args(["serve", "--listen", "127.0.0.1:0"]).args(folders);
        let mut child = lab.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// What comes back, head and body.
    pub fn say(&self, request: &str) -> (String, String) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        (head.to_owned(), body.to_owned())
    }

    pub fn ask(&self, target: &str) -> (u16, String) {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        let (head, body) = self.say(&request);
        let status = head.split(' ').nth(1).unwrap_or_else(|| panic!("{target}: {head}"));
        (status.parse().unwrap(), body)
    }

    pub fn page(&self, target: &str) -> String {
        let (status, page) = self.ask(target);
        assert_eq!(status, 200, "{target}: {page}");
        page
    }

    pub fn status(&self, target: &str) -> u16 {
        self.ask(target).0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every value of an attribute, as a browser reads it.
pub fn values(html: &str, attribute: &str) -> Vec<String> {
    let start = format!(" {attribute}=\"");
    let found = html.split(&start).skip(1).filter_map(|rest| rest.split('"').next());
    found.map(|value| value.replace("&quot;", "\"").replace("&amp;", "&")).collect()
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    unpack(to);
}

/// The program by a path that holds in every folder.
pub fn lab() -> PathBuf {
    std::env::current_dir().unwrap().join(env!("CARGO_BIN_EXE_lab"))
}
