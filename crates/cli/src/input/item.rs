//! `key=value`, as items of an event and as filters are typed.

/// A key and the bytes of the text that was typed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub key: String,
    pub value: String,
}

/// Splits at the first `=`: a value may hold more of them, a key none.
pub(crate) fn parse_item(text: &str) -> Result<Item, String> {
    match text.split_once('=') {
        Some(("", _)) => Err(format!("`{text}` has no key; write key=value")),
        Some((key, value)) => Ok(Item { key: key.to_owned(), value: value.to_owned() }),
        None => Err(format!("`{text}` has no `=`; write key=value")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_hold_anything_and_a_key_no_equals_sign() {
        let parsed = |text| parse_item(text).map(|item| (item.key, item.value));
        let pair = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(parsed("device=ios"), pair("device", "ios"));
        assert_eq!(parsed("q=a=b c"), pair("q", "a=b c"));
        assert_eq!(parsed("empty="), pair("empty", ""));
        assert_eq!(parsed("é=ü"), pair("é", "ü"));
        assert_eq!(parsed("=x"), Err("`=x` has no key; write key=value".to_owned()));
        assert_eq!(parsed("x"), Err("`x` has no `=`; write key=value".to_owned()));
    }
}
