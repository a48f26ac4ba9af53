//! The node of this suite: one that asks for TLS, certificates, users and rights.

use std::sync::Arc;

use env::Env;
use own_cluster::{CERTIFICATE, OwnCluster, Place};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use store_cassandra::{Credentials, Options};

use crate::certificates::Certificates;

/// No other cluster of `dev/cassandra` uses it. Nobody attacks these passwords.
const PLACE: Place =
    Place { suite: "secured", address: "127.0.0.31", jvm: "-Dcassandra.auth_bcrypt_gensalt_log2_rounds=4" };
/// What every keyspace of this suite begins with.
pub(crate) const PREFIX: &str = "secured";

/// The running node. Dropping it wipes it.
pub(crate) struct Node {
    pub(crate) env: Env,
    pub(crate) certificates: Certificates,
    /// Its first superuser.
    pub(crate) superuser: Session,
    cluster: OwnCluster,
}

impl Node {
    /// Starts it, empty, however the last run ended.
    pub(crate) async fn start(env: &Env) -> Self {
        let cluster = OwnCluster::new(env, PLACE).await;
        cluster.say("starts a node that asks for TLS, certificates, users and rights");
        let certificates = Certificates::make(&cluster.directory().join("certificates"), PLACE.address);
        let encryption = format!(
            "client_encryption_options: {{enabled: true, optional: false, require_client_auth: true, keystore: {}, \
             truststore: {}, ssl_context_factory: {{class_name: \
             org.apache.cassandra.security.PEMBasedSslContextFactory}}}}",
            certificates.pair("node").display(),
            certificates.path("authority").display()
        );
        // Where `dev/cassandra` gets it from, which asks the node whether it answers.
        assert_eq!(certificates.pair("ours"), cluster.directory().join(CERTIFICATE));
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
        cluster.start(&settings).await;
        let superuser = session(&certificates).await;
        let node = Self { env: env.clone(), certificates, superuser, cluster };
        node.say("the node answers");
        node
    }

    /// Says a step, at once and also when the test passes.
    pub(crate) fn say(&self, step: &str) {
        self.cluster.say(step);
    }

    /// Where it listens.
    pub(crate) fn address() -> String {
        format!("{}:9042", PLACE.address)
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
