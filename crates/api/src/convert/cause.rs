//! Who asks for a change, and why: as far as it may be said.

use engine::{Cause, Error, Result};

/// Characters of an author.
pub const AUTHOR_CHARS_MAX: usize = 128;
/// Bytes of a reason, as of that of a block.
const REASON_BYTES_MAX: usize = 512;

/// The header that names the author of a call, in gRPC and JSON alike.
pub const AUTHOR_HEADER: &str = "braid-author";

/// The cause of a change, from the header and the request's `reason`.
pub fn cause(author: Option<&[u8]>, reason: &str) -> Result<Cause> {
    let author = std::str::from_utf8(author.unwrap_or_default())
        .map_err(|_| Error::field(AUTHOR_HEADER, "is not UTF-8; send a name"))?
        .trim();
    if author.chars().count() > AUTHOR_CHARS_MAX {
        let message = format!("is longer than {AUTHOR_CHARS_MAX} characters; send a shorter name");
        return Err(Error::field(AUTHOR_HEADER, message));
    }
    if author.contains(char::is_control) {
        return Err(Error::field(AUTHOR_HEADER, "has control characters; send a printable name"));
    }
    if reason.len() > REASON_BYTES_MAX {
        let message = format!("is longer than {REASON_BYTES_MAX} bytes; say it shorter");
        return Err(Error::field("reason", message));
    }
    Ok(Cause { author: author.to_owned(), reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_a_printable_name_and_a_reason_is_short() {
        let read = |author: &[u8], reason: &str| {
            let cause = cause(Some(author), reason).map_err(|error| error.to_string())?;
            Ok::<_, String>((cause.author, cause.reason))
        };
        let found = |author: &str, reason: &str| Ok((author.to_owned(), reason.to_owned()));
        assert_eq!(read(b" ann ", "why\n"), found("ann", "why\n"));
        assert_eq!(read("Zoë".as_bytes(), ""), found("Zoë", ""));
        assert_eq!(read("ë".repeat(128).as_bytes(), &"r".repeat(512)).map(|_| ()), Ok(()));
        assert_eq!(cause(None, "").unwrap(), Cause::default());
        let refused = |author: &[u8], reason: &str| read(author, reason).unwrap_err();
        assert_eq!(
            refused(&[b'a'; 129], ""),
            "braid-author: is longer than 128 characters; send a shorter name"
        );
        assert_eq!(refused(b"a\tb", ""), "braid-author: has control characters; send a printable name");
        assert_eq!(refused(&[255], ""), "braid-author: is not UTF-8; send a name");
        assert_eq!(refused(b"", &"r".repeat(513)), "reason: is longer than 512 bytes; say it shorter");
    }
}
