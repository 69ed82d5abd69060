//! What a browser may do with a page: show it, with the styles and scripts of ours that stand in
//! it. Nothing is loaded from or sent to anywhere, and what a record brings is no script of ours.

use std::sync::LazyLock;

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::html;
use sha2::{Digest, Sha256};

use crate::{
    page::{SCRIPTS, STYLE},
    runs,
};

/// What every page forbids, whoever hands it out; its styles follow.
static COMMON: LazyLock<String> = LazyLock::new(|| {
    let styles = [STYLE, runs::STYLE].map(source).join(" ");
    format!("default-src 'none'; base-uri 'none'; img-src data:; style-src {styles}")
});

static ELEMENT: LazyLock<String> = LazyLock::new(|| {
    let scripts = SCRIPTS.map(|(_, script)| source(script)).join(" ");
    let policy = format!("{}; script-src {scripts}; form-action 'none'", *COMMON);
    html! { meta http-equiv="Content-Security-Policy" content=(policy); }.into_string()
});

/// The policy of a page that is a file, as the element that stands in each: only the scripts within
/// the page are run. A server takes it out and says its own, for there they are files.
pub fn policy_element() -> &'static str {
    &ELEMENT
}

/// The policy of a server that hands out pages and [`SCRIPTS`] as files.
pub fn policy_served() -> String {
    format!("{}; script-src 'self'; form-action 'self'; frame-ancestors 'none'", *COMMON)
}

/// The source of a text within a page, by its hash.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_named_as_browsers_name_it() {
        // The example of CSP Level 3, section 8.3.
        let expected = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert_eq!(source("alert('Hello, world.');"), expected);
    }
}
