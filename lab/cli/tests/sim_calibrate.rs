//! `lab sim calibrate` on generators that are shell scripts.

use std::process::{Command, Output};

use proof_kit::Attack;
use serde_json::{Value, json};

/// `ask URL` asks for a reply of five tokens, by bash's own sockets.
const ASK: &str = "ask() { local a=${1#http://}; exec 3<>/dev/tcp/${a%:*}/${a#*:}; \
    local b='{\"model\":\"paced\",\"prompt\":\"p\",\"options\":{\"num_predict\":5}}'; \
    printf 'POST /api/generate HTTP/1.0\\r\\nContent-Length: %d\\r\\n\\r\\n%s' ${#b} \"$b\" >&3; \
    cat <&3 >/dev/null; }; ";

fn generator(script: &str) -> String {
    format!("bash -c '{}' ask {{url}}", (ASK.to_owned() + script).replace('\'', "'\\''"))
}

fn calibrate(command: &str, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["sim", "calibrate", "--ttft-ms", "5", "--rate", "1000", command])
        .args(more)
        .output()
        .unwrap()
}

/// The words behind a row's title.
fn row<'a>(table: &'a str, title: &str) -> Vec<&'a str> {
    let of_title = table.lines().find_map(|line| line.strip_prefix(title));
    of_title.unwrap_or_else(|| panic!("no {title} in {table}")).split_whitespace().collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn the_server_counts_what_a_generator_did() {
    let three = generator("for i in 1 2 3; do ask $1; done");
    let output = calibrate(&three, &["--json", "--concurrency", "4"]);
    assert!(output.status.success(), "{}", said(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["requests"], &report["complete"]), (&json!(3), &json!(3)));
    assert_eq!((&report["tokens"], &report["generator"]), (&json!(15), &Value::Null));
    // It was told to keep up four and asked one after the other.
    assert_eq!((&report["concurrency_asked"], &report["concurrency_most"]), (&json!(4), &json!(1)));
    let requests =
        json!({"quantity": "requests", "statistic": "", "server": 3.0, "generator": null});
    assert_eq!(report["quantities"][0], requests);
    assert!(report["generator_cpu_us_per_token"].as_f64().unwrap() > 0.0, "{report}");

    let knows = generator("ask $1; echo '{\"completed\":7,\"total_output_tokens\":35}'");
    let text = said(&calibrate(&knows, &[]));
    assert_eq!(row(&text, "requests "), ["1", "7", "+6"], "{text}");
    assert!(text.contains("µs a token"), "{text}");
}

#[test]
fn a_report_in_a_file_is_read_once_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let file = file.to_str().unwrap();
    let report = r#"{"request_count":{"avg":1},"time_to_first_token":{"p99":9}}"#;
    let writes = format!("{}; echo '{report}' > {file}", generator("ask $1"));
    let text = said(&calibrate(&writes, &["--report", file, "--runs", "2"]));
    assert_eq!(row(&text, "first token p99, ms ")[1], "9.000", "{text}");
    for (file, expected) in [(file, "it is from before"), ("none.json", "it was not written")] {
        let output = calibrate(&generator("ask $1"), &["--report", file]);
        assert!(!output.status.success() && said(&output).contains(expected), "{}", said(&output));
    }
}

/// A client that was given 5 tokens in 2 chunks, told of their number by the server.
#[test]
fn a_run_of_a_client_of_ours_is_a_report() {
    let outcome = r#"{"samples":{"call_start_ns":[1000000],"call_end_ns":[9000000],
        "call_tokens":[2],"call_eval_count":[5],"token_received_ns":[3000000,7000000]}}"#;
    let ours = format!("{}; echo '{outcome}'", generator("ask $1"));
    let text = said(&calibrate(&ours, &[]));
    for (title, ours) in [
        ("tokens ", "5"),
        ("first token p50, ms ", "2.000"),
        ("chunk gap p50, ms ", "4.000"),
        ("mean gap p50, ms ", "1.000"),
        ("gap p50, ms ", "-"),
    ] {
        assert_eq!(row(&text, title)[1], ours, "{title} in {text}");
    }
}

#[test]
fn a_generator_that_makes_no_load_is_told_in_one_sentence() {
    let flood = generator("for i in $(seq 20); do ask $1; done");
    let knock = generator(
        "a=${1#http://}; exec 3<>/dev/tcp/${a%:*}/${a#*:}; \
         printf 'GET /x HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3 >/dev/null",
    );
    for (command, more, expected) in [
        ("sleep 0", &[][..], "CMD has no {url}"),
        (&generator("true"), &[], "did not ask the server"),
        (&generator("ask $1; echo broke >&2; exit 3"), &[], "after 1 requests, and said: broke"),
        (&knock, &[], "connected and got no reply"),
        (
            &flood,
            &["--requests-max", "5", "--limit-s", "120"],
            "the generator floods: it made more than 5",
        ),
        ("sleep 600; echo {url}", &["--limit-s", "1"], "did not end within 1 s"),
    ] {
        let _attack = Attack::on("servers", &format!("a generator of which is said: {expected}"));
        let output = calibrate(command, more);
        assert!(!output.status.success(), "{command}: {}", said(&output));
        assert!(said(&output).contains(expected), "{command}: {}", said(&output));
    }
}
