//! The file `FORMAT` in a data directory: which version of this store wrote it.
//!
//! One line: `braid embedded store, format 1`. A directory of a newer format is refused before anything in it is
//! touched.

use std::path::Path;

use store::{Error, ErrorKind};

/// The format that this code writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 1;
/// The file's name.
pub(crate) const FILE: &str = "FORMAT";
const LEAD: &str = "braid embedded store, format ";

/// The file's content.
pub(crate) fn encode() -> String {
    format!("{LEAD}{FORMAT}\n")
}

/// Checks the content of the file in `directory`.
pub(crate) fn check(content: &str, directory: &Path) -> Result<(), Error> {
    let shown = directory.display();
    let version: Option<u32> = content.strip_prefix(LEAD).and_then(|rest| rest.trim_end().parse().ok());
    match version {
        Some(FORMAT) => Ok(()),
        Some(newer) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "data directory {shown} has format {newer}, this version reads format {FORMAT}; \
                 start the newer version of braid that wrote it, nothing was changed"
            ),
        )),
        None => Err(Error::new(
            ErrorKind::Corrupt,
            format!("the file FORMAT in {shown} is not one of braid's; choose another data directory"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_format_is_opened() {
        let directory = Path::new("data");
        assert!(check(&encode(), directory).is_ok());
        let newer = check("braid embedded store, format 2\n", directory).unwrap_err();
        assert_eq!(newer.kind(), ErrorKind::Invalid);
        assert!(newer.to_string().contains("nothing was changed"), "{newer}");
        assert_eq!(check("something else", directory).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
