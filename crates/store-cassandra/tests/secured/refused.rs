//! Who is not let in at all: told apart from a cluster that is away, with what to do.

use store::ErrorKind;
use store_cassandra::{CassandraStore, Credentials, Options, Tls, examine};

use crate::detour;
use crate::node::Node;

/// Joining and looking fail alike.
async fn check(node: &Node, options: &Options, kind: ErrorKind, says: &str) {
    let joined = CassandraStore::connect(options, node.env.clone()).await.unwrap_err();
    let looked = examine(options).await.unwrap_err();
    for error in [joined, looked] {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

pub(crate) async fn at_the_door(node: &Node) {
    let (good, refused) = (node.options("cassandra"), ErrorKind::Invalid);
    let with = |tls: Option<Tls>| Options { tls, ..good.clone() };
    // It hangs up without a word, as a node that is going away does.
    check(node, &with(None), ErrorKind::Unavailable, "if the nodes want TLS, set tls.enabled").await;
    let other = node.certificates.tls("other", Some("ours"));
    check(node, &with(Some(other)), refused, "name the authority that signed it in tls.ca_file").await;
    let nobody = node.certificates.tls("authority", None);
    check(node, &with(Some(nobody)), refused, "set tls.cert_file and tls.key_file").await;
    let theirs = node.certificates.tls("authority", Some("theirs"));
    check(node, &with(Some(theirs)), refused, "set tls.cert_file and tls.key_file").await;
    node.say("TLS without trust is refused on both sides");

    let elsewhere = Options { contact_points: vec![detour::open(&node.env).await], ..good.clone() };
    check(node, &elsewhere, refused, "not for the address of its node").await;
    let any_name = good.tls.clone().map(|tls| Tls { verify_hostname: false, ..tls });
    examine(&Options { tls: any_name.clone(), ..elsewhere.clone() }).await.unwrap();
    let other = Options {
        tls: any_name.map(|tls| Tls { authorities: node.certificates.tls("other", None).authorities, ..tls }),
        ..elsewhere
    };
    check(node, &other, refused, "name the authority that signed it in tls.ca_file").await;
    node.say("a certificate for another address is refused, unless any name will do");

    let is = |credentials: Option<(&str, &str)>| Options {
        credentials: credentials
            .map(|(user, password)| Credentials { user: user.to_owned(), password: password.to_owned() }),
        ..good.clone()
    };
    check(node, &is(None), refused, "asks who we are; set user and password_file").await;
    for (user, password) in [("cassandra", "wrong"), ("nobody", "cassandra")] {
        let says = format!("Provided username {user} and/or password are incorrect");
        check(node, &is(Some((user, password))), refused, &says).await;
    }
    node.run(&["CREATE ROLE mute WITH PASSWORD = 'mute' AND LOGIN = false"]).await;
    check(node, &node.options("mute"), refused, "mute is not permitted to log in").await;
    assert_eq!(node.keyspaces().await, [""; 0]);
    node.say("who does not say who it is, or says it wrong, is refused; nothing was made");
}
