//! `lab serve`: what it refuses, of requests and of records.

mod served;

use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Output},
};

use proof_kit::Attack;
use served::{Server, committed, copy, lab};
use tempfile::TempDir;

/// A server of one folder, with a record of the same kind outside and a link to it inside.
fn with_an_outside() -> (Server, TempDir) {
    let world = TempDir::new().unwrap();
    let (inside, outside) = (world.path().join("inside"), world.path().join("outside"));
    copy(&committed("audit"), &inside.join("record"));
    copy(&committed("audit"), &outside);
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    (Server::of(&[&inside]), world)
}

#[test]
fn nothing_is_served_but_what_is_listed() {
    let (server, _world) = with_an_outside();
    assert_eq!(server.status("/r/0/record.html"), 200);
    assert!(!server.page("/").contains("link.html"));
    for target in [
        "/none",
        "/r",
        "/r/0/none.html",
        "/r/0/link.html",
        "/r/1/record.html",
        "/r/-1/record.html",
        "/r/18446744073709551616/record.html",
        "/r/0x0/record.html",
        "/r/%30%00/record.html",
        "/r/0/record",
        "/r/0/record/report.md",
        "/r/0/record.html/",
        "/r/0/record.html%00",
        "/r/0/record%00.html",
        "/r/0/record.html%2F..%2F..%2Foutside.html",
        "/r/0/../outside.html",
        "/r/0/..%2Foutside.html",
        "/r/0/%2e%2e%2foutside.html",
        "/r/0/%252e%252e%252foutside.html",
        "/r/0/..%5Coutside.html",
        "/r/0/....//outside.html",
        "/r/0/link%2Frecord.html",
        "/r/0/..html",
        "/r/0/.html",
        "/r/0//etc/passwd",
        "/r/0/%2Fetc%2Fpasswd.html",
        "/R/0/record.html",
        "/../../Cargo.toml",
        "/page.js/../../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "//etc/passwd",
        "/runs.jsonl",
    ] {
        let _attack = Attack::on("serve", &format!("an address: {target}"));
        assert_eq!(server.status(target), 404, "{target}");
    }
    for (target, status) in [
        ("/against?of=..%2F..%2Foutside&with=record", 404),
        ("/against?of=0%2F..%2Foutside&with=0%2Frecord", 404),
        ("/against?of=0%2Flink&with=0%2Frecord", 404),
        ("/against?of=%2Fetc%2Fpasswd&with=%2Fetc%2Fpasswd", 404),
        ("/history?experiment=..%2Foutside&metric=a", 400),
    ] {
        let _attack = Attack::on("serve", &format!("a question: {target}"));
        assert_eq!(server.status(target), status, "{target}");
    }
}

