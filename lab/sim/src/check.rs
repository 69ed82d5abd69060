//! A health check for images that hold no other program that could ask.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, bail};

/// One try. Whoever wants more asks again.
const PATIENCE: Duration = Duration::from_secs(3);
/// An answer to a question after the version is a few hundred bytes; a stranger's may be anything.
const ANSWER_BYTES: u64 = 64 * 1024;

/// Asks the server at `address` for its version and writes the answer's body.
pub(crate) fn print(address: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let answer = ask(address).with_context(|| format!("no answer from {address}"))?;
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        bail!("{address} does not speak HTTP");
    };
    let status = head.lines().next().unwrap_or_default();
    if !status.contains(" 200 ") {
        bail!("{address} answered {status}");
    }
    writeln!(out, "{}", body.trim_end())?;
    Ok(())
}

fn ask(address: &str) -> anyhow::Result<String> {
    let target = address.to_socket_addrs()?.next().context("the name has no address")?;
    let mut socket = TcpStream::connect_timeout(&target, PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    write!(socket, "GET /api/version HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    socket.take(ANSWER_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::print;
    use crate::server::Server;

    #[test]
    fn a_server_that_answers_is_told_from_a_port_that_nobody_has() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Server::start(vec![listener]).unwrap();
        let mut said = Vec::new();
        print(&address, &mut said).unwrap();
        assert!(String::from_utf8(said).unwrap().contains("-paced"));
        drop(server);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        assert!(print(&free.to_string(), &mut Vec::new()).is_err());
    }
}
