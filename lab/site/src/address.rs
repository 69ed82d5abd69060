//! Names as parts of addresses.

/// A name as one part of an address or as a value of a query: what RFC 3986, section 2.3, does not
/// call unreserved is written as percent and two digits.
pub fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_an_address_is_encoded() {
        assert_eq!(encoded("2026-11-22T10_a.b~c"), "2026-11-22T10_a.b~c");
        assert_eq!(encoded("a/b ?&=#%\"ä"), "a%2Fb%20%3F%26%3D%23%25%22%C3%A4");
    }
}
