//! Sizes as they are typed: `16MiB`, `512KiB`, `1GiB`, `16777216`.

/// A unit and its bytes.
const UNITS: [(&str, u64); 5] =
    [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// Reads a size: whole units, at least one byte, and as many as the wire can carry.
pub(crate) fn parse_size(text: &str) -> Result<i64, String> {
    parse_size_or_zero(text).ok().filter(|bytes| *bytes > 0).ok_or_else(|| wrong(text))
}

/// The same where nothing is a size too.
pub(crate) fn parse_size_or_zero(text: &str) -> Result<i64, String> {
    let wrong = || wrong(text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, name) = text.split_at(end);
    let (_, unit) =
        UNITS.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(name.trim_start())).ok_or_else(wrong)?;
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*unit)).ok_or_else(wrong)?;
    i64::try_from(bytes).map_err(|_| wrong())
}

fn wrong(text: &str) -> String {
    format!("`{text}` is not a size; write one such as 16MiB, 512KiB or 16777216")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        let cases = [
            ("1", 1),
            ("16777216", 16 << 20),
            ("16MiB", 16 << 20),
            ("16 mib", 16 << 20),
            ("512KiB", 512 << 10),
            ("1GiB", 1 << 30),
            ("2TiB", 2 << 40),
        ];
        for (text, expect) in cases {
            assert_eq!(parse_size(text), Ok(expect), "{text}");
            assert_eq!(parse_size_or_zero(text), Ok(expect), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_an_example() {
        for text in [
            "",
            "0",
            "0MiB",
            "MiB",
            "-1",
            "+1",
            "1.5MiB",
            "16MB",
            "16M",
            "9999999TiB",
            "99999999999999999999",
        ] {
            let expect = format!("`{text}` is not a size; write one such as 16MiB, 512KiB or 16777216");
            assert_eq!(parse_size(text), Err(expect.clone()));
            let or_zero = if text.starts_with('0') { Ok(0) } else { Err(expect) };
            assert_eq!(parse_size_or_zero(text), or_zero);
        }
    }
}
