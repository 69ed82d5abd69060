//! The pages of a server, made of made-up records.

use lab_site::{
    Going, History, Line, Link, Listed, Point, choices, compared, going, history, links, listed,
    sorry,
};
use proof_kit::Attack;

fn link(address: &str, text: &str) -> Link {
    Link { address: address.to_owned(), text: text.to_owned() }
}

fn record(name: &str) -> Listed {
    Listed {
        address: format!("/r/0/{name}.html"),
        place: format!("0/{name}"),
        shown: format!("results/{name}"),
        facts: "2026-11-22: adding, 0123456".to_owned(),
        first: "# adding\n\n**Which is <faster>?**\n\n* `slow` is slower.\n\nMore.\n".to_owned(),
        is_sweep: true,
    }
}

/// Every value of an attribute.
fn values<'h>(html: &'h str, attribute: &str) -> Vec<&'h str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn the_list_has_each_record_with_its_answer_and_pairs_to_choose() {
    let report = Listed { is_sweep: false, ..record("trust") };
    let html = listed(&[record("new"), record("a\"b"), report]);
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} of {html}"));
    assert!(place("results/new</a></h2>") < place("results/trust</a></h2>"));
    assert!(html.contains("`slow` is slower") || html.contains("<code>slow</code> is slower"));
    assert!(!html.contains("More."), "{html}");
    let options = ["0/new", "0/a&quot;b", "0/new", "0/a&quot;b"];
    assert_eq!(values(&html, "value"), options);
    assert!(listed(&[]).contains("No record is here yet"));
}

#[test]
fn a_sweep_that_goes_on_says_how_far_and_loads_itself_again() {
    let html = going(&Going {
        shown: "results/new".to_owned(),
        question: "Which?".to_owned(),
        planned: 10,
        rows: 3,
        facts: vec!["0 failed.".to_owned()],
        so_far: "/r/0/new.html?so_far=1".to_owned(),
    });
    assert!(html.contains("<meta http-equiv=\"refresh\" content=\"15\">"), "{html}");
    assert!(html.contains("<progress value=\"3\" max=\"10\" data-reload=\"15\">"), "{html}");
    assert!(html.contains("3 of 10 planned runs") && html.contains("0 failed."), "{html}");
    assert_eq!(values(&html, "href"), ["/", "/r/0/new.html?so_far=1"]);
}

#[test]
fn two_sweeps_are_named_above_their_tables() {
    let sides = [link("/r/0/new.html", "results/new"), link("/r/0/old.html", "results/old")];
    let table = "`wall_ns` ()\n\n| variant | change |\n| --- | ---: |\n| `slow` | +3 % |\n";
    let html = compared(&sides, &["commits: <a> then".to_owned()], table);
    assert_eq!(values(&html, "href"), ["/", "/r/0/new.html", "/r/0/old.html"]);
    assert!(html.contains("<code>slow</code>") && html.contains("<table>"), "{html}");
    assert!(html.contains("commits: &lt;a&gt; then"), "{html}");
}

#[test]
fn what_is_said_and_linked_is_no_html_of_its_own() {
    for html in [
        sorry("no <b>"),
        links("no <b>", &[link("/\"", "no <b>")]).into_string(),
        choices("no <b>", "no <b>", &[("no <b>".to_owned(), vec![link("/\"", "no <b>")])]),
    ] {
        let _attack = Attack::on("serve", "elements in a sentence, a title, an address");
        assert!(html.contains("no &lt;b&gt;") && !html.contains("no <b>"), "{html}");
        assert!(!html.contains("href=\"/\"\""), "{html}");
    }
}

fn point(name: &str, values: &[f64], median: f64) -> Point {
    Point {
        address: format!("/r/0/{name}.html"),
        shown: name.to_owned(),
        day: "2026-11-22".to_owned(),
        commit: format!("c{name}"),
        experiment: "00ff00ff".to_owned(),
        values: values.to_vec(),
        median,
    }
}

fn page(lines: Vec<Line>) -> String {
    history(&History {
        title: "wall_ns of slow in adding".to_owned(),
        notes: vec!["Each dot is one run.".to_owned()],
        others: vec![link("/history?variant=fast", "fast")],
        kept: vec![("metric".to_owned(), "a\"b".to_owned())],
        cell: "load=<1>".to_owned(),
        lines,
        show: &|value| format!("{value} ms"),
    })
}

#[test]
fn every_value_is_a_dot_and_every_change_a_line() {
    let points = vec![
        point("1", &[10.0, 12.0, 11.0], 11.0),
        point("2", &[20.0, 22.5], 21.25),
        point("3", &[21.0], 21.0),
    ];
    let line = Line { title: "load=1".to_owned(), points, changes: vec![(1, 0.004)] };
    let html = page(vec![line]);
    assert_eq!(html.matches("<circle ").count(), 6);
    // Each says which record it is of.
    assert_eq!(html.matches("<title>22.5 ms in 2</title></circle>").count(), 1, "{html}");
    for shown in ["10 ms", "12 ms", "22.5 ms", "21.25 ms"] {
        assert!(html.contains(shown), "{shown} of {html}");
    }
    assert_eq!(html.matches("stroke-dasharray").count(), 1);
    assert!(html.contains(">p 0.004</text>") && html.contains("changed before it, p 0.004"));
    let hrefs = values(&html, "href");
    assert!(hrefs.ends_with(&["/r/0/1.html", "/r/0/2.html", "/r/0/3.html"]), "{hrefs:?}");
    assert!(html.contains("value=\"a&quot;b\"") && html.contains("value=\"load=&lt;1&gt;\""));
    // Larger values are higher up, and all lie inside.
    let heights: Vec<f64> = values(&html, "cy").iter().map(|y| y.parse().unwrap()).collect();
    assert!(heights[0] > heights[2] && heights[2] > heights[1] && heights[1] > heights[4]);
    assert!(heights.iter().all(|y| (20.0..=216.0).contains(y)), "{heights:?}");
}

#[test]
fn a_line_of_equal_values_and_one_of_none_are_drawn() {
    let flat = vec![point("1", &[0.0, 0.0], 0.0), point("2", &[0.0], 0.0)];
    let flat = Line { title: "flat".to_owned(), points: flat, changes: Vec::new() };
    let html = page(vec![flat, Line::default()]);
    let (page, _script) = html.split_once("<script>").unwrap();
    assert!(!page.contains("NaN") && !page.contains(">inf"), "{page}");
}
