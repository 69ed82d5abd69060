use proptest::prelude::*;

use super::*;

const PARSERS: [Parser; 6] = [
    Parser::Spans,
    Parser::SerdeLazy,
    Parser::SerdeCopied,
    Parser::SerdeWhole,
    Parser::Sonic,
    Parser::Simd,
];

/// What a parser makes of a line, as text.
fn seen(parser: Parser, line: &[u8]) -> Result<String, Invalid> {
    Parsers::new(parser).with_message(line, |message| format!("{message:?}"))
}

#[track_caller]
fn agree(line: &[u8]) -> Result<String, Invalid> {
    let found = PARSERS.map(|parser| seen(parser, line));
    for (parser, seen) in PARSERS.iter().zip(&found) {
        assert_eq!(seen, &found[1], "{parser:?}: {}", String::from_utf8_lossy(line));
    }
    found[1].clone()
}

fn text(line: &str) -> String {
    let text = |message: &mut Message<'_>| message.text.whole().to_owned();
    let texts = PARSERS.map(|parser| Parsers::new(parser).with_message(line.as_bytes(), text));
    assert!(texts.iter().all(|text| *text == texts[0]), "{line}: {texts:?}");
    texts[0].clone().unwrap()
}

#[test]
fn the_text_is_found_wherever_it_stands() {
    for (line, expected) in [
        (r#"{"message":{"content":"a"},"content":"b"}"#, "a"),
        (r#"{"message":{"content":[{"text":"a"},{"type":"image"},{"text":"b\n"}]}}"#, "a\nb\n"),
        (r#"{"message":{"content":[{"text":"\u00e9"},3,{"text":"b"},{"text":"c"}]}}"#, "é\nb\nc"),
        (r#"{"summary":"s","content":"c"}"#, "c"),
        (r#"{"summary":"s","content":["c"],"message":{"content":[]}}"#, "s"),
        (r#"{"message":{"content":"a"},"message":{"content":"b"}}"#, "b"),
        (r#"{"message":{"content":"a"},"message":null}"#, ""),
        (r#"{"mess\u0061ge":{"content":"a","content":[{"text":"b","text":"c"}]}}"#, "c"),
        (r#"{"message":{"content":""},"summary":"s"}"#, ""),
        (" {\t\"summary\" : \"s\" } ", "s"),
    ] {
        assert_eq!(text(line), expected, "{line}");
    }
}

#[test]
fn every_field_is_read() {
    let line = concat!(
        r#"{"type":"user","sessionId":"s","cwd":"/c","timestamp":"2025-08-03T06:05:00Z","#,
        r#""message":{"role":"u\tser","content":"a"},"parentUuid":null,"n":[1,-2.5e3,{"a":{}}]}"#
    );
    let expected = Message {
        kind: Some("user"),
        role: Some("u\tser"),
        session: Some("s"),
        cwd: Some("/c"),
        timestamp: Some("2025-08-03T06:05:00Z"),
        text: Text::Whole("a"),
    };
    assert_eq!(agree(line.as_bytes()), Ok(format!("{expected:?}")));
}

#[test]
fn all_parsers_agree_on_what_is_invalid() {
    let deep = |levels: usize| {
        format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels)).into_bytes()
    };
    let bad: &[&[u8]] = &[
        b"",
        b"[]",
        b"1",
        b"{",
        b"{}{}",
        b"{} x",
        b"{\"a\":1,}",
        b"{\"a\":01}",
        b"{\"a\":1e999}",
        b"{\"a\":-}",
        b"{\"a\":1.}",
        b"{\"a\":.5}",
        b"{\"a\":+1}",
        b"{\"a\":nul}",
        b"{\"a\":NaN}",
        b"{\"a\":\"\x01\"}",
        b"{\"a\":\"\xff\"}",
        b"{\"a\":\"\xed\xa0\x80\"}",
        b"{\"\xff\":1}",
        b"{\"a\":\"\\ud800\"}",
        b"{\"a\":\"\\ud800\\u0041\"}",
        b"{\"a\":\"\\udc00\"}",
        b"{\"\\ud800\":1}",
        b"{\"a\":\"\\x\"}",
        b"{\"a\":\"\\u12g4\"}",
        b"{'a':1}",
        b"{\"a\":1 \"b\":2}",
        b"{1:2}",
        b"\xef\xbb\xbf{}",
        b"{}\0",
    ];
    for line in bad {
        assert_eq!(agree(line), Err(Invalid), "{}", String::from_utf8_lossy(line));
    }
    let good: &[&[u8]] = &[
        b"{}",
        b" {} \t\r",
        b"{\"a\":123456789012345678901234567890,\"b\":-9223372036854775809,\"c\":1e-999}",
        b"{\"a\":18446744073709551616,\"b\":-0,\"c\":-0.0,\"d\":1E+2}",
        b"{\"a\":\"\\ud83d\\ude00\\/\\b\\u0000\",\"a\":\"\x7f\"}",
    ];
    for line in good {
        assert!(agree(line).is_ok(), "{}", String::from_utf8_lossy(line));
    }
    assert!(agree(&deep(126)).is_ok());
    assert_eq!(agree(&deep(127)), Err(Invalid));
    assert_eq!(agree(&deep(100_000)), Err(Invalid));
}

/// Lines made of the pieces that parsers disagree on.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "\\u00",
        "41",
        "\\ud83d",
        "\\ude00",
        "1",
        "-",
        "0",
        ".5",
        "e9",
        "E-400",
        "99999999999999999999",
        "true",
        "null",
        " ",
        "\t",
        "é",
        "\u{1f600}",
        "\"text\"",
        "\"message\":",
        "\"content\":",
        "\"summary\":",
        "\"type\":\"user\",",
        "\x01",
    ]);
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn parsers_agree_on_broken_lines(inner in pieces(), cut in any::<prop::sample::Index>()) {
        let _ = agree(&inner);
        let mut line = b"{\"message\":{\"content\":".to_vec();
        line.extend(&inner);
        line.extend(b"}}");
        let _ = agree(&line);
        line.remove(cut.index(line.len()));
        let _ = agree(&line);
        line.insert(cut.index(line.len()), 0xe9);
        let _ = agree(&line);
    }
}
