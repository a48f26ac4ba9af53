//! The one place that writes to stdout. A reader that went away ends the command quietly ([`Failure::Closed`]).

use std::io::{self, BufWriter, IsTerminal, Write};

use prost::{Message, Name};

use super::{Format, Json, Listing, Record};
use crate::failure::Failure;

/// Stdout, and how results are written to it.
#[derive(Debug)]
pub(crate) struct Stdout {
    format: Format,
    /// Characters of a line, where stdout is a terminal.
    width: Option<usize>,
    out: BufWriter<io::Stdout>,
}

impl Stdout {
    /// The process's own stdout.
    pub(crate) fn new(format: Format) -> Self {
        let out = io::stdout();
        let size = if out.is_terminal() { rustix::termios::tcgetwinsize(&out).ok() } else { None };
        // Terminals that do not know their width say 0.
        let width = size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
        Self { format, width, out: BufWriter::new(out) }
    }

    /// The format asked for.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Characters of a line, where stdout is a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// A list that fits here.
    pub(crate) fn listing(&self) -> Result<Listing, Failure> {
        Listing::new(self.format, self.width)
    }

    /// Writes, perhaps later.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(bytes).map_err(|error| Failure::stdout(&error))
    }

    /// Sees that everything written has left.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| Failure::stdout(&error))
    }

    /// Writes one message as JSON.
    pub(crate) fn message<M: Message + Name>(&mut self, message: &M) -> Result<(), Failure> {
        let json = Json::new()?.message(message)?;
        self.write(&json)?;
        self.write(b"\n")?;
        self.flush()
    }

    /// Writes a whole list; as JSON it is the message that the list came in.
    pub(crate) fn list<R: Record, M: Message + Name>(
        &mut self,
        records: &[R],
        whole: &M,
    ) -> Result<(), Failure> {
        if self.format == Format::Json {
            return self.message(whole);
        }
        let text = self.listing()?.batch(records)?;
        self.write(&text)?;
        self.flush()
    }

    /// Writes a whole list whose records are shown in another way than in the message that they came in; as JSON it is that
    /// message, with them as its first field `name` in place of its own, which `rest` is without.
    pub(crate) fn list_in<R: Record, M: Message + Name>(
        &mut self,
        name: &str,
        records: &[R],
        rest: &M,
    ) -> Result<(), Failure> {
        if self.format != Format::Json || records.is_empty() {
            return self.list(records, rest);
        }
        let text = self.listing()?.batch(records)?;
        let rest = Json::new()?.message(rest)?;
        self.write(format!("{{\"{name}\":[").as_bytes())?;
        self.write(&text)?;
        self.write(match rest.strip_prefix(b"{") {
            Some(b"}") | None => b"]",
            Some(_) => b"],",
        })?;
        self.write(rest.strip_prefix(b"{").unwrap_or(b"}"))?;
        self.write(b"\n")?;
        self.flush()
    }

    /// Writes a whole list that has no message of its own; as JSON it is an object with `name`.
    pub(crate) fn named_list<R: Record>(&mut self, name: &str, records: &[R]) -> Result<(), Failure> {
        let text = self.listing()?.batch(records)?;
        if self.format == Format::Json {
            self.write(format!("{{\"{name}\":[").as_bytes())?;
            self.write(&text)?;
            self.write(b"]}\n")?;
        } else {
            self.write(&text)?;
        }
        self.flush()
    }
}
