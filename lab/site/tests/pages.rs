//! Pages of made-up reports.

mod markup;

use lab_site::{Asked, OneRun, Quantity, Runs, Source, index, page};
use markup::Markup;
use proof_kit::Attack;
use serde_json::Value;

fn source() -> Source {
    let mut source = Source {
        name: "adding".to_owned(),
        first: "# adding\n\n**Which is faster?**\n\n* `slow` is slower.\n\n| variant | time |\n\
                | --- | ---: |\n| `slow` | 3 ms |\n\n![A picture.](curve.svg)\n\n*A picture.*\n\n\
                Details: [Verdicts](details/verdicts.md) · [Bars](details/bars.md).\n"
            .to_owned(),
        ..Source::default()
    };
    let chapters = [
        ("bars", "# Bars\n\n[adding](../report.md)\n\nSee [the verdicts](verdicts.md) & <b>.\n"),
        (
            "verdicts",
            "# Verdicts\n\nIn [the table](../times.tsv); more in [tr115](../../tr115/report.md).\n",
        ),
    ];
    for (name, text) in chapters {
        source.chapters.insert(name.to_owned(), text.to_owned());
    }
    let svg = "<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 1 1\"><title>curve</title></svg>";
    source.pictures.insert("curve.svg".to_owned(), svg.to_owned());
    source.tables.insert("times.tsv".to_owned(), "variant\ttime\nslow <1>\t3\n".to_owned());
    source
}

#[test]
fn a_report_is_one_page_whose_links_stay_inside() {
    let html = page(&source());
    // Those within the page lead somewhere, or it is not sound.
    let links = sound(&html).links;
    let outside: Vec<&String> = links.iter().filter(|link| !link.starts_with('#')).collect();
    assert_eq!(outside, ["index.html", "tr115.html"]);
    assert!(
        html.contains("src=\"data:image/svg+xml;base64,PD94") && !html.contains("<?xml"),
        "{html}"
    );
    assert!(html.contains("slow &lt;1&gt;") && !html.contains("Details: "), "{html}");
    // The order of the first screen, not of the alphabet.
    let place = |id: &str| html.find(&format!("<details id=\"{id}\"")).unwrap();
    assert!(place("verdicts") < place("bars"));
}

/// The elements are as browsers read them, and not only as they are written.
#[track_caller]
fn sound(html: &str) -> Markup {
    let markup = Markup::of(html);
    assert!(markup.faults.is_empty(), "{:#?}", markup.faults);
    markup
}

#[test]
fn faults_of_a_page_are_found() {
    let html = |body: &str| format!("<!DOCTYPE html><body>{body}</body>");
    assert!(
        Markup::of(&html("<p id=\"a\">1 &lt; 2<br><a href=\"#a\">a</a></p>")).faults.is_empty()
    );
    for bad in [
        "<p>",
        "<b><i></b></i>",
        "<p><figure></figure></p>",
        "<p id=\"a\"></p><p id=\"a\"></p>",
        "<a href=\"#a\">a</a>",
        "<p>a & b</p>",
        "<script src=\"a.js\"></script>",
        "<style>@import 'a';</style>",
        "<p onclick=\"a()\"></p>",
        "<p class=a></p>",
    ] {
        assert!(!Markup::of(&html(bad)).faults.is_empty(), "{bad}");
    }
}

#[test]
fn html_in_a_report_is_text() {
    let mut source = source();
    let text = "# Bars\n\n<script>alert(1)</script>\n\nSome <b>more & <i>.\n\n\
                [a](javascript://%0Aalert(1)) [b](javascript:alert(1)//report.md) \
                <javascript:alert(1)> [c](data://text/html,x) [d](https://example.test/x)\n";
    source.chapters.insert("bars".to_owned(), text.to_owned());
    let html = page(&source);
    let _attack = Attack::on("pages", "HTML and javascript: links in a chapter");
    let mut links = sound(&html).links;
    assert!(html.contains("&lt;script&gt;alert(1)") && html.contains("&lt;b&gt;more"), "{html}");
    assert_eq!(links.iter().filter(|link| *link == "#top").count(), 4, "{links:?}");
    links.retain(|link| link.contains(':'));
    assert_eq!(links, ["https://example.test/x"]);
}

