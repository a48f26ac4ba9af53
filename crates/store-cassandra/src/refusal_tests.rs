//! What the driver says, and what is made of it.

use std::sync::Arc;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::*;

fn broken(error: ConnectionError) -> NewSessionError {
    let broken = ConnectionPoolError::Broken { last_connection_error: error };
    MetadataError::ConnectionPoolError(broken).into()
}

fn check_asked(asked: bool, error: ConnectionError, kind: ErrorKind, says: &str) {
    let error = of_session(&Options::default(), asked, broken(error));
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

fn check(error: ConnectionError, kind: ErrorKind, says: &str) {
    check_asked(false, error, kind, says);
}

fn io(error: io::Error) -> ConnectionError {
    ConnectionError::IoError(Arc::new(error))
}

fn tls(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn read(error: FrameHeaderParseError) -> ConnectionError {
    ConnectionError::BrokenConnection(BrokenConnectionErrorKind::FrameHeaderParseError(error).into())
}

#[test]
fn nobody_there_may_pass() {
    let unavailable = ErrorKind::Unavailable;
    check(io(io::ErrorKind::ConnectionRefused.into()), unavailable, "no node answers at 127.0.0.1:9042 (");
    let ends = "check the contact points, and whether the cluster runs";
    let error = of_session(&Options::default(), false, broken(ConnectionError::ConnectTimeout));
    assert!(error.to_string().ends_with(ends), "{error}");
    let closed = FrameHeaderParseError::HeaderIoError(io::ErrorKind::ConnectionReset.into());
    check(read(closed), unavailable, "if the nodes want TLS, set tls.enabled");
    let error =
        of_session(&Options::default(), true, NewSessionError::FailedToResolveAnyHostname(vec!["h".into()]));
    assert_eq!(error.kind(), unavailable);
}

#[test]
fn tls_that_fails_says_whose_settings_to_mend() {
    let refused = |error, says| check(io(tls(error)), ErrorKind::Invalid, says);
    let certificate = rustls::Error::InvalidCertificate;
    refused(certificate(CertificateError::UnknownIssuer), "name the authority that signed it in tls.ca_file");
    refused(certificate(CertificateError::NotValidForName), "set tls.verify_hostname to false");
    refused(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType), "does not speak TLS there");
    let alert = rustls::Error::AlertReceived(AlertDescription::CertificateRequired);
    refused(alert.clone(), "set tls.cert_file and tls.key_file");
    // With TLS 1.3 our certificate is looked at after the handshake.
    let late = FrameHeaderParseError::HeaderIoError(tls(alert));
    check(read(late), ErrorKind::Invalid, "or wants one (TLS alert CertificateRequired)");
}

#[test]
fn whoever_hangs_up_after_our_certificate_did_not_like_it() {
    let lost = || ConnectionError::BrokenConnection(BrokenConnectionErrorKind::ChannelError.into());
    check_asked(true, lost(), ErrorKind::Invalid, "set tls.cert_file and tls.key_file");
    check_asked(false, lost(), ErrorKind::Unavailable, "check the contact points");
    check_asked(true, ConnectionError::ConnectTimeout, ErrorKind::Unavailable, "check the contact points");
}

#[test]
fn somebody_else_is_no_cassandra() {
    check(read(FrameHeaderParseError::VersionNotSupported(72)), ErrorKind::Invalid, "name its CQL port");
}

#[test]
fn a_password_that_could_not_be_looked_up_is_not_a_wrong_one() {
    let said =
        |words: &str| cause_setup(&SetupError::DbError(DbError::AuthenticationError, words.to_owned()));
    assert_eq!(said("Unable to perform authentication: Cannot achieve consistency level"), Cause::Nobody);
    let wrong = said("Provided username braid and/or password are incorrect");
    assert!(matches!(wrong, Cause::Refused(why) if why.contains("correct user and password_file")));
    let asked = cause_setup(&SetupError::MissingAuthentication);
    assert!(matches!(asked, Cause::Refused(why) if why.contains("set user and password_file")));
    assert_eq!(cause_setup(&SetupError::DbError(DbError::IsBootstrapping, String::new())), Cause::Nobody);
}

fn after(error: DbError, words: &str, kind: ErrorKind) -> Error {
    let error = ExecutionError::from(RequestAttemptError::DbError(error, words.to_owned()));
    of_joining(Some("braid"), Error::new(kind, "it failed; try again").caused_by(error))
}

#[test]
fn what_is_not_allowed_is_refused_with_the_statement_that_allows_it() {
    let words = "User braid has no MODIFY permission on <table b_meta.layout> or any of its parents";
    let error = after(DbError::Unauthorized, words, ErrorKind::Unavailable);
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().ends_with("run GRANT MODIFY ON KEYSPACE b_meta TO braid"), "{error}");
}

#[test]
fn what_ended_nobody_knows_how_is_tried_again() {
    assert_eq!(after(DbError::ServerError, "", ErrorKind::Unknown).kind(), ErrorKind::Unavailable);
    assert_eq!(after(DbError::SyntaxError, "", ErrorKind::Invalid).kind(), ErrorKind::Invalid);
    assert_eq!(after(DbError::ServerError, "", ErrorKind::Corrupt).kind(), ErrorKind::Corrupt);
}
