//! What a command that talks to a server has in its hands.

use env::Env;
use jiff::Timestamp;
use rpc::client::Client;

use crate::args::Global;
use crate::failure::Failure;
use crate::output::Stdout;

/// One command's view of the world.
#[derive(Debug)]
pub(crate) struct Session {
    pub client: Client,
    pub env: Env,
    pub stdout: Stdout,
    /// Who asks for changes; empty where nobody says.
    pub author: String,
    namespace: Option<String>,
}

impl Session {
    /// Must be called inside a runtime. Connects to nothing yet.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let author = global.author.clone().unwrap_or_else(user);
        Ok(Self {
            client: Client::new(&global.server)?.with_author(&author),
            env: Env::system(),
            stdout: Stdout::new(global.output),
            author,
            namespace: global.namespace.clone(),
        })
    }

    /// The namespace asked for.
    pub(crate) fn namespace(&self) -> Result<String, Failure> {
        self.namespace.clone().ok_or_else(|| {
            Failure::Usage("no namespace; name one with -n NAME, or set BRAID_NAMESPACE".to_owned())
        })
    }

    /// The present.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_nanosecond(i128::from(self.env.clock.wall())).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// Who is logged in, as far as the environment says.
fn user() -> String {
    std::env::var_os("USER").unwrap_or_default().to_string_lossy().into_owned()
}

/// A time as the wire carries it.
pub(crate) fn wire_time(time: Timestamp) -> prost_types::Timestamp {
    // The wire counts nanoseconds upwards also before 1970.
    let nanos = time.as_nanosecond();
    let second = 1_000_000_000;
    prost_types::Timestamp {
        seconds: i64::try_from(nanos.div_euclid(second)).unwrap_or(i64::MAX),
        nanos: i32::try_from(nanos.rem_euclid(second)).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_survive_on_both_sides_of_1970() {
        for nanos in [0, 1, -1, 1_778_542_920_123_456_789, -1_000_000_000, -999_999_999] {
            let wire = wire_time(Timestamp::from_nanosecond(nanos).unwrap());
            assert!((0..1_000_000_000).contains(&wire.nanos), "{wire:?}");
            assert_eq!(i128::from(wire.seconds) * 1_000_000_000 + i128::from(wire.nanos), nanos);
        }
        assert_eq!(wire_time(Timestamp::MAX).seconds, 253_402_207_200);
    }
}