/// A record with runs in two cells.
fn with_runs(name: &str, count: u64) -> Source {
    let run = |order: u64| OneRun {
        order,
        block: Some(1),
        variant: name.to_owned(),
        levels: vec![(order % 2).to_string()],
        values: vec![Some(order as f64 * 1e6 + 0.25), None],
        ..OneRun::default()
    };
    let quantity =
        |name: &str| Quantity { name: name.to_owned(), unit: "ns", ..Quantity::default() };
    let asked = |name: &str| Asked { quantity: name.to_owned(), ..Asked::default() };
    let runs = Runs {
        quantities: vec![quantity("wall_ns"), quantity(name)],
        factors: vec!["workers".to_owned()],
        runs: (0..count).map(run).collect(),
        asked: ["wall_ns", "nowhere"].map(asked).to_vec(),
        reference: "fast".to_owned(),
        colours: [("fast".to_owned(), "#0072B2".to_owned())].into(),
    };
    Source { runs: Some(runs), ..source() }
}

/// What the page's picture is drawn from.
fn drawn(html: &str) -> Value {
    let markup = sound(html);
    let kinds: Vec<&str> = markup.scripts.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["application/json", "", "", ""]);
    serde_json::from_str(&markup.scripts[0].1).unwrap()
}

#[test]
fn every_run_is_in_the_page_and_no_name_ends_the_script() {
    let name = "</script><script>alert(1)</script><!--";
    let _attack = Attack::on("pages", "a variant's name that ends the script of its numbers");
    let data = drawn(&page(&with_runs(name, 5)));
    assert_eq!(data["variants"], serde_json::json!([name]));
    assert_eq!(data["cells"], serde_json::json!([["0"], ["1"]]));
    assert_eq!(data["cell"], serde_json::json!([0, 1, 0, 1, 0]));
    assert_eq!(data["order"], serde_json::json!([0, 1, 2, 3, 4]));
    let values = serde_json::json!([0.25, 1_000_000, 2_000_000, 3_000_000, 4_000_000]);
    assert_eq!(data["quantities"][0]["values"], values);
    assert_eq!(data["quantities"][1]["values"], serde_json::json!([null, null, null, null, null]));
}

#[test]
fn a_number_of_a_comparison_leads_to_its_runs() {
    let mut source = with_runs("slow", 5);
    let first = "| against `fast` | time | size |\n| --- | --- | --- |\n\
                 | `slow` | +3.00 % | +4.00 % |\n| `other` | +5.00 % | – |\n";
    source.first = format!("# adding\n\n**Which?**\n\nIt is.\n\n{first}");
    let table =
        "| variant | estimate | why |\n| --- | --- | --- |\n| `slow` | -6.00 % | -7.00 % |\n";
    let verdicts = format!("# Verdicts\n\n## 1. Time (`wall_ns`, primary)\n\n{table}");
    source.chapters.insert("verdicts".to_owned(), verdicts);
    source.chapters.insert("bars".to_owned(), format!("# Bars\n\n## 1. Of others\n\n{table}"));
    let html = page(&source);
    sound(&html);
    // Not what is not drawn, of no variant, no estimate, or of another chapter.
    let links = html.split("<a href=\"#part-runs\" data-asked=\"0\" data-variant=\"slow\"").skip(1);
    let shown: Vec<&str> =
        links.map(|rest| rest.split(['>', '<']).nth(1).unwrap_or_default()).collect();
    assert_eq!(shown, ["+3.00 %", "-6.00 %"]);
    assert_eq!(html.matches("data-variant").count(), 2);
    assert_eq!(drawn(&html)["asked"][0]["quantity"], 0);
    assert_eq!(drawn(&html)["asked"][1]["quantity"], Value::Null);
}

#[test]
fn a_page_without_a_record_has_no_picture_of_runs() {
    let markup = sound(&page(&source()));
    assert!(!markup.ids.contains("part-runs") && markup.scripts.len() == 1);
}

#[test]
fn too_many_runs_are_thinned_evenly_and_the_page_says_so() {
    let html = page(&with_runs("slow", 60_000));
    let data = drawn(&html);
    let orders: Vec<u64> =
        data["order"].as_array().unwrap().iter().map(|order| order.as_u64().unwrap()).collect();
    assert!(html.len() < 1_000_000, "{}", html.len());
    assert!(html.contains(&format!("the record has 60000. {} of them are drawn", orders.len())));
    // Every so manieth of each of the two cells, whose runs take turns.
    let step = orders[2];
    assert!(step > 2 && orders.len() as u64 >= 60_000 / step, "{orders:?}");
    for pair in orders.chunks(2).enumerate() {
        let (number, pair) = (pair.0 as u64, pair.1);
        assert_eq!(pair[0], number * step);
        assert!(pair.get(1).is_none_or(|second| *second == number * step + 1));
    }
}

