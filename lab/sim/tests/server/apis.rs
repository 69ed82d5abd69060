//! Ollama's API and OpenAI's, with what today's models say in them.

use lab_sim::text::text_hash;
use serde_json::{Value, json};

use crate::client::{Client, Lab, Reply};
use crate::integers;

fn ask(client: &mut Client, path: &str, body: &Value) -> Reply {
    client.send("POST", path, &body.to_string());
    client.read().unwrap()
}

/// A chat of OpenAI's API; `more` are further keys.
fn chat(tokens: u64, more: Value) -> Value {
    let mut body = json!({
        "model": "m", "messages": [{"role": "user", "content": "hello"}], "seed": 5,
        "max_tokens": tokens, "stream": true,
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// The events of a stream, which must end with `[DONE]`.
fn events(reply: &Reply) -> Vec<Value> {
    assert!(reply.header.contains("Content-Type: text/event-stream\r\n"), "{}", reply.header);
    let body = reply.body.strip_suffix("data: [DONE]\n\n").unwrap();
    let events = body.split_terminator("\n\n");
    events
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

fn text_of(events: &[Value], key: &str) -> String {
    let deltas = events.iter().map(|event| &event["choices"][0]["delta"][key]);
    deltas.filter_map(Value::as_str).collect()
}

#[test]
fn every_token_of_openais_stream_has_the_servers_stamp() {
    let mut lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    let body = chat(9, json!({"stream_options": {"include_usage": true}}));
    let said = events(&ask(&mut client, "/v1/chat/completions", &body));
    assert_eq!(said.len(), 9 + 2);
    assert_eq!(said[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(said[9]["choices"][0]["finish_reason"], "length");
    assert_eq!(said[10]["choices"], json!([]));
    let usage = json!({
        "prompt_tokens": 2, "completion_tokens": 9, "total_tokens": 11,
        "completion_tokens_details": {"reasoning_tokens": 0},
    });
    assert_eq!(said[10]["usage"], usage);
    let call = &lab.ledger()["calls"][0];
    let stamps: Vec<i64> =
        said[..9].iter().map(|event| event["sent_ns"].as_i64().unwrap()).collect();
    assert_eq!(integers(&call["sent_ns"]), stamps);
    assert_eq!(call["done_sent_ns"], said[9]["sent_ns"]);
    assert!(said.iter().all(|event| event["id"] == call["id"]), "{call}");
    assert_eq!(call["text_hash"], text_hash(text_of(&said, "content").as_bytes()));
    assert_eq!((&call["seed"], &call["complete"]), (&json!(5), &json!(true)));
    // The same seed says the same by Ollama's API.
    let lines = lab.connect(1).generate(5, 9).unwrap().lines();
    assert_eq!(crate::text(&lines), text_of(&said, "content"));
}

#[test]
fn several_tokens_a_chunk_leave_when_the_last_of_them_is_due() {
    let mut lab = Lab::begun(json!({"tokens_per_chunk": 4, "itl_sigma_log": 0.0}));
    let mut client = lab.connect(0);
    let said = events(&ask(&mut client, "/v1/chat/completions", &chat(10, json!({}))));
    assert_eq!(said.len(), 3 + 1);
    let of_request = chat(10, json!({"tokens_per_chunk": 5}));
    let fives = events(&ask(&mut client, "/v1/chat/completions", &of_request));
    assert_eq!(fives.len(), 2 + 1);
    assert_eq!(text_of(&fives, "content"), text_of(&said, "content"));
    let calls = lab.ledger()["calls"].clone();
    for (call, (chunks, per)) in calls.as_array().unwrap().iter().zip([(&said, 4), (&fives, 5)]) {
        assert_eq!(call["tokens"], 10);
        let stamps = integers(&call["sent_ns"]);
        for (token, stamp) in stamps.iter().enumerate() {
            assert_eq!(chunks[token / per]["sent_ns"], json!(stamp), "token {token}");
        }
        // At 1,000 tokens/s and a tenth of the time a token takes 100 µs.
        let due: Vec<i64> =
            stamps.iter().zip(integers(&call["pacing_error_ns"])).map(|(s, e)| s - e).collect();
        assert_eq!(due[per] - due[0], 100_000 * per as i64);
    }
    let refused =
        ask(&mut client, "/v1/chat/completions", &chat(1, json!({"tokens_per_chunk": 0})));
    assert!(refused.status == 400 && refused.body.contains("tokens_per_chunk"), "{refused:?}");
}

#[test]
fn a_thought_comes_before_the_answer_in_all_chats() {
    let mut lab = Lab::begun(json!({"thinking_tokens": 3}));
    let mut client = lab.connect(0);
    let body = json!({
        "model": "m", "messages": [{"role": "user", "content": "hello"}],
        "options": {"seed": 5, "num_predict": 8},
    });
    let lines = ask(&mut client, "/api/chat", &body).lines();
    let key = |key: &str| {
        let texts = lines.iter().map(|line| line["message"][key].as_str().unwrap_or_default());
        texts.map(str::to_owned).collect::<Vec<String>>()
    };
    let is_thought: Vec<bool> = key("thinking").iter().map(|text| !text.is_empty()).collect();
    assert_eq!(is_thought, [[true; 3].to_vec(), [false; 6].to_vec()].concat());
    assert_eq!((&lines[8]["eval_count"], &lines[8]["done"]), (&json!(8), &json!(true)));
    let answer = key("content").concat();
    let lines = lab.connect(1).generate(5, 8).unwrap().lines();
    assert!(lines[0]["thinking"].is_string() && lines[0]["response"] == "", "{}", lines[0]);
    assert_eq!(crate::text(&lines), answer);
    let said = events(&ask(&mut client, "/v1/chat/completions", &chat(8, json!({}))));
    assert_eq!(text_of(&said, "content"), answer);
    assert_eq!(text_of(&said, "reasoning_content"), key("thinking").concat());
    let whole = ask(&mut client, "/v1/chat/completions", &chat(8, json!({"stream": false})));
    let whole = &whole.lines()[0];
    let message = &whole["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &whole["object"]),
        (&json!(answer), &json!("chat.completion"))
    );
    assert_eq!(message["reasoning_content"], text_of(&said, "reasoning_content"));
    assert_eq!(whole["usage"]["completion_tokens_details"]["reasoning_tokens"], 3);
    for call in lab.ledger()["calls"].as_array().unwrap() {
        assert_eq!((&call["tokens"], &call["complete"]), (&json!(8), &json!(true)));
        assert_eq!(call["text_hash"], text_hash(answer.as_bytes()));
        assert_eq!(integers(&call["sent_ns"]).len(), 8);
    }
}

#[test]
fn a_tool_is_called_at_the_end_where_one_is_offered() {
    let lab = Lab::begun(json!({"tool_call": true}));
    let mut client = lab.connect(0);
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {}}}]);
    let said = events(&ask(&mut client, "/v1/chat/completions", &chat(4, json!({"tools": tools}))));
    assert_eq!(said.len(), 4 + 2);
    let call = &said[4]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!((&call["function"]["name"], &call["index"]), (&json!("look"), &json!(0)));
    assert_eq!(said[5]["choices"][0]["finish_reason"], "tool_calls");
    let body = json!({
        "model": "m", "messages": [{"role": "user", "content": "hello"}], "tools": tools,
        "options": {"num_predict": 4},
    });
    let lines = ask(&mut client, "/api/chat", &body).lines();
    assert_eq!(lines.len(), 4 + 2);
    assert_eq!(lines[4]["message"]["tool_calls"][0]["function"]["name"], "look");
    let body = chat(4, json!({"tools": tools, "stream": false}));
    let whole = ask(&mut client, "/v1/chat/completions", &body).lines();
    let message = &whole[0]["choices"][0]["message"];
    assert_eq!(message["tool_calls"][0]["function"]["name"], "look");
    // Nobody offered one.
    let said = events(&ask(&mut client, "/v1/chat/completions", &chat(4, json!({}))));
    assert_eq!(said[4]["choices"][0]["finish_reason"], "length");
}

#[test]
fn an_error_amid_a_stream_has_the_apis_shape() {
    let fault = json!({"kind": "error_line", "after_tokens": 2});
    let lab = Lab::begun(json!({"faults": [fault]}));
    let reply = ask(&mut lab.connect(0), "/v1/chat/completions", &chat(9, json!({})));
    let last = reply.body.trim_end().rsplit("\n\n").next().unwrap();
    let error: Value = serde_json::from_str(last.strip_prefix("data: ").unwrap()).unwrap();
    assert!(error["error"]["message"].as_str().unwrap().contains("has stopped"), "{error}");
    assert_eq!(reply.body.matches("\"delta\"").count(), 2);
}

#[test]
fn completions_models_and_refusals_are_as_openai_has_them() {
    let lab = Lab::begun(json!({}));
    let mut client = lab.connect(0);
    let list = client.get("/v1/models").lines();
    assert_eq!((&list[0]["object"], &list[0]["data"][0]["id"]), (&json!("list"), &json!("m")));
    assert_eq!(client.get("/api/ps").lines()[0]["models"][0]["name"], "m");
    let mut body = json!({"model": "m", "prompt": ["hi"], "max_tokens": 6, "seed": 5});
    let whole = ask(&mut client, "/v1/completions", &body).lines();
    let said = crate::text(&lab.connect(1).generate(5, 6).unwrap().lines());
    assert_eq!((whole.len(), &whole[0]["choices"][0]["text"]), (1, &json!(said)));
    body["stream"] = json!(true);
    let stream = events(&ask(&mut client, "/v1/completions", &body));
    let texts = stream.iter().map(|event| event["choices"][0]["text"].as_str().unwrap());
    assert_eq!(texts.collect::<String>(), said);
    for (body, status, expected) in [
        (json!({"model": "x", "messages": []}), 404, "model 'x' not found"),
        (json!({"model": "m", "messages": []}), 400, "no text in `prompt` or `messages`"),
        (chat(0, json!({})), 400, "max_tokens is 0, it must be 1 to"),
    ] {
        let reply = ask(&mut client, "/v1/chat/completions", &body);
        let said = reply.lines()[0]["error"]["message"].as_str().unwrap().to_owned();
        assert!(reply.status == status && said.contains(expected), "{status} {said}");
    }
}
