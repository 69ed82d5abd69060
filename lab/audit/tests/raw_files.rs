//! Reading raw runs in the formats that benchmark tools write.

use lab_audit::raw::RawError;
use lab_audit::{Raw, Value};

fn numbers(raw: &Raw, column: &str) -> Vec<f64> {
    raw.numbers(column).into_iter().map(|(_, number)| number).collect()
}

#[test]
fn delimited_text_in_four_dialects() {
    let texts = [
        "engine,ms\na,1.5\nb,2.5\n",
        "\u{feff}# remark\nengine;ms\na;1,5\nb;2,5\n",
        "engine\tms\r\na\t1.5\r\nb\t2.5\r\n",
        "\"engine\"|ms\na|1.5\n\"b\"|2.5",
    ];
    for text in texts {
        let raw = Raw::parse("r.csv", text).unwrap();
        assert_eq!((raw.rows, numbers(&raw, "ms")), (2, vec![1.5, 2.5]), "{text}");
        assert_eq!(raw.order, ["engine", "ms"]);
    }
}

#[test]
fn odd_delimited_text_is_survived() {
    let ragged = Raw::parse("r.csv", "a,a,\n1\n1,2,3,4\n").unwrap();
    assert_eq!(ragged.order, ["a", "a (2)", "column 3", "column 4"]);
    assert_eq!(ragged.values("column 4"), [Value::Missing, Value::Number(4.0)]);
    assert_eq!(numbers(&Raw::parse("r.csv", "1\n2\n3\n").unwrap(), "column 1"), [1.0, 2.0, 3.0]);
    assert!(matches!(Raw::parse("r", "# Title\n\nprose"), Err(RawError::Columns { .. })));
    assert!(matches!(Raw::parse("r", " \n"), Err(RawError::Empty { .. })));
}

#[test]
fn json_rows_flatten_to_dotted_columns() {
    let text =
        r#"[{"name":"a","env":{"cpu":{"cores":8}},"ms":1.5,"ok":true},{"name":"b","ms":null}]"#;
    let raw = Raw::parse("r.json", text).unwrap();
    assert_eq!(numbers(&raw, "env.cpu.cores"), [8.0]);
    assert_eq!(raw.values("ms"), [Value::Number(1.5), Value::Missing]);
    assert_eq!(raw.values("ok")[0], Value::Text("true".to_owned()));
    let lines = Raw::parse("r.jsonl", "{\"x\":1}\n\n{\"x\":2}\n").unwrap();
    assert_eq!(numbers(&lines, "x"), [1.0, 2.0]);
}

#[test]
fn hyperfine_gives_runs_and_summaries() {
    let text = r#"{"results":[
        {"command":"a","mean":1.5,"stddev":0.7,"times":[1.0,2.0],"exit_codes":[0,0]},
        {"command":"b","mean":3.0,"times":[3.0]}]}"#;
    let tables = Raw::tables("h.json", text).unwrap();
    assert_eq!((tables[0].rows, numbers(&tables[0], "time")), (3, vec![1.0, 2.0, 3.0]));
    assert_eq!(numbers(&tables[0], "run"), [1.0, 2.0, 1.0]);
    assert_eq!(tables[0].values("command")[2], Value::Text("b".to_owned()));
    assert_eq!(numbers(&tables[1], "mean"), [1.5, 3.0]);
    assert_eq!(Raw::parse("h.json", text).unwrap(), tables[0]);
}

#[test]
fn criterion_samples_become_time_per_iteration() {
    let text = r#"{"sampling_mode":"Linear","iters":[10.0,20.0],"times":[50.0,120.0]}"#;
    assert_eq!(numbers(&Raw::parse("sample.json", text).unwrap(), "time_ns"), [5.0, 6.0]);
}

#[test]
fn broken_json_gives_one_sentence() {
    let sentence = |text: &str| Raw::parse("r.json", text).unwrap_err().to_string();
    assert!(sentence("{\"a\":[1,").starts_with("r.json is not valid JSON: EOF"));
    assert!(sentence("[]").starts_with("r.json holds no rows"));
    assert!(sentence("[[], []]").starts_with("r.json holds no rows"));
}