#[test]
fn runs_that_are_alone_in_their_cells_all_stay() {
    let mut source = with_runs("slow", 30_000);
    for run in &mut source.runs.as_mut().unwrap().runs {
        run.levels = vec![run.order.to_string()];
    }
    let html = page(&source);
    assert_eq!(drawn(&html)["order"].as_array().unwrap().len(), 30_000);
    assert!(!html.contains("of them are drawn"));
}

#[test]
fn a_long_table_loses_rows_and_says_so() {
    let mut source = source();
    let rows: String = (0..5_000).map(|row| format!("{row}\t{row}\n")).collect();
    source.tables.insert("long.tsv".to_owned(), format!("a\tb\n{rows}"));
    let html = page(&source);
    assert!(html.contains("5000 rows. The first 300 are here, 4700 are left out."), "{html}");
    assert!(html.len() < 100_000);
}

#[test]
fn a_narrow_window_has_a_form_of_its_own_where_there_is_one() {
    const WIDE: &str = "<div class=\"wide\" tabindex=\"0\"><img alt=\"A picture.\" src=\"data:";
    const NARROW: &str =
        "<figure><img class=\"narrow\" alt=\"A picture.\" src=\"data:image/svg+xml;base64,";
    let mut source = source();
    let html = page(&source);
    // What an older report has is moved along.
    assert!(html.contains(WIDE) && !html.contains(NARROW), "{html}");
    source.pictures.insert("curve.narrow.svg".to_owned(), "<svg>narrow</svg>".to_owned());
    let html = page(&source);
    sound(&html);
    let (_, behind) = html.split_once(NARROW).unwrap_or_else(|| panic!("no form in {html}"));
    let (narrow, rest) = behind.split_once("\">").unwrap();
    assert_eq!(narrow, "PHN2Zz5uYXJyb3c8L3N2Zz4=");
    assert!(rest.starts_with("<img alt=\"A picture.\" src=\"data:image/svg+xml;base64,PD94"));
    assert!(!html.contains(WIDE), "{html}");
    // One of them is shown, and so one is read aloud.
    let shown = ["figure .narrow { display: none; }", "figure .narrow + img { display: none; }"];
    assert!(shown.iter().all(|rule| html.contains(rule)), "{html}");
}

#[test]
fn a_picture_that_was_not_drawn_is_named() {
    let source = Source { pictures: [].into(), ..source() };
    assert!(page(&source).contains("The picture curve.svg was not drawn."));
}

#[test]
fn the_index_has_each_question_with_its_answer_by_kind() {
    let first = "# How good?\n\nIt finds *all*.\n\nEPYC (2 CPUs), 2026-11-21, commit 5bc.\n";
    let other = |name: &str| Source { name: name.to_owned(), first: first.to_owned(), ..source() };
    let measured = Source { kind: "engines".to_owned(), ..other("b c") };
    let html = index(&[source(), other("a"), measured]);
    let markup = sound(&html);
    assert_eq!(markup.links, ["b%20c.html", "adding.html", "a.html"]);
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} of {html}"));
    assert!(place("<h2>Engines</h2>") < place("How good?</a>"));
    assert!(place("<h2>The lab and its audits</h2>") < place("Which is faster?</a>"));
    assert!(
        html.contains("<code>slow</code> is slower.") && html.contains("It finds <em>all</em>")
    );
    assert!(html.contains("<p class=\"facts\">EPYC (2 CPUs), 2026-11-21, commit 5bc.</p>"));
    assert!(!html.contains(">adding<"), "{html}");
}

#[test]
fn the_answer_comes_first_and_the_machine_with_it() {
    let first = "# adding\n\n**Which?**\n\n`a` wins.\n\n* More.\n\nEPYC (2 CPUs), commit 5bc.\n\n\
                 Details: [Bars](details/bars.md).\n";
    let html = page(&Source { first: first.to_owned(), ..source() });
    sound(&html);
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} of {html}"));
    assert!(place("<h1>Which?</h1>") < place("<code>a</code> wins."));
    assert!(place("wins.") < place("commit 5bc."));
    assert!(place("commit 5bc.") < place("<li>More.</li>"));
    assert!(html.contains("<title>adding</title>"), "{html}");
}
