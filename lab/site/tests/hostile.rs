//! What a stranger's record brings is text on a page: no element, no attribute, no address that a
//! browser would run or load.

mod markup;

use lab_site::{
    Asked, Going, History, Line, Link, Listed, OneRun, Point, Quantity, Runs, SCRIPTS, Source,
    choices, compared, going, history, index, links, listed, page, page_alone, page_under,
    policy_element, policy_served, sorry,
};
use markup::Markup;
use proof_kit::Attack;

/// Each of them ends something, begins something, or is an address.
const HOSTILE: [&str; 36] = [
    "<script>alert(1)</script>",
    "<script src=//127.0.0.1/a.js></script>",
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</details></main><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php alert(1) ?><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)></svg>",
    "<svg><foreignObject><script>alert(1)</script></foreignObject></svg>",
    "<math><mtext><script>alert(1)</script></mtext></math>",
    "<iframe src=\"javascript:alert(1)\"></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=\"data:text/html,<script>alert(1)</script>\"></object>",
    "<embed src=\"data:image/svg+xml,<svg onload=alert(1)/>\">",
    "<base href=\"http://127.0.0.1/\">",
    "<link rel=stylesheet href=http://127.0.0.1/a.css>",
    "<meta http-equiv=refresh content=\"0;url=http://127.0.0.1/\">",
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src *\">",
    "<style>@import 'http://127.0.0.1/a.css';</style>",
    "<p style=\"background: url(http://127.0.0.1/a.png)\">",
    "<form action=http://127.0.0.1/><button autofocus onfocus=alert(1)>",
    "<a href=javascript:alert(1)>a</a>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1)//report.md)",
    "[a](<java\tscript:alert(1)>)",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a](vbscript:alert(1))",
    "[a](file:///etc/passwd)",
    "[a][b]\n\n[b]: javascript:alert(1) \"x\" onclick=\"alert(1)\"\n\n",
    "[a](https://example.test/\"onmouseover=\"alert(1) \"b\\\" onclick=\\\"alert(1)\")",
    "![a](http://127.0.0.1/a.png)",
    "![\" onerror=\"alert(1)](javascript:alert(1))",
    "\" onmouseover=\"alert(1)\" x=\"' onfocus='alert(1)",
];

/// Elements of our own pages.
const OURS: [&str; 46] = [
    "a",
    "article",
    "blockquote",
    "body",
    "br",
    "button",
    "circle",
    "code",
    "details",
    "div",
    "em",
    "figcaption",
    "figure",
    "form",
    "g",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "html",
    "img",
    "input",
    "label",
    "li",
    "main",
    "meta",
    "nav",
    "noscript",
    "option",
    "p",
    "path",
    "pre",
    "progress",
    "script",
    "section",
    "select",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "ul",
];

/// A page without the contents of elements that hold no markup.
fn without(html: &str, name: &str) -> String {
    let (start, end) = (format!("<{name}"), format!("</{name}>"));
    let mut parts = html.split(&start);
    let first = parts.next().unwrap_or_default().to_owned();
    let after = |part: &str| part.split_once(&end).map_or("", |(_, after)| after).to_owned();
    parts.fold(first, |whole, part| whole + &after(part))
}

/// Complaints about a page; `scripts` of ours stand in it.
fn complaints(html: &str, scripts: usize) -> Vec<String> {
    let markup = Markup::of(html);
    // A question with a link in it, and places whose names are encoded, harm nobody.
    let is_harmless =
        |fault: &String| fault == "a link stands inside a link" || fault.ends_with(" is nowhere");
    let mut found = markup.faults;
    found.retain(|fault| !is_harmless(fault));
    let known = |(kind, text): &&(String, String)| {
        kind == "application/json" || SCRIPTS.iter().any(|(_, script)| script == text)
    };
    let own = markup.scripts.iter().filter(known).count();
    if own != scripts || own != markup.scripts.len() {
        found.push(format!("{own} of {} scripts are ours", markup.scripts.len()));
    }
    let is_safe = |link: &String| {
        let scheme = link.split(['/', '?', '#']).next().unwrap_or_default();
        ["http:", "https:"].contains(&scheme) || !scheme.contains(':')
    };
    found.extend(markup.links.into_iter().filter(|link| !is_safe(link)));
    let policies = html.matches("<meta http-equiv").count();
    if policies != 1 || !html.contains(policy_element()) {
        found.push(format!("{policies} policies"));
    }
    let text = without(&without(html, "script"), "style");
    for tag in text.split('<').skip(1) {
        let name = tag.split([' ', '>', '\n']).next().unwrap_or_default().trim_start_matches('/');
        let is_known =
            OURS.contains(&name) || ["!DOCTYPE", "title", "thead", "th", "tr"].contains(&name);
        if !is_known {
            found.push(format!("<{tag:.40}"));
        }
    }
    found
}

fn with_text(text: &str) -> Source {
    let line = text.replace('\n', " ");
    let cell = line.replace('|', " ");
    let body = format!(
        "A paragraph: {text}\n\n* a bullet: {text}\n\n> {line}\n\n`{line}`\n\n\
         ```{line}\n{text}\n```\n\n### {line}\n\n\
         | {cell} | b |\n| :-: | --: |\n| `{cell}` | {cell} |\n\n![a](a.svg)\n\n*{line}*\n"
    );
    let first = format!(
        "# {line}\n\n**{line}?**\n\n{text} is the answer.\n\n{line} CPUs, commit {line}.\n\n\
         {body}\nDetails: [a](details/a.md)\n"
    );
    Source {
        name: line.clone(),
        kind: line.clone(),
        first,
        chapters: [("a".to_owned(), format!("# {line}\n\n{body}"))].into(),
        pictures: ["a.svg", "a.narrow.svg"].map(|name| (name.to_owned(), text.to_owned())).into(),
        tables: [("a.tsv".to_owned(), format!("{line}\tb\n{line}\t{line}\n"))].into(),
        runs: None,
    }
}

