//! Pictures within a page: as images, in which no browser runs a script or loads anything, whoever
//! drew them.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{Markup, html};

/// How the ground begins that gnuplot draws, so that a file alone can lie on any page.
const GROUND: &str = "<rect fill=\"#ffffff\"";

/// The picture as a part of a page, on whose ground it lies.
pub(crate) fn figure(svg: &str) -> Markup {
    let data = BASE64_STANDARD.encode(svg.replacen(GROUND, "<rect fill=\"none\"", 1));
    html! { figure { img alt="" src={ "data:image/svg+xml;base64," (data) }; } }
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
    let mut parts = html.split("<figure><img alt=\"\"");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (image, rest) = part.split_once('>').unwrap_or((part, ""));
        let says = match rest.strip_prefix("<figcaption>") {
            Some(rest) => plain(rest.split("</figcaption>").next().unwrap_or_default()),
            None => "A picture of the numbers beside it".to_owned(),
        };
        // A narrow window shows a part; whoever has no pointer moves along with keys.
        whole.push_str(&format!(
            "<figure><div class=\"wide\" tabindex=\"0\"><img alt=\"{says}\"{image}></div>{rest}"
        ));
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
        let page =
            format!("<p>{}</p>\n<p><em>The <code>a</code>.</em></p>", figure(svg).0).repeat(2);
        let page = described(&alone(&page));
        assert_eq!(page.matches("<img alt=\"The a.\" src=\"data:image/svg+xml;base64,").count(), 2);
        let caption = "\"></div><figcaption>The <code>a</code>.</figcaption></figure>";
        assert_eq!(page.matches(caption).count(), 2, "{page}");
        for part in ["<p>", "<svg", "<script", "onload"] {
            assert!(!page.contains(part), "{part} in {page}");
        }
    }
}
