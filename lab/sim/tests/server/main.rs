//! The server through the doors that clients and the driver take: sockets and the control pipe.

mod apis;
mod client;
mod faults;
mod people;

use client::{Lab, Reply, spec};
use lab_sim::text::text_hash;
use serde_json::{Value, json};

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| line["response"].as_str().unwrap()).collect()
}

fn integers(value: &Value) -> Vec<i64> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn a_reply_has_ollamas_shape_and_a_stamp_in_every_line() {
    let lab = Lab::begun(json!({}));
    let reply = lab.connect(0).generate(5, 9).unwrap();
    assert!(reply.header.contains("Content-Type: application/x-ndjson\r\n"), "{}", reply.header);
    let lines = reply.lines();
    assert_eq!(lines.len(), 10);
    for line in &lines[..9] {
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 5, "{line}");
        assert_eq!((&line["model"], &line["done"]), (&json!("m"), &json!(false)));
        assert!(line["created_at"].as_str().unwrap().ends_with('Z'));
        assert_ne!(line["response"], "");
    }
    let done = &lines[9];
    assert_eq!(done["response"], "");
    assert_eq!((&done["done"], &done["done_reason"]), (&json!(true), &json!("length")));
    assert_eq!(done["eval_count"], 9);
    let total = done["total_duration"].as_i64().unwrap();
    let parts = ["load_duration", "prompt_eval_duration", "eval_duration"]
        .map(|key| done[key].as_i64().unwrap());
    assert!(parts.iter().sum::<i64>() <= total && parts[1] > 0 && parts[2] > 0, "{done}");
    let stamps: Vec<i64> = lines.iter().map(|line| line["sent_ns"].as_i64().unwrap()).collect();
    assert!(stamps.is_sorted(), "{stamps:?}");
}

#[test]
fn the_ledger_tells_what_the_client_saw() {
    let mut lab = Lab::begun(json!({}));
    let lines = lab.connect(1).generate(-5, 9).unwrap().lines();
    let ledger = lab.ledger();
    assert_eq!((&ledger["run"], &ledger["refused"]), (&json!("r"), &json!(0)));
    assert_eq!(ledger["calls"].as_array().unwrap().len(), 1);
    let call = &ledger["calls"][0];
    assert_eq!((&call["seed"], &call["port_index"]), (&json!(-5), &json!(1)));
    assert_eq!((&call["tokens"], &call["complete"]), (&json!(9), &json!(true)));
    assert_eq!(call["text_hash"], text_hash(text(&lines).as_bytes()));
    assert_eq!(call["first_sent_ns"], lines[0]["sent_ns"]);
    assert_eq!(call["last_sent_ns"], lines[8]["sent_ns"]);
    assert_eq!(call["done_sent_ns"], lines[9]["sent_ns"]);
    let errors = integers(&call["pacing_error_ns"]);
    assert!(errors.len() == 9 && errors.iter().all(|error| *error >= 0), "{errors:?}");
    let first = call["first_sent_ns"].as_i64().unwrap();
    assert_eq!(first - call["first_due_ns"].as_i64().unwrap(), errors[0]);
    assert!(call["first_due_ns"].as_i64() > call["received_ns"].as_i64());
}