fn with_runs(text: &str) -> Source {
    let name = || text.to_owned();
    let run = OneRun {
        variant: name(),
        levels: vec![name()],
        values: vec![Some(1.0)],
        ..OneRun::default()
    };
    let quantity =
        Quantity { name: name(), noun: name(), says: name(), unit: "ns", ..Quantity::default() };
    let asked = Asked { quantity: name(), chosen: [(name(), name())].into() };
    let runs = Runs {
        quantities: vec![quantity],
        factors: vec![name()],
        runs: vec![run],
        asked: vec![asked],
        reference: name(),
        colours: [(name(), name())].into(),
    };
    let code = format!("`` {} ``", text.replace(['\n', '|'], " "));
    let table = format!("| against {code} | a |\n| --- | --- |\n| {code} | +3.00 % |\n");
    Source { first: format!("# a\n\nAn answer.\n\n{table}"), runs: Some(runs), ..with_text(text) }
}

#[test]
fn texts_of_a_record_are_texts_of_its_page() {
    for text in HOSTILE {
        let _attack = Attack::on("pages", &format!("a report that says: {text}"));
        let source = with_text(text);
        for html in [page(&source), page_alone(&source), page_under(&source, &links("", &[]))] {
            let found = complaints(&html, 1);
            assert!(found.is_empty(), "{text}: {found:#?}");
        }
        let found = complaints(&index(&[source]), 1);
        assert!(found.is_empty(), "{text}: {found:#?}");
    }
}

#[test]
fn names_of_a_record_are_names_in_its_picture_of_runs() {
    for text in HOSTILE {
        let _attack = Attack::on("pages", &format!("variants, levels and metrics named: {text}"));
        let found = complaints(&page(&with_runs(text)), 4);
        assert!(found.is_empty(), "{text}: {found:#?}");
    }
}

#[test]
fn names_of_files_end_no_attribute() {
    for name in [
        "a\" onmouseover=\"alert(1)",
        "a\" autofocus tabindex=\"0\" onfocus=\"alert(1)",
        "a\"><script>alert(1)<",
        "a'><img src=x onerror='alert(1)",
        "<img src=x onerror=alert(1)>",
        "javascript:alert(1)",
        "data:text",
        "a\nb\" style=\"background: red",
    ] {
        let _attack = Attack::on("pages", &format!("a chapter, a table, a picture named: {name}"));
        let text = || "a\tb\n".to_owned();
        let source = Source {
            chapters: [(name.to_owned(), text())].into(),
            tables: [(format!("{name}.tsv"), text())].into(),
            pictures: [(format!("{name}.svg"), text())].into(),
            first: format!("# a\n\nb\n\n![a](<{name}.svg>)\n\n[a](<details/{name}.md>)\n"),
            ..Source::default()
        };
        let found = complaints(&page_alone(&source), 1);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

fn served(text: &str) -> Vec<String> {
    let name = || text.to_owned();
    let link = || Link { address: name(), text: name() };
    let listed_one = Listed {
        address: "/r/0/a.html".to_owned(),
        place: name(),
        shown: name(),
        facts: name(),
        first: with_text(text).first,
        is_sweep: true,
    };
    let going_on = Going {
        shown: name(),
        question: name(),
        facts: vec![name()],
        so_far: "/a".to_owned(),
        ..Going::default()
    };
    let point = Point {
        address: "/a".to_owned(),
        shown: name(),
        day: name(),
        commit: name(),
        experiment: name(),
        values: vec![1.0],
        median: 1.0,
    };
    let over_time = History {
        title: name(),
        notes: vec![name()],
        others: vec![Link { address: "/a".to_owned(), ..link() }],
        kept: vec![(name(), name())],
        cell: name(),
        lines: vec![Line { title: name(), points: vec![point], changes: Vec::new() }],
        show: &|_| text.to_owned(),
    };
    let side = || Link { address: "/a".to_owned(), ..link() };
    let table = format!("{}\n", with_text(text).first);
    vec![
        listed(&[listed_one]),
        going(&going_on).replace("<meta http-equiv=\"refresh\" content=\"15\">", ""),
        history(&over_time),
        compared(&[side(), side()], &[name()], &table),
        choices(text, text, &[(name(), vec![side()])]),
        sorry(text),
        page_under(&Source::default(), &links(text, &[side()])),
    ]
}

#[test]
fn what_a_server_says_of_a_record_is_text() {
    for text in HOSTILE {
        let _attack = Attack::on("serve", &format!("a record that says: {text}"));
        for html in served(text) {
            let found = complaints(&html, 1);
            assert!(found.is_empty(), "{text}: {found:#?}");
        }
    }
}

#[test]
fn a_page_allows_what_is_ours_and_nothing_else() {
    let policy = policy_element();
    for part in ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:;"] {
        assert!(policy.contains(part), "{part} of {policy}");
    }
    for part in ["unsafe", "http:", "https:", "*", "'self'", "blob:"] {
        assert!(!policy.contains(part), "{part} of {policy}");
    }
    assert!(!policy_served().contains("unsafe") && policy_served().contains("script-src 'self';"));
    assert_eq!(policy.matches("sha256-").count(), SCRIPTS.len() + 2);
    let html = page(&Source::default());
    // Before anything that it is about.
    let place = |text: &str| html.find(text).unwrap();
    assert!(place(policy) < place("<style>") && place(policy) < place("<script>"));
    assert!(!html.contains(" style="), "{html}");
}
