//! What people's clients do that the lab's own never do.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Lab;
use crate::text;

/// Everything that comes back for these bytes, after which the client's half is closed.
fn answer(lab: &Lab, bytes: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", lab.ports[0])).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(bytes.as_bytes()).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

fn post(version: &str, path: &str, body: &Value) -> String {
    let body = body.to_string();
    format!("POST {path} {version}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn asked(seed: i64, tokens: i64) -> Value {
    json!({"model": "m", "prompt": "p", "options": {"seed": seed, "num_predict": tokens}})
}

#[test]
fn a_client_that_has_closed_its_half_gets_its_reply() {
    let mut lab = Lab::begun(json!({}));
    let reply = answer(&lab, &post("HTTP/1.1", "/api/generate", &asked(1, 20)));
    assert_eq!(reply.matches("\"done\":false").count(), 20, "{reply}");
    assert!(reply.contains("\"done\":true") && reply.ends_with("0\r\n\r\n"), "{reply}");
    assert_eq!(lab.ledger()["calls"][0]["complete"], true);
}

#[test]
fn a_client_that_goes_is_noticed_when_it_goes() {
    // A token each second.
    let mut lab = Lab::begun(json!({"rate_tokens_per_s": [1.0], "time_scale": 1.0}));
    let mut socket = TcpStream::connect(("127.0.0.1", lab.ports[0])).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = post("HTTP/1.1", "/api/generate", &asked(1, 30));
    socket.write_all(request.as_bytes()).unwrap();
    assert!(socket.read(&mut [0; 4096]).unwrap() > 0);
    assert_eq!(lab.ledger()["calls"][0]["left_ns"], -1);
    drop(socket);
    let is_noticed = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        lab.ledger()["calls"][0]["left_ns"].as_i64().unwrap() > 0
    });
    assert!(is_noticed, "{}", lab.ledger());
}

#[test]
fn a_client_of_http_1_0_gets_lines_and_then_the_end() {
    let lab = Lab::begun(json!({}));
    let reply = answer(&lab, &post("HTTP/1.0", "/api/generate", &asked(1, 5)));
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("chunked") && head.contains("Connection: close"), "{head}");
    let lines: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6);
    let one = lab.connect(0).generate(1, 5).unwrap();
    assert_eq!(text(&lines), text(&one.lines()));
}

#[test]
fn a_request_in_chunks_is_read() {
    let lab = Lab::begun(json!({}));
    let body = asked(1, 3).to_string();
    let (first, second) = body.split_at(9);
    let wire = format!(
        "POST /api/generate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n\
         {:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    assert_eq!(answer(&lab, &wire).matches("\"done\":false").count(), 3);
}

#[test]
fn a_reply_that_is_no_stream_comes_as_one_object() {
    let mut lab = Lab::begun(json!({}));
    let mut body = asked(1, 12);
    body["stream"] = json!(false);
    let mut client = lab.connect(0);
    for _ in 0..2 {
        client.send("POST", "/api/generate", &body.to_string());
        let reply = client.read().unwrap().lines();
        assert_eq!(
            (reply.len(), &reply[0]["done"], &reply[0]["eval_count"]),
            (1, &json!(true), &json!(12))
        );
        let streamed = lab.connect(1).generate(1, 12).unwrap();
        assert_eq!(reply[0]["response"], text(&streamed.lines()));
    }
    assert_eq!(lab.ledger()["calls"][0]["complete"], true);
}

#[test]
fn a_model_that_may_go_on_stops_by_itself() {
    let lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    for open in [-1, -2] {
        client.send("POST", "/api/generate", &asked(7, open).to_string());
        let lines = client.read().unwrap().lines();
        let done = lines.last().unwrap();
        assert_eq!(done["done_reason"], "stop");
        let said = lab_sim::text::own_length(7);
        assert_eq!((lines.len(), done["eval_count"].as_u64()), (said + 1, Some(said as u64)));
    }
    client.send("POST", "/api/generate", &asked(7, -3).to_string());
    assert_eq!(client.read().unwrap().status, 400);
}

#[test]
fn hundreds_of_clients_at_once_all_get_their_replies() {
    const CLIENTS: usize = 600;
    let mut lab = Lab::begun(json!({}));
    let port = lab.ports[0];
    let (ready, body) = (Barrier::new(CLIENTS), post("HTTP/1.1", "/api/generate", &asked(1, 20)));
    thread::scope(|scope| {
        let (ready, body) = (&ready, body.as_bytes());
        for _ in 0..CLIENTS {
            let one = move || {
                ready.wait();
                let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
                socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
                socket.write_all(body).unwrap();
                socket.shutdown(Shutdown::Write).unwrap();
                let mut reply = String::new();
                socket.read_to_string(&mut reply).unwrap();
                assert!(reply.contains("\"done\":true"), "{reply}");
            };
            thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, one).unwrap();
        }
    });
    let ledger = lab.ledger();
    let calls = ledger["calls"].as_array().unwrap();
    assert_eq!(calls.len(), CLIENTS);
    for call in calls {
        assert!(call["complete"] == true && call["tokens"] == 20, "{call}");
        // The schedule counts from when the request was there; what was late is told.
        let times = ["received_ns", "heard_ns", "first_due_ns", "first_sent_ns"];
        let [received, heard, due, sent] = times.map(|time| call[time].as_i64().unwrap());
        assert!(received <= heard && heard <= sent && received < due && due <= sent, "{call}");
        // 20 ms of prefill, a tenth of it, drawn with a sigma of 0.1.
        assert!((1_000_000..4_000_000).contains(&(due - received)), "{call}");
    }
}

#[test]
fn a_chat_has_messages() {
    let lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    let chat = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}],
        "options": {"seed": 1, "num_predict": 4},
    });
    client.send("POST", "/api/chat", &chat.to_string());
    let lines = client.read().unwrap().lines();
    let said: String =
        lines.iter().map(|line| line["message"]["content"].as_str().unwrap()).collect();
    assert_eq!(said, text(&lab.connect(1).generate(1, 4).unwrap().lines()));
    assert!(lines.iter().all(|line| line["message"]["role"] == "assistant"));
    assert_eq!(lines.last().unwrap()["done"], true);
    client.send("POST", "/api/chat", r#"{"model":"m"}"#);
    assert_eq!(client.read().unwrap().lines()[0]["done_reason"], "load");
}

#[test]
fn the_model_is_shown_and_another_is_not() {
    let lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    client.send("POST", "/api/show", r#"{"model":"m"}"#);
    assert!(client.read().unwrap().lines()[0]["model_info"].is_object());
    client.send("POST", "/api/show", r#"{"name":"x"}"#);
    assert_eq!(client.read().unwrap().status, 404);
}
