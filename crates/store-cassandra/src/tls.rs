//! TLS to the cluster: what stands in files becomes what the driver takes. Pure; nothing is read or sent here.
//!
//! Only authorities that were named are trusted. A node's certificate has to be for the address by which the driver
//! reaches it, unless the settings let any name pass; who signed it is checked in any case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use store::{Error, Result};

/// What was read from a PEM file.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem {
    /// Where it was, for messages.
    pub path: String,
    /// What was there; never shown, as it may be a key.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Pem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pem").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Who we are to nodes that ask for a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Our certificate, and those between it and the authority.
    pub certificates: Pem,
    /// Its key.
    pub key: Pem,
}

/// How connections are encrypted, and whom to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Certificates of the authorities that sign those of nodes.
    pub authorities: Pem,
    /// Our own certificate, where nodes ask for one.
    pub identity: Option<Identity>,
    /// Whether a node's certificate has to be for the address of that node.
    pub verify_hostname: bool,
}

/// What the driver takes, and what became of it.
pub(crate) struct Encryption {
    pub(crate) config: Arc<ClientConfig>,
    card: Arc<Card>,
}

impl Encryption {
    /// Whether a node asked for our certificate. What it thought of it we learn from an alert, which the driver may lose.
    pub(crate) fn was_asked(&self) -> bool {
        self.card.asked.load(Ordering::Relaxed)
    }
}

impl Tls {
    /// What the driver takes.
    pub(crate) fn config(&self) -> Result<Encryption> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let Pem { path, .. } = &self.authorities;
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authorities)? {
            roots.add(certificate).map_err(|error| {
                let advice = "put PEM certificates of the authorities that sign those of nodes there";
                Error::invalid(format!("a certificate in {path} cannot be used ({error}); {advice}"))
            })?;
        }
        let unusable = |error: &dyn std::error::Error| {
            Error::invalid(format!("TLS with the authorities in {path} cannot be set up ({error})"))
        };
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let verifier = verifier.map_err(|error| unusable(&error))?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?;
        let builder = match self.verify_hostname {
            true => builder.with_webpki_verifier(verifier),
            false => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyName(verifier))),
        };
        let ours = self.identity.as_ref().map(|identity| identity.certified(&provider)).transpose()?;
        let card = Arc::new(Card { ours: ours.map(Arc::new), asked: AtomicBool::new(false) });
        let resolver: Arc<dyn ResolvesClientCert> = Arc::<Card>::clone(&card);
        Ok(Encryption { config: Arc::new(builder.with_client_cert_resolver(resolver)), card })
    }
}

impl Identity {
    fn certified(&self, provider: &CryptoProvider) -> Result<CertifiedKey> {
        let Self { certificates: ours, key } = self;
        let secret = PrivateKeyDer::from_pem_slice(&key.bytes).map_err(|error| {
            Error::invalid(format!(
                "{} holds no key ({error}); put the PEM key of our certificate there, without a password",
                key.path
            ))
        })?;
        CertifiedKey::from_der(certificates(ours)?, secret, provider).map_err(|error| {
            Error::invalid(format!(
                "the key in {} does not go with the certificate in {} ({error}); give a pair",
                key.path, ours.path
            ))
        })
    }
}

/// Shows our certificate to whoever asks, and remembers that somebody did.
#[derive(Debug)]
struct Card {
    ours: Option<Arc<CertifiedKey>>,
    asked: AtomicBool,
}

impl ResolvesClientCert for Card {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        self.ours.clone()
    }

    fn has_certs(&self) -> bool {
        true
    }
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>> {
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.bytes).collect();
    let refused = |why: &str| {
        Error::invalid(format!("{} holds no certificate ({why}); give a file of PEM certificates", pem.path))
    };
    match found {
        Ok(found) if found.is_empty() => Err(refused("there is none in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(refused(&error.to_string())),
    }
}

/// Checks everything but the name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let found = self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match found {
            // The name is looked at last: all else was right.
            Err(rustls::Error::InvalidCertificate(error)) if is_for_another_name(&error) => {
                Ok(ServerCertVerified::assertion())
            }
            found => found,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Whether a certificate is good, and somebody else's.
pub(crate) const fn is_for_another_name(error: &CertificateError) -> bool {
    matches!(error, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pem(path: &str, text: &str) -> Pem {
        Pem { path: path.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    fn check(tls: &Tls, expect: &str) {
        let told = tls.config().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.starts_with(expect) && !expect.is_empty(), "{told}");
    }

    /// A certificate that signed itself; nobody has its key.
    const AUTHORITY: &str = include_str!("../golden/authority.pem");

    #[test]
    fn a_file_that_cannot_be_used_is_named_with_what_to_put_there() {
        let tls = |authorities| Tls { authorities, identity: None, verify_hostname: true };
        check(&tls(pem("ca", "")), "ca holds no certificate (there is none in it); give a file of PEM");
        check(&tls(pem("ca", "-----BEGIN CERTIFICATE-----\nAAAA\n")), "ca holds no certificate (missing");
        let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        check(&tls(pem("ca", nonsense)), "a certificate in ca cannot be used (");
        let good = tls(pem("ca", AUTHORITY));
        assert!(good.config().is_ok());
        assert!(Tls { verify_hostname: false, ..good.clone() }.config().is_ok());
        let with = |certificates, key| {
            let identity = Some(Identity { certificates, key });
            Tls { identity, ..good.clone() }
        };
        check(&with(pem("mine", AUTHORITY), pem("key", "")), "key holds no key (");
        check(&with(pem("mine", AUTHORITY), pem("key", AUTHORITY)), "key holds no key (");
        let nonsense = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        check(&with(pem("mine", ""), pem("key", nonsense)), "mine holds no certificate (");
        check(&with(pem("mine", AUTHORITY), pem("key", nonsense)), "the key in key does not go with");
    }

    #[test]
    fn a_key_is_not_shown() {
        let shown = format!("{:?}", pem("key", "secret"));
        assert!(shown.contains("key") && !shown.contains("secret"), "{shown}");
    }
}
