//! Lines of any input, with their numbers, and never more than one of them in memory.

use std::io::{self, BufRead, Read};

/// Bytes that a line may have: nothing longer fits into a request.
pub(crate) const LINE_BYTES_MAX: usize = 4 << 20;

/// What the next line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Wholly in the buffer, without its end.
    Whole,
    /// Longer than the limit; skipped.
    TooLong,
    /// There are no more lines.
    End,
}

/// Reads lines that end with LF or CR LF; the last one may end with the input.
pub(crate) struct Lines<R> {
    input: R,
    line_bytes_max: usize,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `input`, of at most `line_bytes_max` bytes.
    pub(crate) const fn new(input: R, line_bytes_max: usize) -> Self {
        Self { input, line_bytes_max, number: 0 }
    }

    /// The number of the line read last, from 1; 0 before the first.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Puts the next line into `buffer`, in place of what was there.
    pub(crate) fn next_into(&mut self, buffer: &mut Vec<u8>) -> io::Result<Line> {
        buffer.clear();
        // Two bytes more than a line: its end.
        let most = u64::try_from(self.line_bytes_max).unwrap_or(u64::MAX).saturating_add(2);
        if self.input.by_ref().take(most).read_until(b'\n', buffer)? == 0 {
            return Ok(Line::End);
        }
        self.number += 1;
        let ended = buffer.pop_if(|byte| *byte == b'\n').is_some();
        if ended {
            buffer.pop_if(|byte| *byte == b'\r');
        }
        if buffer.len() <= self.line_bytes_max {
            return Ok(Line::Whole);
        }
        if !ended {
            self.input.skip_until(b'\n')?;
        }
        buffer.clear();
        Ok(Line::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line as `number:text`, with lines of at most 4 bytes.
    fn read(text: &str) -> Vec<String> {
        // A buffer of 3 bytes makes every line cross its end.
        let mut lines = Lines::new(io::BufReader::with_capacity(3, text.as_bytes()), 4);
        let (mut buffer, mut found) = (Vec::new(), Vec::new());
        loop {
            let text = match lines.next_into(&mut buffer).unwrap() {
                Line::Whole => String::from_utf8(buffer.clone()).unwrap(),
                Line::TooLong => "too long".to_owned(),
                Line::End => return found,
            };
            found.push(format!("{}:{text}", lines.number()));
        }
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_input() {
        assert_eq!(read(""), [""; 0]);
        assert_eq!(read("a\nb\r\n\nc"), ["1:a", "2:b", "3:", "4:c"]);
        assert_eq!(read("a\rb\n\r\n\n"), ["1:a\rb", "2:", "3:"]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_counted() {
        assert_eq!(read("1234\n12345\nab\n"), ["1:1234", "2:too long", "3:ab"]);
        assert_eq!(read("1234\r\n12345\r\nab"), ["1:1234", "2:too long", "3:ab"]);
        assert_eq!(read("123456789012345\n\nab"), ["1:too long", "2:", "3:ab"]);
        assert_eq!(read("a\n123456789012345"), ["1:a", "2:too long"]);
        // The end of the line is not part of it, wherever it is cut.
        assert_eq!(read("1234\r\nb"), ["1:1234", "2:b"]);
        assert_eq!(read("12345\r\nb"), ["1:too long", "2:b"]);
        assert_eq!(read("123456\r\nb"), ["1:too long", "2:b"]);
    }

    #[test]
    fn no_more_than_a_line_is_held() {
        let endless = io::BufReader::new(io::repeat(b'x').take(64 << 20));
        let (mut lines, mut buffer) = (Lines::new(endless, 1_000), Vec::new());
        assert_eq!(lines.next_into(&mut buffer).unwrap(), Line::TooLong);
        assert!(buffer.capacity() < 10_000, "{}", buffer.capacity());
        assert_eq!(lines.next_into(&mut buffer).unwrap(), Line::End);
    }
}
