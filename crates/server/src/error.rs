//! Why a server did not start.

use std::net::SocketAddr;

use engine::Reason;

/// A server that did not start. The message stands alone and ends with what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody can be served there.
    #[error("cannot listen on {address} ({source}); stop what uses it, or choose another with --listen")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The data cannot be used.
    #[error("cannot open the data directory {path}: {source}")]
    Open {
        /// Where.
        path: String,
        /// Why, and what to do.
        source: store::Error,
    },
    /// The cluster cannot be used.
    #[error("cannot use Cassandra: {0}; its settings are in [store.cassandra]")]
    Join(#[source] store::Error),
    /// There is a user and no password.
    #[error(
        "cannot read the password in {path} ({source}); put the password alone on one line there, readable for this user"
    )]
    Password {
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// TLS is on and one of its files is not there.
    #[error(
        "cannot read {path} ({source}); name it right in [store.cassandra.tls], and let this user read it"
    )]
    Certificates {
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Kafka cannot be used as it is set.
    #[error("cannot use Kafka: {0}; its settings are in [queue.kafka]")]
    Queue(#[source] queue_kafka::Error),
    /// What is in the store does not load.
    #[error("cannot load the catalog: {0}")]
    Load(#[from] engine::Error),
    /// The store fails while starting.
    #[error("the store does not answer: {0}")]
    Store(#[from] store::Error),
}

impl Error {
    /// Whether it can be otherwise in a while without anybody changing anything here.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Join(source) | Self::Store(source) => source.is_retryable(),
            Self::Load(source) => {
                matches!(source.reason(), Reason::BackendOverloaded | Reason::BackendTimeout)
            }
            Self::Queue(_)
            | Self::Listen { .. }
            | Self::Open { .. }
            | Self::Password { .. }
            | Self::Certificates { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use store::ErrorKind;

    use super::*;

    #[test]
    fn only_what_passes_by_itself_is_waited_for() {
        for (kind, passes) in [
            // Settings, rights, a data centre that is not there.
            (ErrorKind::Invalid, false),
            // A keyspace of another layout, or of somebody else.
            (ErrorKind::Corrupt, false),
            (ErrorKind::Latched, false),
            (ErrorKind::Unavailable, true),
            (ErrorKind::Unknown, true),
        ] {
            let failed = || store::Error::new(kind, "failed");
            let errors = [Error::Join(failed()), Error::Store(failed()), Error::Load(failed().into())];
            for error in errors {
                assert_eq!(error.may_pass(), passes, "{kind:?} {error}");
            }
            let local = Error::Open { path: "data".to_owned(), source: failed() };
            assert!(!local.may_pass(), "a directory of this machine is not waited for");
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_not_waited_for() {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let path = || "some/file".to_owned();
        assert!(!Error::Password { path: path(), source: missing() }.may_pass());
        assert!(!Error::Certificates { path: path(), source: missing() }.may_pass());
    }
}
