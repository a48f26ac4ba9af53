//! A broker that asks for TLS, a user and a password.

use std::process::Command;

use env::Env;
use own_cluster::OwnBroker;

use crate::scene::{Notes, SEEN_WITHIN, Scene, detection, series};
use queue_kafka::Options;

/// Not used by any other suite; the secured listener is two behind it.
const PORT: u16 = 19_292;
const PASSWORD: &str = "s3cret";

/// A certificate that signs itself, with its key, in one file as Kafka wants them.
fn certificate(directory: &std::path::Path) -> (String, String) {
    std::fs::create_dir_all(directory).unwrap();
    let path = |name: &str| directory.join(name).display().to_string();
    let (key, certificate, pair) = (path("key.pem"), path("certificate.pem"), path("pair.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = [&key, &certificate].map(|path| std::fs::read_to_string(path).unwrap()).concat();
    std::fs::write(&pair, text).unwrap();
    (certificate, pair)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_and_a_password_are_properties_like_others() {
    let kafka = OwnBroker::new(&Env::system(), "secured", PORT).await;
    let (authority, pair) = certificate(&kafka.directory().join("certificates"));
    let secured = PORT + 2;
    let user = format!(
        "listener.name.secured.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
         user_braid=\"{PASSWORD}\";"
    );
    kafka
        .start(&[
            format!(
                "listeners=PLAINTEXT://127.0.0.1:{PORT},SECURED://127.0.0.1:{secured},CONTROLLER://127.0.0.1:{}",
                PORT + 1
            ),
            format!("advertised.listeners=PLAINTEXT://127.0.0.1:{PORT},SECURED://127.0.0.1:{secured}"),
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL".to_owned(),
            "listener.name.secured.ssl.keystore.type=PEM".to_owned(),
            format!("listener.name.secured.ssl.keystore.location={pair}"),
            "listener.name.secured.sasl.enabled.mechanisms=PLAIN".to_owned(),
            user,
        ])
        .await;
    let options = |password: &str| Options {
        bootstrap_servers: vec![format!("127.0.0.1:{secured}")],
        properties: [
            ("security.protocol", "sasl_ssl"),
            ("ssl.ca.location", &authority),
            ("sasl.mechanisms", "PLAIN"),
            ("sasl.username", "braid"),
            ("sasl.password", password),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        ..Options::default()
    };
    assert!(Scene::with(options("wrong")).broker.make_topics().await.is_err());
    let scene = Scene::with(options(PASSWORD));
    scene.broker.make_topics().await.unwrap();
    let (sender, _) = scene.sender();
    sender.send(&detection(1));
    sender.flush(&scene.env, SEEN_WITHIN).await;
    let (receiver, notes) = (scene.receiver(), Notes::default());
    tokio::select! {
        () = receiver.run(&notes) => {}
        () = scene.until("it arrives", async || notes.count() == 1) => {}
    }
    assert_eq!(notes.sorted(), series(1..2));
}

#[test]
fn a_property_that_nobody_knows_is_refused_by_name() {
    let properties = [("linger.mss".to_owned(), "5".to_owned())].into();
    let refused = Options { properties, ..Options::default() }.check().unwrap_err().to_string();
    assert!(refused.contains("linger.mss") && refused.contains("queue.kafka.properties"), "{refused}");
}