/// The status of an answer; empty where there was none.
fn status(server: &Server, request: &str) -> String {
    let (head, _) = server.say(request);
    head.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn what_is_no_question_of_this_machines_browser_is_refused() {
    let (server, _world) = with_an_outside();
    let hosts = [
        "rebound.example.test",
        "localhost.example.test",
        "127.0.0.1.example.test",
        "127.0.0.1@example.test",
        "example.test#127.0.0.1",
        "example.test:80:127.0.0.1",
        "[::1].example.test",
        "[::2]",
        "0.0.0.0",
        "0x7f000001",
        "2130706433",
        "192.0.2.1:80",
        "localhost/example.test",
        "",
    ];
    for host in hosts {
        let _attack = Attack::on("serve", &format!("the host: {host}"));
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(status(&server, &request), "403", "{host}");
        let two = format!("GET / HTTP/1.1\r\nHost: localhost\r\nhOST:{host}\r\n\r\n");
        assert_eq!(status(&server, &two), "403", "{host}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", ""] {
        let _attack = Attack::on("serve", &format!("the method: {method}"));
        let request = format!("{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(status(&server, &request), "405", "{method}");
    }
    for line in [
        "GET / HTTP/3",
        "GET / HTTP/2.0",
        "GET /",
        "GET / x HTTP/1.1",
        "GET\t/\tHTTP/1.1",
        "GET /%zz HTTP/1.1",
        "GET /%ff HTTP/1.1",
        "GET /?a=%c3%28 HTTP/1.1",
        "GET http://example.test/ HTTP/1.1",
        "GET r/0/record.html HTTP/1.1",
        "GET \\..\\outside HTTP/1.1",
        "\u{16}\u{3}\u{1}",
    ] {
        let _attack = Attack::on("serve", &format!("the line: {line}"));
        assert_eq!(status(&server, &format!("{line}\r\n\r\n")), "400", "{line}");
    }
    assert_eq!(status(&server, "GET /favicon.ico HTTP/1.1\r\n\r\n"), "204");
    let (head, body) = server.say("HEAD / HTTP/1.1\r\n\r\n");
    assert!(head.contains("200 OK") && body.is_empty(), "{head}");
    let policy = format!("Content-Security-Policy: {}", lab_site::policy_served());
    assert!(head.contains(&policy) && head.contains("X-Content-Type-Options: nosniff"), "{head}");
}

/// What could end a line of the answer, or be taken for a second question.
#[test]
fn one_question_has_one_answer() {
    let (server, _world) = with_an_outside();
    for request in [
        "GET / HTTP/1.1\r\n\r\nGET /none HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 31\r\n\r\nGET /none HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /none HTTP/1.1\r\n\r\n",
        "GET /r/0/a%0d%0aSet-Cookie:%20a=b.html HTTP/1.1\r\n\r\n",
        "GET /?a=%0d%0a%0d%0aHTTP/1.1%20200%20OK HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nConnection: keep-alive\r\nUpgrade: websocket\r\n\r\n",
    ] {
        let _attack = Attack::on("serve", &format!("two in one: {request}"));
        let (head, body) = server.say(request);
        assert_eq!(head.matches("HTTP/1.1").count(), 1, "{request}: {head}");
        assert!(!head.contains("Set-Cookie") && !body.contains("\r\n\r\nHTTP"), "{request}");
        assert!(head.contains("Connection: close"), "{head}");
    }
}

/// What a link of somebody else's page could make this server say.
#[test]
fn what_is_asked_for_is_no_html_of_the_answer() {
    let world = TempDir::new().unwrap();
    copy(&committed("offload-wake"), &world.path().join("record"));
    let server = Server::of(&[world.path()]);
    let hostile = [
        "%3Cscript%3Ealert(1)%3C/script%3E",
        "%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "%22%20onfocus=%22alert(1)%22%20autofocus=%22",
        "%3Cimg%20src=x%20onerror=alert(1)%3E",
        "%3C/title%3E%3Csvg%20onload=alert(1)%3E",
        "javascript:alert(1)",
    ];
    let all = "experiment=offload-wake&metric=tick_p99_ns&variant=thompson&cell=";
    let places = [
        format!("/history?{all}"),
        "/history?experiment=offload-wake&metric=tick_p99_ns&variant=".to_owned(),
        "/history?experiment=offload-wake&metric=".to_owned(),
        "/history?metric=".to_owned(),
        "/history?experiment=".to_owned(),
        "/against?of=record&with=".to_owned(),
        "/r/0/".to_owned(),
        "/".to_owned(),
    ];
    for (text, place) in hostile.iter().flat_map(|text| places.iter().map(move |it| (text, it))) {
        let target = format!("{place}{text}");
        let _attack = Attack::on("serve", &format!("a link with a text of its own: {target}"));
        let (_, page) = server.ask(&target);
        for part in ["<script>", "<img", "<svg onload", "href=\"javascript:"] {
            assert!(!page.contains(part), "{part} of {target}: {page}");
        }
        // What stands in a tag outside of its values in quotes.
        let tags = page.split('<').filter_map(|rest| rest.split('>').next());
        let mut names = tags.flat_map(|tag| tag.split('"').step_by(2));
        assert!(!names.any(|part| part.contains(" on")), "{target}: {page}");
        assert_eq!(page.matches("<script").count(), 1, "{target}: {page}");
    }
}

#[test]
fn no_script_of_a_record_is_run() {
    let world = TempDir::new().unwrap();
    let record = world.path().join("record");
    copy(&committed("audit"), &record);
    fs::remove_file(record.join("report.md")).unwrap();
    fs::write(record.join("report.md"), "# x\n\n<script>alert(1)</script>\n").unwrap();
    let server = Server::of(&[world.path()]);
    let _attack = Attack::on("serve", "a script in report.md");
    let page = server.page("/r/0/record.html");
    assert!(page.contains("<script src=\"/page.js\"></script>"), "{page}");
    assert!(!page.contains("\"use strict\""), "{page}");
    assert!(server.page("/page.js").contains("\"use strict\""));
}

#[test]
fn a_request_without_end_is_no_load() {
    let server = Server::of(&[&committed("audit")]);
    let mut endless = TcpStream::connect(&server.address).unwrap();
    // The server hangs up long before; what it has not read by then may break the pipe.
    let _attack = Attack::on("serve", "a request of 64 MiB");
    let mut sent = 0;
    while sent < 64 << 20 && endless.write_all(&[b'x'; 64 << 10]).is_ok() {
        sent += 64 << 10;
    }
    assert!(sent < 64 << 20, "everything was read");
    // Those who say nothing keep nobody else waiting.
    let _silence = Attack::on("serve", "eight connections that say nothing");
    let silent: Vec<_> = (0..8).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    assert_eq!(server.status("/"), 200);
    drop(silent);
}

fn refused(args: &[&str], dir: &Path) -> Output {
    let mut lab = Command::new(lab());
    let lab = lab.env_remove("BUILD_WORKSPACE_DIRECTORY").current_dir(dir).arg("serve").args(args);
    lab.output().unwrap()
}

#[test]
fn what_cannot_be_served_is_refused_in_one_sentence() {
    let world = TempDir::new().unwrap();
    fs::create_dir(world.path().join("results")).unwrap();
    for (args, sentence) in [
        (&["--listen", "0.0.0.0:0", "results"][..], "0.0.0.0:0: is no loopback address"),
        (&["--listen", "[::]:0", "results"][..], "[::]:0: is no loopback address"),
        (&["none"][..], "none is no folder; name one"),
        (&[][..], "there is no results/ or reports/ here"),
    ] {
        let _attack = Attack::on("serve", &format!("lab serve {}", args.join(" ")));
        let output = refused(args, world.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("lab: ") && said.contains(sentence), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = held.local_addr().unwrap().to_string();
    let output = refused(&["--listen", &taken, "results"], world.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("cannot listen there"), "{said}");
    drop(held);
}
