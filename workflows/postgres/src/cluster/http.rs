//! The same words over HTTP: a process listens at a port of this machine. Its client posts an order
//! to `/orders`, and asks `/said`, which is answered as soon as there is something to say.

use std::io::{self, BufRead, BufReader, Write};
use std::mem::take;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::Duration;

use ureq::Agent;

use super::words::{Order, Said, say};

/// Of this process, where its client has chosen HTTP.
static DESK: OnceLock<Desk> = OnceLock::new();

/// A client that asks no more must not keep a process from its end.
const PATIENCE: Duration = Duration::from_secs(5);

struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    /// `None` when the client has gone.
    orders: Mutex<Receiver<Option<Order>>>,
}

#[derive(Default)]
struct State {
    /// Lines that nobody has fetched yet.
    said: Vec<String>,
    /// Answers that are being written.
    sending: usize,
}

/// Listens, and says where on standard output.
pub(super) fn open() -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let (sender, orders) = channel();
    let desk = DESK.get_or_init(|| Desk {
        state: Mutex::default(),
        changed: Condvar::new(),
        orders: Mutex::new(orders),
    });
    let end = sender.clone();
    thread::spawn(move || {
        // It ends with the client.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = end.send(None);
    });
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let sender = sender.clone();
            // A connection that breaks is the client's end, and no reason to say so.
            thread::spawn(move || serve(&stream, desk, &sender).ok());
        }
    });
    say(&mut io::stdout().lock(), &Said::Listens { port })
}

/// Says this to a client by HTTP; false where the client listens to standard output.
pub(super) fn tell(said: &Said) -> bool {
    let Some(desk) = DESK.get() else { return false };
    let text = serde_json::to_string(said).expect("words have only string keys");
    desk.lock().said.push(format!("{text}\n"));
    desk.changed.notify_all();
    true
}

/// The next order by HTTP, `Some(None)` when the client has gone; `None` where orders come by
/// standard input.
pub(super) fn order() -> Option<Option<Order>> {
    let desk = DESK.get()?;
    let orders = desk.orders.lock().expect("nobody panics while it waits for orders");
    Some(orders.recv().ok().flatten())
}

/// Waits until all that was said is on its way.
pub(super) fn drain() {
    if let Some(desk) = DESK.get() {
        let unsent = |state: &mut State| !state.said.is_empty() || state.sending > 0;
        let waited = desk.changed.wait_timeout_while(desk.lock(), PATIENCE, unsent);
        drop(waited.expect("nobody panics while it holds the desk"));
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while it holds the desk")
    }

    /// Waits until there is something to say, and says all of it.
    fn answer(&self, writer: &mut impl Write) -> io::Result<()> {
        let nothing = |state: &mut State| state.said.is_empty();
        let waited = self.changed.wait_while(self.lock(), nothing);
        let mut state = waited.expect("nobody panics while it holds the desk");
        let said = take(&mut state.said).concat();
        state.sending += 1;
        drop(state);
        let written = respond(writer, "200 OK", &said);
        self.lock().sending -= 1;
        self.changed.notify_all();
        written
    }
}

/// One connection, request after request.
fn serve(stream: &TcpStream, desk: &Desk, orders: &Sender<Option<Order>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    while let Some((request, body)) = read(&mut reader)? {
        match request.as_str() {
            "POST /orders" => {
                let order = serde_json::from_slice(&body)?;
                let _ = orders.send(Some(order));
                respond(&mut writer, "200 OK", "")?;
            }
            "GET /said" => desk.answer(&mut writer)?,
            _ => respond(&mut writer, "404 Not Found", "")?,
        }
    }
    Ok(())
}

/// Method and path of the next request, and its body; `None` when the client has gone.
fn read(reader: &mut impl BufRead) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let request = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or((header, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((request, body)))
}

fn respond(writer: &mut impl Write, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    writer.write_all(format!("{head}{body}").as_bytes())
}

/// The client's side of one process.
pub(super) struct Caller {
    agent: Agent,
    address: String,
}

impl Caller {
    pub(super) fn of(port: u16) -> Self {
        // It is on this machine, whatever proxy there is.
        let config = Agent::config_builder().proxy(None).build();
        Self { agent: config.into(), address: format!("http://127.0.0.1:{port}") }
    }

    /// Gives an order. One that does not hear it has ended.
    pub(super) fn order(&self, order: &Order) -> Option<()> {
        let text = serde_json::to_string(order).expect("words have only string keys");
        let post = self.agent.post(format!("{}/orders", self.address));
        let mut answer = post.header("content-type", "application/json").send(text).ok()?;
        // Read to its end, the connection serves again.
        answer.body_mut().read_to_string().ok().map(drop)
    }

    /// What it has to say; `None` when it has ended.
    pub(super) fn said(&self) -> Option<Vec<Said>> {
        let mut answer = self.agent.get(format!("{}/said", self.address)).call().ok()?;
        let lines = answer.body_mut().read_to_string().ok()?;
        lines.lines().map(|line| serde_json::from_str(line).ok()).collect()
    }
}
