//! Pictures within a page: SVG files whose parts get names of their own.

/// What stands before the name of a part, where an SVG gives or uses one.
const BEFORE_NAMES: [&str; 5] = [" id='", " id=\"", "href='#", "href=\"#", "url(#"];

/// The picture as a part of a page.
pub(crate) fn figure(svg: &str) -> String {
    // What stands before the element is for a file of its own.
    let svg = svg.find("<svg").map_or(svg, |start| &svg[start..]);
    format!("<figure>{}</figure>", svg.trim_end())
}

/// Pictures out of the paragraphs that Markdown puts them in, each with its caption: the emphasised
/// paragraph that follows.
pub(crate) fn alone(html: &str) -> String {
    const CAPTION: &str = "</figure>\n<p><em>";
    let html = html.replace("<p><figure>", "<figure>").replace("</figure></p>", "</figure>");
    let mut parts = html.split(CAPTION);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("</em></p>") {
            Some((caption, rest)) if !caption.contains("</em>") => {
                whole.push_str(&format!("<figcaption>{caption}</figcaption></figure>{rest}"));
            }
            _ => whole.push_str(&format!("{CAPTION}{part}")),
        }
    }
    whole
}

/// The page with a name of its own for each part of each picture, which come from one program that
/// gives the parts of all pictures the same names. Each says what it shows.
pub(crate) fn apart(html: &str) -> String {
    let mut parts = html.split("<figure><svg");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for (number, part) in parts.enumerate() {
        let (svg, rest) = part.split_once("</svg>").unwrap_or((part, ""));
        let says = match rest.strip_prefix("<figcaption>") {
            Some(rest) => plain(rest.split("</figcaption>").next().unwrap_or_default()),
            None => "A picture of the numbers beside it".to_owned(),
        };
        let svg = with_names(svg, &format!("p{}-", number + 1));
        // A narrow window shows a part; whoever has no pointer moves along with keys.
        whole.push_str(&format!(
            "<figure><div class=\"wide\" tabindex=\"0\"><svg role=\"img\" aria-label=\"{says}\"\
             {svg}</svg></div>{rest}"
        ));
    }
    whole
}

/// Every name of a part, with a text before it.
fn with_names(svg: &str, prefix: &str) -> String {
    let prefixed = |svg: String, before: &&str| svg.replace(before, &format!("{before}{prefix}"));
    BEFORE_NAMES.iter().fold(svg.to_owned(), prefixed)
}

/// The text of a part of a page, as the value of an attribute.
fn plain(html: &str) -> String {
    let text = |part: &str| part.split_once('>').map_or(part, |(_, text)| text).to_owned();
    let text: String = html.split('<').map(text).collect();
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_two_pictures_have_different_names() {
        let svg = "<?xml?>\n<svg><use xlink:href='#dot' id=\"a\"/><path fill=\"url(#p)\"/></svg>\n";
        let page = format!("<p>{}</p>\n<p><em>The <code>a</code>.</em></p>", figure(svg)).repeat(2);
        let page = apart(&alone(&page));
        for number in [1, 2] {
            for name in ["href='#pN-dot'", " id=\"pN-a\"", "url(#pN-p)"] {
                let name = name.replace('N', &number.to_string());
                assert_eq!(page.matches(&name).count(), 1, "{name} of {page}");
            }
        }
        assert_eq!(page.matches("aria-label=\"The a.\"").count(), 2, "{page}");
        let caption = "</svg></div><figcaption>The <code>a</code>.</figcaption></figure>";
        assert_eq!(page.matches(caption).count(), 2, "{page}");
        assert!(!page.contains("<p>") && !page.contains("<?xml"), "{page}");
    }
}