#[test]
fn the_seed_decides_the_text_and_the_connection_is_kept() {
    let lab = Lab::begun(json!({"default_seed": 1}));
    let mut client = lab.connect(0);
    let one = client.generate(1, 40).unwrap();
    let two = client.generate(2, 40).unwrap();
    let again = lab.connect(1).generate(1, 40).unwrap();
    assert_eq!(text(&one.lines()), text(&again.lines()));
    assert_ne!(text(&one.lines()), text(&two.lines()));
    client.send("POST", "/api/generate", r#"{"model":"m","prompt":"p"}"#);
    let defaults = client.read().unwrap().lines();
    assert_eq!(defaults.len(), 129);
    assert!(text(&defaults).starts_with(&text(&one.lines())));
}

#[test]
fn without_a_seed_of_all_each_request_has_its_own() {
    let mut lab = Lab::begun(json!({"default_seed": null}));
    for _ in 0..2 {
        let mut client = lab.connect(0);
        client.send("POST", "/api/generate", r#"{"model":"m","prompt":"p"}"#);
        client.read().unwrap();
    }
    let calls = lab.ledger()["calls"].as_array().unwrap().clone();
    let seeds: Vec<&Value> = calls.iter().map(|call| &call["seed"]).collect();
    assert_eq!(seeds, [&json!(0), &json!(1)]);
}

#[test]
fn many_streams_on_two_ports_come_out_whole() {
    let mut lab = Lab::begun(json!({"mode": "shared_gpu", "rate_tokens_per_s": [2000.0, 900.0]}));
    let mut clients: Vec<_> = (0..40).map(|seed| lab.connect(seed % 2)).collect();
    for (seed, client) in clients.iter_mut().enumerate() {
        client.send_generate(seed as i64, 30);
    }
    let replies: Vec<Reply> = clients.iter_mut().map(|client| client.read().unwrap()).collect();
    assert!(replies.iter().all(|reply| reply.lines().len() == 31));
    let calls = lab.ledger()["calls"].as_array().unwrap().clone();
    assert_eq!(calls.len(), 40);
    for call in calls {
        let seed = call["seed"].as_i64().unwrap();
        let lines = replies[seed as usize].lines();
        assert_eq!(call["text_hash"], text_hash(text(&lines).as_bytes()));
        assert_eq!(call["port_index"], seed % 2);
    }
}

#[test]
fn a_queue_sends_no_token_of_the_second_before_the_end_of_the_first() {
    let mut lab = Lab::begun(json!({"mode": "queue"}));
    let mut clients = [lab.connect(0), lab.connect(1)];
    for (seed, client) in clients.iter_mut().enumerate() {
        client.send_generate(seed as i64, 20);
    }
    clients.iter_mut().for_each(|client| assert_eq!(client.read().unwrap().status, 200));
    let ledger = lab.ledger();
    let mut calls = ledger["calls"].as_array().unwrap().clone();
    calls.sort_by_key(|call| call["first_due_ns"].as_i64());
    let last_due =
        calls[0]["last_sent_ns"].as_i64().unwrap() - integers(&calls[0]["pacing_error_ns"])[19];
    assert!(calls[1]["first_due_ns"].as_i64().unwrap() > last_due);
}

#[test]
fn the_simple_routes_answer_as_ollama_does() {
    let lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    assert_eq!(client.get("/").body, "Ollama is running");
    assert_eq!(
        client.get("/api/tags").lines()[0],
        json!({"models": [{"model": "m", "name": "m"}]})
    );
    assert!(client.get("/api/version").lines()[0]["version"].is_string());
    assert_eq!(client.get("/api/nothing").status, 404);
    client.send("POST", "/api/generate", r#"{"model":"m","stream":false}"#);
    assert_eq!(client.read().unwrap().lines()[0]["done_reason"], "load");
}

#[test]
fn what_cannot_be_served_is_refused_with_a_sentence() {
    let mut lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    let mut refused = |body: &str| {
        client.send("POST", "/api/generate", body);
        let reply = client.read().unwrap();
        (reply.status, reply.lines()[0]["error"].as_str().unwrap().to_owned())
    };
    assert_eq!(refused(r#"{"model":"x","prompt":"p"}"#), (404, "model 'x' not found".to_owned()));
    let (status, error) = refused(r#"{"model":"m","prompt":"p","options":{"num_predict":0}}"#);
    assert!(status == 400 && error.contains("num_predict"), "{error}");
    let (status, error) = refused("{");
    assert!(status == 400 && error.contains("body"), "{error}");
    assert_eq!(lab.ledger()["refused"], 3);
}

#[test]
fn nothing_streams_before_a_run_has_begun() {
    let lab = Lab::start();
    let reply = lab.connect(0).generate(1, 1).unwrap();
    assert_eq!(reply.status, 503);
    assert!(reply.lines()[0]["error"].as_str().unwrap().contains("begin"));
}

#[test]
fn a_client_that_leaves_is_no_longer_active() {
    // One token a second: the first call would keep the queue for 16 minutes.
    let more = json!({"mode": "queue", "rate_tokens_per_s": [1.0], "time_scale": 1.0});
    let mut lab = Lab::begun(more);
    let mut leaver = lab.connect(0);
    leaver.send_generate(1, 1000);
    leaver.read_first_line();
    let mut next = lab.connect(1);
    next.send_generate(2, 1);
    drop(leaver);
    assert_eq!(next.read().unwrap().lines().len(), 2);
    let calls = lab.ledger()["calls"].clone();
    assert_eq!((&calls[0]["seed"], &calls[0]["complete"]), (&json!(1), &json!(false)));
    assert_eq!((&calls[1]["seed"], &calls[1]["complete"]), (&json!(2), &json!(true)));
}

#[test]
fn a_slow_client_gets_everything_and_holds_up_nobody() {
    // How much sockets take unread is the kernel's affair, and can be all of it.
    let waited = (0..10).any(|_| buffered_writes_of_a_slow_client() > 0);
    assert!(waited, "the sockets took all, ten times");
}

fn buffered_writes_of_a_slow_client() -> u64 {
    // 30,000 lines are some 3 MB, mostly beyond what such sockets take unread.
    let mut lab = Lab::begun(json!({"rate_tokens_per_s": [1e6]}));
    let mut slow = lab.connect(0);
    slow.keep_little();
    slow.send_generate(1, 30_000);
    assert_eq!(lab.connect(1).generate(2, 30_000).unwrap().lines().len(), 30_001);
    slow.wait_until_full();
    let lines = slow.read().unwrap().lines();
    assert_eq!(lines.len(), 30_001);
    let calls = lab.ledger()["calls"].clone();
    let slow = calls.as_array().unwrap().iter().find(|call| call["seed"] == 1).unwrap();
    assert!(slow["complete"] == true, "{slow}");
    assert_eq!(slow["text_hash"], text_hash(text(&lines).as_bytes()));
    slow["buffered_writes"].as_u64().unwrap()
}

#[test]
fn a_new_run_breaks_off_the_one_before_it() {
    let more = json!({"rate_tokens_per_s": [1.0], "time_scale": 1.0});
    let mut lab = Lab::begun(more);
    let mut client = lab.connect(0);
    client.send_generate(1, 1000);
    client.read_first_line();
    assert_eq!(lab.ledger()["calls"][0]["complete"], false);
    let answer = lab.ask(&json!({"begin": {"run": "next", "server": spec(json!({}))}}));
    assert_eq!(answer, json!({"ready": "next"}));
    while client.read_some().unwrap() > 0 {}
    assert_eq!(lab.ask(&json!({"collect": "next"}))["ledger"]["calls"], json!([]));
    let error = lab.ask(&json!({"collect": "r"}))["error"].as_str().unwrap().to_owned();
    assert!(error.contains("\"r\""), "{error}");
}

#[test]
fn bad_control_lines_are_named_and_survived() {
    let mut lab = Lab::start();
    let mut error = |server: Value| {
        let answer = lab.ask(&json!({"begin": {"run": "r", "server": server}}));
        answer["error"].as_str().unwrap().to_owned()
    };
    assert!(error(spec(json!({"hurry": 1}))).contains("hurry"));
    assert!(error(spec(json!({"ttft_ms": {"median": 1.0, "mean": 1.0}}))).contains("mean"));
    assert!(error(spec(json!({"mode": "fast"}))).contains("fast"));
    assert!(error(spec(json!({"rate_tokens_per_s": []}))).contains("rate_tokens_per_s"));
    assert!(error(spec(json!({"time_scale": 0.0}))).contains("time_scale"));
    let elsewhere = json!({"faults": [{"kind": "stall", "port_index": 2}]});
    assert!(error(spec(elsewhere)).contains("port_index"));
    assert!(lab.ask(&json!({"finish": "r"}))["error"].as_str().unwrap().contains("finish"));
    let answer = lab.ask(&json!({"begin": {"run": "r", "server": spec(json!({}))}}));
    assert_eq!(answer, json!({"ready": "r"}));
}

#[test]
fn the_end_of_the_control_input_ends_the_server() {
    let lab = Lab::begun(json!({}));
    let address = ("127.0.0.1", lab.ports[0]);
    lab.end().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
}
