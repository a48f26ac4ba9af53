//! The store that the settings choose, opened, and the layers around it: the same for every store.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use env::{Env, blocking};
use prometheus_client::registry::Registry;
use store::Store;
use store::layer::{Deadlines, LaneLayer, Lanes, Layered, MetricsLayer, Op, TimeoutLayer};
use store_cassandra::{CassandraStore, Credentials, Options};
use store_embedded::EmbeddedStore;

use crate::config::{Backend, Config};
use crate::{Error, certificates};

/// A store call that takes longer has an unknown outcome.
const STORE_WITHIN: Duration = Duration::from_secs(30);
/// Measuring a table reads all of it.
const MEASURE_WITHIN: Duration = Duration::from_secs(3_600);
/// Deleting a partition of the embedded store takes as long as reading it.
const DELETE_WITHIN: Duration = Duration::from_secs(600);
/// Lanes for small scans for each one for wide scans: a small one takes little, and none should wait.
const SMALL_PER_WIDE: usize = 4;
/// Wide scans of a store elsewhere: they wait for other machines and take no core here.
const REMOTE_WIDE_SCANS: usize = 64;
/// Bytes that a file with a password may have; what is larger was named by mistake.
const PASSWORD_BYTES_MAX: u64 = 4 << 10;

/// A store that was opened.
pub(crate) enum Opened {
    Embedded(EmbeddedStore),
    Cassandra(CassandraStore),
}

impl Opened {
    /// Opens the store that the settings choose.
    pub(crate) async fn open(config: &Config, env: &Env) -> Result<Self, Error> {
        match config.store.backend {
            Backend::Embedded => {
                let path = &config.store.data;
                let opened = EmbeddedStore::open(path, config.embedded_options(), env.clone()).await;
                let failed = |source| Error::Open { path: path.display().to_string(), source };
                opened.map(Self::Embedded).map_err(failed)
            }
            Backend::Cassandra => {
                let options = options(config, env).await?;
                let joined = CassandraStore::connect(&options, env.clone()).await;
                joined.map(Self::Cassandra).map_err(Error::Join)
            }
        }
    }

    /// The store itself.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => Arc::new(store.clone()),
            Self::Cassandra(store) => Arc::new(store.clone()),
        }
    }

    /// Shows what the store itself has to say; what is counted of its calls is a layer's.
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        match self {
            Self::Embedded(_) => {}
            Self::Cassandra(store) => store.register_metrics(registry),
        }
    }

    /// Ends in order. A cluster keeps nothing that is ours to close.
    pub(crate) async fn close(self) {
        match self {
            Self::Embedded(store) => store.close().await,
            Self::Cassandra(_) => {}
        }
    }
}

/// Drops everything that servers with these settings keep in a cluster: all keyspaces with the prefix, and so every
/// namespace. For demos and tests, which have a prefix of their own. Of the embedded store, whose directory is the
/// caller's to remove, nothing is touched.
pub async fn drop_keyspaces(config: &Config, env: &Env) -> Result<(), Error> {
    match config.store.backend {
        Backend::Embedded => Ok(()),
        Backend::Cassandra => {
            let options = options(config, env).await?;
            store_cassandra::drop_keyspaces(&options).await.map_err(Error::Join)
        }
    }
}

/// The options of the store on Cassandra, with what is in files.
pub(crate) async fn options(config: &Config, env: &Env) -> Result<Options, Error> {
    let tls = certificates::read(&config.store.cassandra.tls, env).await?;
    let options = Options { tls, ..config.cassandra_options() };
    let cassandra = &config.store.cassandra;
    if cassandra.user.is_empty() {
        return Ok(options);
    }
    let password = read_password(&cassandra.password_file, env).await?;
    Ok(Options { credentials: Some(Credentials { user: cassandra.user.clone(), password }), ..options })
}

/// Reads a password.
pub(crate) async fn read_password(path: &Path, env: &Env) -> Result<String, Error> {
    let file = path.to_owned();
    let read = blocking(&*env.spawn, move || password(&file)).await;
    let failed = |source| Error::Password { path: path.display().to_string(), source };
    read.map_err(io::Error::other).flatten().map_err(failed)
}

/// The first line of a file: what editors put behind it is not part of a password.
fn password(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(PASSWORD_BYTES_MAX + 1).read_to_string(&mut text)?;
    let too_large = !u64::try_from(length).is_ok_and(|length| length <= PASSWORD_BYTES_MAX);
    let password = text.strip_suffix('\n').map_or(&*text, |line| line.strip_suffix('\r').unwrap_or(line));
    match password {
        _ if too_large => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 KiB")),
        "" => Err(io::Error::new(io::ErrorKind::InvalidData, "it is empty")),
        password if password.contains('\n') => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it has more than one line"))
        }
        password => Ok(password.to_owned()),
    }
}

/// How many scans run at a time.
pub(crate) fn lanes(config: &Config) -> Lanes {
    let own = match config.store.backend {
        Backend::Embedded => std::thread::available_parallelism().map_or(1, usize::from),
        Backend::Cassandra => REMOTE_WIDE_SCANS,
    };
    let wide = if config.limits.wide_scans == 0 { own } else { config.limits.wide_scans };
    Lanes { wide, small: SMALL_PER_WIDE * wide }
}

