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
    assert!(report["generator_cpu_us_per_token"].as_f64().unwrap() > 0.0, "{report}");

    let knows = generator("ask $1; echo '{\"completed\":7,\"total_output_tokens\":35}'");
    let text = said(&calibrate(&knows, &[]));
    let row = text.lines().find(|line| line.starts_with("requests, whole")).unwrap();
    assert_eq!(row.split_whitespace().skip(2).collect::<Vec<_>>(), ["1", "7"], "{text}");
    assert!(text.contains("µs a token"), "{text}");
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
