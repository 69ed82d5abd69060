//! `lab sim` as a server that people use, at its limits.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use proof_kit::Attack;

/// So many descriptors leave room for a few connections.
const DESCRIPTORS: usize = 80;

struct Sim {
    child: Child,
    port: u16,
}

impl Sim {
    fn with_few_descriptors() -> Self {
        let lab = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
        // The hard limit too, or the server raises its own.
        let script = format!("ulimit -n {DESCRIPTORS}; exec \"$0\" sim --ports 0");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .arg(lab)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        Self { child, port: said["ports"][0].as_u64().unwrap() as u16 }
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        socket
    }

    /// Of user and kernel, in ticks of 10 ms.
    fn cpu_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split(' ').collect();
        fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap()
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(mut socket: &TcpStream) -> String {
    socket.write_all(b"GET /api/version HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    // A refused client may see its connection reset behind the answer.
    let _ = socket.read_to_string(&mut answer);
    answer
}

#[test]
fn more_clients_than_descriptors_are_refused_or_wait_and_nothing_spins() {
    let _attack = Attack::on("servers", "lab sim: more clients than descriptors");
    let sim = Sim::with_few_descriptors();
    // Idle ones, more than there may be.
    let idle: Vec<TcpStream> = (0..2 * DESCRIPTORS).map(|_| sim.connect()).collect();
    let before = sim.cpu_ticks();
    thread::sleep(Duration::from_secs(2));
    let spent = sim.cpu_ticks() - before;
    assert!(spent < 100, "{spent} ticks of 10 ms in two seconds without work");
    let refused = ask(&idle[2 * DESCRIPTORS - 1]);
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("too many"), "{refused}");
    drop(idle);
    // The server notices in its own time that they have gone.
    let served = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        ask(&sim.connect()).starts_with("HTTP/1.1 200")
    });
    assert!(served, "nobody is served after the others have left");
}
