//! Each fault as a client meets it.

use std::io::ErrorKind;

use serde_json::{Value, json};

use crate::client::Lab;

fn faulty(fault: Value) -> Lab {
    Lab::begun(json!({"faults": [fault]}))
}

fn is_complete(lab: &mut Lab) -> Vec<bool> {
    let ledger = lab.ledger();
    let calls = ledger["calls"].as_array().unwrap().iter();
    calls.map(|call| call["complete"].as_bool().unwrap()).collect()
}

#[test]
fn refuse_resets_before_any_answer() {
    let mut lab = faulty(json!({"kind": "refuse"}));
    let error = lab.connect(0).generate(1, 3).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(lab.ledger()["refused"], 1);
}

#[test]
fn reset_comes_in_the_middle_of_the_stream() {
    let mut lab = faulty(json!({"kind": "reset", "after_tokens": 2}));
    let mut client = lab.connect(0);
    client.send_generate(1, 9);
    assert!(client.read_first_line().contains("\"done\":false"));
    let error = (0..9).find_map(|_| client.read_some().err()).unwrap();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(lab.ledger()["calls"][0]["tokens"], 2);
    assert_eq!(is_complete(&mut lab), [false]);
}

#[test]
fn stall_sends_its_tokens_and_then_nothing() {
    let mut lab = faulty(json!({"kind": "stall", "after_tokens": 1}));
    let mut client = lab.connect(0);
    client.send_generate(1, 9);
    client.read_first_line();
    // Another call is served meanwhile, up to the same point; only leaving ends it.
    let mut other = lab.connect(1);
    other.send_generate(2, 9);
    other.read_first_line();
    assert_eq!(is_complete(&mut lab), [false, false]);
}

#[test]
fn broken_json_is_cut_off_inside_a_line() {
    let lab = faulty(json!({"kind": "broken_json", "after_tokens": 2}));
    let reply = lab.connect(0).generate(1, 9).unwrap();
    let lines: Vec<bool> =
        reply.body.lines().map(|line| serde_json::from_str::<Value>(line).is_ok()).collect();
    assert_eq!(lines, [true, true, false]);
}

#[test]
fn never_done_ends_the_body_without_done() {
    let mut lab = faulty(json!({"kind": "never_done"}));
    let lines = lab.connect(0).generate(1, 4).unwrap().lines();
    assert!(lines.len() == 4 && lines.iter().all(|line| line["done"] == false));
    assert_eq!(is_complete(&mut lab), [false]);
}

#[test]
fn error_line_is_the_last_line() {
    let lab = faulty(json!({"kind": "error_line", "after_tokens": 0}));
    let lines = lab.connect(0).generate(1, 4).unwrap().lines();
    assert!(lines.len() == 1 && lines[0]["error"].is_string(), "{lines:?}");
}

#[test]
fn http_500_and_404_come_instead_of_a_stream() {
    for (kind, status) in [("http_500", 500), ("not_found", 404)] {
        let mut lab = faulty(json!({"kind": kind}));
        let reply = lab.connect(0).generate(1, 4).unwrap();
        assert_eq!(reply.status, status);
        assert!(reply.lines()[0]["error"].is_string());
        assert_eq!(lab.ledger()["refused"], 1);
    }
}

#[test]
fn short_reply_says_so() {
    let mut lab = faulty(json!({"kind": "short_reply", "after_tokens": 3}));
    let lines = lab.connect(0).generate(1, 4).unwrap().lines();
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[3]["eval_count"], &lines[3]["done_reason"]), (&json!(3), &json!("stop")));
    assert_eq!(is_complete(&mut lab), [true]);
}

#[test]
fn a_fault_keeps_to_its_port_and_its_turn() {
    let lab = faulty(json!({"kind": "http_500", "port_index": 1, "every": 2}));
    let statuses = |port| {
        let mut client = lab.connect(port);
        [(); 4].map(|()| client.generate(1, 1).unwrap().status)
    };
    assert_eq!(statuses(0), [200; 4]);
    assert_eq!(statuses(1), [200, 500, 200, 500]);
}
