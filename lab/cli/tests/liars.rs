//! `lab watch` on servers that lie about their replies.

mod answering;

use std::{
    fs,
    process::{Command, Output, Stdio},
    time::Duration,
};

use answering::{answering, whole};
use proof_kit::Attack;
use tempfile::TempDir;

/// Whatever fails half of the time is an alert.
const RULES: &str = "[[rule]]\nmetric = \"error_rate\"\nover = 0.5\nwindow_s = 600\n\
                     severity = \"alert\"\naction = \"see the server\"\n";

fn lab(args: &[&str]) -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.args(args).stdin(Stdio::null());
    lab
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn liar(answer: String) -> String {
    answering(vec![(Duration::ZERO, answer.into_bytes())])
}

#[test]
fn a_server_that_lies_about_its_reply_has_failed() {
    let world = TempDir::new().unwrap();
    let rules = world.path().join("rules.toml");
    fs::write(&rules, RULES).unwrap();
    let token = "{\"model\":\"m\",\"response\":\"one\",\"done\":false}\n";
    let done = |keys: &str| format!("{{\"model\":\"m\",\"done\":true{keys}}}\n");
    let good = token.to_owned() + &done(",\"eval_count\":1,\"eval_duration\":10");
    let ok = |body: &str| whole("200 OK", body);
    let watch = |answer: String| {
        let args = ["watch", "--servers", &liar(answer), "--model", "m", "--count", "1"];
        lab(&args).args(["--timeout", "10s", "--rules"]).arg(&rules).output().unwrap()
    };
    let output = watch(ok(&good));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let other = "{\"model\":\"m2\",\"response\":\"\",\"done\":true,\"eval_count\":1}\n";
    for (answer, expected) in [
        (ok(""), "the reply ended without a done line, after 0 tokens"),
        (ok(token), "the reply ended without a done line, after 1 tokens"),
        (ok(&done("")), "the reply is empty"),
        (ok(&done(",\"eval_count\":7")), "the reply is empty"),
        (ok(&(token.to_owned() + &done(",\"eval_count\":0"))), "eval_count is 0, but 1 lines"),
        (ok(&(token.to_owned() + &done(",\"eval_count\":30"))), "eval_count is 30, but 1 lines"),
        (ok(&(token.repeat(40) + &done(""))), "the reply has 40 tokens; asked were 32"),
        (ok(&(token.to_owned() + other)), "the server ran the model m2; asked was m"),
        (ok(&(token.to_owned() + "{\"done\":true}\n")), "does not name its model; asked was m"),
        (ok(&(good.clone() + token)), "the server went on after its done line"),
        (ok(&(good.clone() + &done(""))), "the server went on after its done line"),
        (
            ok(&(token.to_owned() + &done(",\"eval_duration\":-5"))),
            "eval_duration is -5 ns of a request of",
        ),
        (
            ok(&(token.to_owned() + &done(",\"total_duration\":7200000000000"))),
            "total_duration is 7200000000000 ns of a request of",
        ),
        (
            ok(&(token.to_owned() + &done(",\"load_duration\":7200000000000"))),
            "load_duration is 7200000000000 ns of a request of",
        ),
        (ok("<html>good</html>"), "broken JSON in line `<html>good</html>`"),
        (ok("{\"error\":\"no memory\"}\n"), "the server reports an error: no memory"),
        (
            whole("302 Found\r\nLocation: http://127.0.0.1:1/", &good),
            "status 302: a redirect, and none is followed",
        ),
        (
            whole("307 Temporary Redirect\r\nLocation: /api/generate", &good),
            "status 307: a redirect, and none is followed",
        ),
        (whole("204 No Content", ""), "status 204"),
        (whole("503 Service Unavailable", "{\"error\":\"busy\"}"), "status 503: busy"),
    ] {
        let _attack = Attack::on("watch", &format!("a server of whom is said: {expected}"));
        let output = watch(answer);
        assert_eq!(output.status.code(), Some(12), "{expected}: {}", said(&output));
        assert!(said(&output).contains(expected), "{expected}: {}", said(&output));
        assert!(said(&output).contains("1 requests, 1 failed"), "{}", said(&output));
    }
}
