//! The node of this suite: by `dev/cassandra`, in a directory and at an address of its own.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use env::{BootTime, Env};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use store_cassandra::{Credentials, Options};

use crate::certificates::Certificates;

/// No other cluster of `dev/cassandra` uses it.
const ADDRESS: &str = "127.0.0.31";
const HEAP: &str = "512m";
/// It runs for seconds, and nobody attacks these passwords.
const JVM: &str = "-XX:TieredStopAtLevel=1 -Dcassandra.auth_bcrypt_gensalt_log2_rounds=4";
/// What every keyspace of this suite begins with.
pub(crate) const PREFIX: &str = "secured";

/// The running node. Dropping it wipes it.
pub(crate) struct Node {
    pub(crate) env: Env,
    pub(crate) certificates: Certificates,
    /// Its first superuser.
    pub(crate) superuser: Session,
    began: BootTime,
    _wiped: Wiped,
}

/// The directory of the node, emptied at the end.
struct Wiped {
    directory: PathBuf,
    /// Held until then: two runs on one machine take turns.
    _lock: File,
}

impl Node {
    /// Starts it, empty, however the last run ended.
    pub(crate) async fn start(env: &Env) -> Self {
        let directory = std::env::temp_dir().join("braid-cassandra-secured");
        let lock = File::create(directory.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let (began, _wiped) = (env.clock.boot(), Wiped { directory: directory.clone(), _lock: lock });
        say(env, began, "starts a node that asks for TLS, certificates, users and rights");
        dev_cassandra(env, &directory, &["wipe"]).await;
        let certificates = Certificates::make(&directory.join("certificates"), ADDRESS);
        let encryption = format!(
            "client_encryption_options: {{enabled: true, optional: false, require_client_auth: true, keystore: {}, \
             truststore: {}, ssl_context_factory: {{class_name: \
             org.apache.cassandra.security.PEMBasedSslContextFactory}}}}",
            certificates.pair("node").display(),
            certificates.path("authority").display()
        );
        certificates.pair("ours");
        let settings = [
            "authenticator: PasswordAuthenticator",
            "authorizer: CassandraAuthorizer",
            // What is granted holds at once.
            "permissions_validity: 0ms",
            "roles_validity: 0ms",
            "credentials_validity: 0ms",
            "auto_snapshot: true",
            &encryption,
        ];
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let start = ["start", "--ip", ADDRESS, "--heap", HEAP];
        dev_cassandra(env, &directory, &[&start, &settings[..]].concat()).await;
        let superuser = session(&certificates).await;
        let node = Self { env: env.clone(), certificates, superuser, began, _wiped };
        node.say("the node answers");
        node
    }

    /// Says a step, at once and also when the test passes.
    pub(crate) fn say(&self, step: &str) {
        say(&self.env, self.began, step);
    }

    /// Where it listens.
    pub(crate) fn address() -> String {
        format!("{ADDRESS}:9042")
    }

    /// What a server sets that is `user`, whose password is the name.
    pub(crate) fn options(&self, user: &str) -> Options {
        Options {
            contact_points: vec![Self::address()],
            keyspace_prefix: PREFIX.to_owned(),
            credentials: Some(Credentials { user: user.to_owned(), password: user.to_owned() }),
            tls: Some(self.certificates.tls("authority", Some("ours"))),
            ..Options::default()
        }
    }

    /// Runs statements as the superuser.
    pub(crate) async fn run(&self, statements: &[&str]) {
        for statement in statements {
            self.superuser.query_unpaged(*statement, ()).await.unwrap();
        }
    }

    /// The keyspaces of this suite.
    pub(crate) async fn keyspaces(&self) -> Vec<String> {
        let text = "SELECT keyspace_name FROM system_schema.keyspaces";
        let answer = self.superuser.query_unpaged(text, ()).await.unwrap().into_rows_result().unwrap();
        let names = answer.rows::<(String,)>().unwrap().map(|row| row.unwrap().0);
        names.filter(|name| name.starts_with(PREFIX)).collect()
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        // A test that fails is told; a node that is left is wiped by the next run.
        let _left = command(&self.directory, &["wipe"]).status();
        let _left = std::fs::remove_dir_all(&self.directory);
    }
}

/// A way past the store, as an operator has one.
async fn session(certificates: &Certificates) -> Session {
    let tls = certificates.tls("authority", Some("ours"));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&tls.authorities.bytes).unwrap()).unwrap();
    let ours = tls.identity.unwrap();
    let chain = vec![CertificateDer::from_pem_slice(&ours.certificates.bytes).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(&ours.key.bytes).unwrap();
    let config = rustls::ClientConfig::builder().with_root_certificates(roots);
    let config = Arc::new(config.with_client_auth_cert(chain, key).unwrap());
    let builder = SessionBuilder::new().known_node(Node::address()).user("cassandra", "cassandra");
    builder.tls_context(Some(config)).build().await.unwrap()
}

fn say(env: &Env, began: BootTime, step: &str) {
    let seconds = env.clock.boot().since(began).as_secs_f32();
    // Not by a macro: the test harness keeps what those print.
    writeln!(std::io::stderr().lock(), "secured {seconds:6.1} s  {step}").unwrap();
}

async fn dev_cassandra(env: &Env, directory: &Path, arguments: &[&str]) {
    let mut command = command(directory, arguments);
    let output = env::blocking(&*env.spawn, move || command.output()).await.unwrap().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`dev/cassandra {}` failed: {complained}", arguments.join(" "));
}

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let mut command = Command::new(Path::new(&here).join("../../dev/cassandra"));
    let (verb, rest) = arguments.split_first().expect("a verb");
    let certificate = directory.join("certificates/ours-pair.pem");
    command.arg(verb).arg("--dir").arg(directory).args(rest);
    command.env("BRAID_JVM", JVM).env("BRAID_CERTIFICATE", certificate);
    command
}
