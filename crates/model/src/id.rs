//! Names and ids, checked once where they enter and trusted afterwards.

use std::sync::Arc;

use bytes::Bytes;

use crate::Error;

/// Longest series id, in bytes.
pub const SERIES_ID_BYTES_MAX: usize = 512;
/// Longest event id, in bytes.
pub const EVENT_ID_BYTES_MAX: usize = 128;
/// Longest item key, in bytes.
pub const ITEM_KEY_BYTES_MAX: usize = 256;
/// Longest namespace name, in characters.
pub const NAMESPACE_NAME_MAX: usize = 30;

fn check_length(what: &'static str, bytes: usize, max: usize) -> Result<(), Error> {
    if bytes == 0 {
        return Err(Error::Name { what, problem: "it is empty; give it at least one character".to_owned() });
    }
    if bytes > max {
        return Err(Error::Name {
            what,
            problem: format!("it has {bytes} bytes, the limit is {max}; shorten it"),
        });
    }
    Ok(())
}

/// The name of a namespace: `[a-z][a-z0-9_]{0,29}`, because it becomes part of a keyspace's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceName(Arc<str>);

impl NamespaceName {
    /// Checks `name`.
    pub fn new(name: &str) -> Result<Self, Error> {
        let what = "namespace name";
        check_length(what, name.len(), NAMESPACE_NAME_MAX)?;
        let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
        let goes_on_well = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !(starts_well && goes_on_well) {
            let problem = format!("`{name}` must start with a letter a-z and go on with a-z, 0-9 or _");
            return Err(Error::Name { what, problem });
        }
        Ok(Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id of a series: any text of 1 to 512 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(Arc<str>);

impl SeriesId {
    /// Checks the length of `id`.
    pub fn new(id: &str) -> Result<Self, Error> {
        check_length("series id", id.len(), SERIES_ID_BYTES_MAX)?;
        Ok(Self(id.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! text_bytes {
    ($(#[$doc:meta])* $name:ident, $what:literal, $max:ident) => {
        $(#[$doc])*
        ///
        /// Kept as bytes (always UTF-8, checked here), so that a row can be a slice of the buffer it was read into.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Bytes);

        impl $name {
            /// Checks the length; the type of the argument proves that it is text.
            pub fn new(text: impl Into<String>) -> Result<Self, Error> {
                let text: String = text.into();
                check_length($what, text.len(), $max)?;
                Ok(Self(Bytes::from(text)))
            }

            /// Takes bytes that this type produced before, as a store gives them back.
            pub fn from_stored(bytes: Bytes) -> Self {
                Self(bytes)
            }

            /// Its bytes, in the order that all positions use.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            /// The shared buffer behind it.
            pub fn into_bytes(self) -> Bytes {
                self.0
            }
        }
    };
}

text_bytes!(
    /// The id of an event inside its series: text of 1 to 128 bytes.
    EventId,
    "event id",
    EVENT_ID_BYTES_MAX
);
text_bytes!(
    /// The key of one item of an event: text of 1 to 256 bytes.
    ItemKey,
    "item key",
    ITEM_KEY_BYTES_MAX
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespace_names_follow_the_published_pattern() {
        for good in ["a", "orders", "a1_b", &"x".repeat(30)] {
            assert!(NamespaceName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "1a", "_a", "a-b", "a.b", "ä", &"x".repeat(31)] {
            assert!(NamespaceName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_are_limited_and_say_so() {
        assert!(SeriesId::new("").is_err());
        assert!(SeriesId::new(&"s".repeat(512)).is_ok());
        let message = SeriesId::new(&"s".repeat(513)).unwrap_err().to_string();
        assert_eq!(message, "series id is not valid: it has 513 bytes, the limit is 512; shorten it");
        assert!(EventId::new("e".repeat(129)).is_err());
        assert!(ItemKey::new("k".repeat(257)).is_err());
    }
}
