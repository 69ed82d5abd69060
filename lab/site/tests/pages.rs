//! Pages of made-up reports.

use lab_site::{Source, index, page};

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

/// Every value of an attribute.
fn values<'h>(html: &'h str, attribute: &str) -> Vec<&'h str> {
    let start = format!("{attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_report_is_one_page_whose_links_stay_inside() {
    let html = page(&source());
    let ids = values(&html, "id");
    for address in values(&html, "href") {
        match address.strip_prefix('#') {
            Some(id) => assert!(ids.contains(&id), "{address} of {ids:?}"),
            None => assert!(["index.html", "tr115.html"].contains(&address), "{address}"),
        }
    }
    assert_eq!(values(&html, "src"), [""; 0]);
    assert!(html.contains("<svg viewBox") && !html.contains("<?xml"), "{html}");
    assert!(html.contains("slow &lt;1&gt;") && !html.contains("Details: "), "{html}");
    // The order of the first screen, not of the alphabet.
    let place = |id: &str| html.find(&format!("<details id=\"{id}\"")).unwrap();
    assert!(place("verdicts") < place("bars"));
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
fn a_picture_that_was_not_drawn_is_named() {
    let source = Source { pictures: [].into(), ..source() };
    assert!(page(&source).contains("The picture curve.svg was not drawn."));
}

#[test]
fn the_index_has_each_question_with_its_answer() {
    let html = index(&[source()]);
    assert!(html.contains("<a href=\"adding.html\">adding</a>"), "{html}");
    assert!(html.contains("Which is faster?") && html.contains("is slower."), "{html}");
}
