//! A server that says what a test wants it to say, piece by piece.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
    time::Duration,
};

/// So long before the bytes.
pub type Piece = (Duration, Vec<u8>);

/// A server that answers every question about itself well, and each request with these bytes.
pub fn answering(pieces: Vec<Piece>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let path = read_request(&mut BufReader::new(socket.try_clone().unwrap()));
            let about_itself = match path.as_str() {
                "/api/version" => "{\"version\":\"1\"}",
                "/api/tags" => "{\"models\":[{\"name\":\"m\"}]}",
                "/v1/models" => "{\"object\":\"list\",\"data\":[{\"id\":\"m\"}]}",
                _ => {
                    for (wait, bytes) in &pieces {
                        thread::sleep(*wait);
                        let _ = socket.write_all(bytes);
                    }
                    continue;
                }
            };
            let _ = socket.write_all(whole("200 OK", about_itself).as_bytes());
        }
    });
    format!("http://{address}")
}

/// Reads a request to its end; returns its path.
fn read_request(lines: &mut impl BufRead) -> String {
    let (mut first, mut length) = (String::new(), 0);
    lines.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    lines.read_exact(&mut vec![0; length]).unwrap();
    first.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// A response of a known length; `head` may have headers.
pub fn whole(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}