/// The store with what every store has around it.
pub(crate) fn layered(
    store: Arc<dyn Store>,
    lanes: Lanes,
    registry: &mut Registry,
    env: &Env,
) -> Arc<dyn Store> {
    let deadlines = Deadlines::all(STORE_WITHIN)
        .with(Op::Histogram, MEASURE_WITHIN)
        .with(Op::DeletePartition, DELETE_WITHIN);
    let laned = Layered::new(store, LaneLayer::new(Arc::clone(&env.spawn), lanes));
    let timed = Layered::new(Arc::new(laned), TimeoutLayer::new(Arc::clone(&env.clock), deadlines));
    Arc::new(Layered::new(Arc::new(timed), MetricsLayer::new(registry, Arc::clone(&env.clock))))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_password_is_the_line_of_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("password");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            password(&path).map_err(|error| error.to_string())
        };
        for text in ["s3cret", "s3cret\n", "s3cret\r\n"] {
            assert_eq!(read(text).as_deref(), Ok("s3cret"), "{text:?}");
        }
        // A space may well be part of one.
        assert_eq!(read(" a b \n").as_deref(), Ok(" a b "));
        assert_eq!(read("\n"), Err("it is empty".to_owned()));
        assert_eq!(read("one\ntwo\n"), Err("it has more than one line".to_owned()));
        assert_eq!(read(&"x".repeat(4_097)), Err("it is larger than 4 KiB".to_owned()));
    }

    #[tokio::test]
    async fn a_password_that_cannot_be_read_is_named() {
        let mut config = Config::default();
        config.store.backend = Backend::Cassandra;
        config.store.cassandra.user = "braid".to_owned();
        config.store.cassandra.password_file = PathBuf::from("no/such/file");
        let told = Opened::open(&config, &Env::system()).await.err().unwrap().to_string();
        assert!(
            told.starts_with("cannot read the password in no/such/file (") && told.contains("one line"),
            "{told}"
        );
    }

    /// Settings with a user, whose password is in a file, and with TLS, whose files are there too.
    fn secured(directory: &Path) -> Config {
        let file = |name: &str| {
            let path = directory.join(name);
            std::fs::write(&path, name).unwrap();
            path
        };
        let mut config = Config::default();
        config.store.backend = Backend::Cassandra;
        let cassandra = &mut config.store.cassandra;
        (cassandra.user, cassandra.password_file) = ("braid".to_owned(), file("password"));
        let tls = &mut cassandra.tls;
        (tls.enabled, tls.verify_hostname) = (true, false);
        (tls.ca_file, tls.cert_file, tls.key_file) = (file("ca"), file("cert"), file("key"));
        config
    }

    #[tokio::test]
    async fn user_and_tls_of_the_settings_reach_the_store() {
        let directory = tempfile::tempdir().unwrap();
        let mut config = secured(directory.path());
        let found = options(&config, &Env::system()).await.unwrap();
        let credentials = found.credentials.unwrap();
        assert_eq!((&*credentials.user, &*credentials.password), ("braid", "password"));
        let tls = found.tls.unwrap();
        let identity = tls.identity.unwrap();
        let read = [tls.authorities, identity.certificates, identity.key].map(|pem| pem.bytes);
        assert_eq!(read, [&b"ca"[..], b"cert", b"key"]);
        assert!(!tls.verify_hostname);

        // Either alone is not forgotten for the lack of the other.
        config.store.cassandra.user.clear();
        let found = options(&config, &Env::system()).await.unwrap();
        assert!(found.credentials.is_none() && found.tls.is_some());
        let mut config = secured(directory.path());
        config.store.cassandra.tls.enabled = false;
        let found = options(&config, &Env::system()).await.unwrap();
        assert!(found.credentials.is_some() && found.tls.is_none());
    }

    #[tokio::test]
    async fn all_other_settings_of_a_cluster_reach_the_store() {
        let mut config = Config::default();
        config.store.max_tables = 77;
        let cassandra = &mut config.store.cassandra;
        cassandra.contact_points = vec!["node:9042".to_owned()];
        (cassandra.local_datacenter, cassandra.keyspace_prefix) = ("dc2".to_owned(), "other".to_owned());
        cassandra.replication = [("dc1".to_owned(), 3), ("dc2".to_owned(), 2)].into();
        cassandra.connections_per_node = 5;
        let expect = Options {
            contact_points: vec!["node:9042".to_owned()],
            local_datacenter: Some("dc2".to_owned()),
            keyspace_prefix: "other".to_owned(),
            replication: [("dc1".to_owned(), 3), ("dc2".to_owned(), 2)].into(),
            connections_per_node: 5,
            tables_max: 77,
            ..Options::default()
        };
        assert_eq!(options(&config, &Env::system()).await.unwrap(), expect);
    }

    #[tokio::test]
    async fn a_cluster_that_does_not_answer_is_named_with_what_to_do() {
        let mut config = Config::default();
        config.store.backend = Backend::Cassandra;
        config.store.cassandra.contact_points = vec!["127.0.0.1:1".to_owned()];
        let told = Opened::open(&config, &Env::system()).await.err().unwrap().to_string();
        assert!(told.contains("127.0.0.1:1") && told.contains("check the contact points"), "{told}");
    }

    #[test]
    fn a_store_elsewhere_has_lanes_that_do_not_depend_on_the_cores_here() {
        let mut config = Config::default();
        config.store.backend = Backend::Cassandra;
        assert_eq!(lanes(&config), Lanes { wide: 64, small: 256 });
        config.limits.wide_scans = 5;
        assert_eq!(lanes(&config), Lanes { wide: 5, small: 20 });
        config.store.backend = Backend::Embedded;
        assert_eq!(lanes(&config), Lanes { wide: 5, small: 20 });
    }
}
