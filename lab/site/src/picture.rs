//! Pictures within a page: as images, in which no browser runs a script or loads anything, whoever
//! drew them.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{Markup, html};

/// How the ground begins that gnuplot draws, so that a file alone can lie on any page.
const GROUND: &str = "<rect fill=\"#ffffff\"";

/// The picture as a part of a page, and before it what a narrow window shows in its place, if there
/// is such a form. `picture` would not do: a browser that prints does not choose anew.
pub(crate) fn figure(svg: &str, narrow: Option<&String>) -> Markup {
    html! {
        figure {
            @if let Some(narrow) = narrow { img.narrow alt="" src=(address(narrow)); }
            img alt="" src=(address(svg));
        }
    }
}

/// A picture as an address, on the ground of the page.
fn address(svg: &str) -> String {
    let svg = svg.replacen(GROUND, "<rect fill=\"none\"", 1);
    format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(svg))
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

/// The page with each picture saying what it shows.
pub(crate) fn described(html: &str) -> String {
    let mut parts = html.split("<figure>");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find("<figcaption>").or_else(|| part.find("</figure>"));
        let (image, rest) = part.split_at(end.unwrap_or(part.len()));
        let says = match rest.strip_prefix("<figcaption>") {
            Some(rest) => plain(rest.split("</figcaption>").next().unwrap_or_default()),
            None => "A picture of the numbers beside it".to_owned(),
        };
        let mut image = image.replace("alt=\"\"", &format!("alt=\"{says}\""));
        if !image.starts_with("<img class=\"narrow\"") {
            // A narrow window shows a part; whoever has no pointer moves along with keys.
            image = format!("<div class=\"wide\" tabindex=\"0\">{image}</div>");
        }
        whole.push_str(&format!("<figure>{image}{rest}"));
    }
    whole
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
    fn a_picture_is_an_image_that_says_what_it_shows() {
        let svg = "<?xml?>\n<svg onload=\"alert(1)\"><script>alert(2)</script></svg>\n";
        let _attack = proof_kit::Attack::on("pictures", "an SVG with scripts in a page");
        let page = format!("<p>{}</p>\n<p><em>The <code>a</code>.</em></p>", figure(svg, None).0)
            .repeat(2);
        let page = described(&alone(&page));
        assert_eq!(page.matches("<img alt=\"The a.\" src=\"data:image/svg+xml;base64,").count(), 2);
        let caption = "\"></div><figcaption>The <code>a</code>.</figcaption></figure>";
        assert_eq!(page.matches(caption).count(), 2, "{page}");
        for part in ["<p>", "<svg", "<script", "onload"] {
            assert!(!page.contains(part), "{part} in {page}");
        }
    }
}
