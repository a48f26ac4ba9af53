//! The files that TLS to a cluster needs, read. What is in them is judged by the store.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use env::{Env, blocking};
use store_cassandra::{Identity, Pem, Tls};

use crate::Error;
use crate::config::CassandraTls;

/// Bytes that a file may have: several times what the authorities of a system take.
const BYTES_MAX: u64 = 4 << 20;

/// What the files hold; nothing where TLS is off.
pub(crate) async fn read(settings: &CassandraTls, env: &Env) -> Result<Option<Tls>, Error> {
    let CassandraTls { enabled: true, ca_file, cert_file, key_file, verify_hostname } = settings else {
        return Ok(None);
    };
    let identity = if cert_file.as_os_str().is_empty() {
        None
    } else {
        Some(Identity { certificates: pem(cert_file, env).await?, key: pem(key_file, env).await? })
    };
    Ok(Some(Tls { authorities: pem(ca_file, env).await?, identity, verify_hostname: *verify_hostname }))
}

async fn pem(path: &Path, env: &Env) -> Result<Pem, Error> {
    let (file, path) = (path.to_owned(), path.display().to_string());
    let found = blocking(&*env.spawn, move || bounded(&file)).await.map_err(io::Error::other).flatten();
    match found {
        Ok(bytes) => Ok(Pem { path, bytes }),
        Err(source) => Err(Error::Certificates { path, source }),
    }
}

fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = File::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= BYTES_MAX) {
        Ok(bytes)
    } else {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 MiB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_are_read_only_where_they_are_needed() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, name).unwrap();
            path
        };
        let mut settings = CassandraTls { ca_file: "no/such/file".into(), ..CassandraTls::default() };
        assert_eq!(read(&settings, &Env::system()).await.unwrap(), None);
        (settings.enabled, settings.ca_file) = (true, file("ca"));
        let found = read(&settings, &Env::system()).await.unwrap().unwrap();
        assert_eq!((found.authorities.bytes.as_slice(), found.identity), (&b"ca"[..], None));
        (settings.cert_file, settings.key_file) = (file("cert"), file("key"));
        let identity = read(&settings, &Env::system()).await.unwrap().unwrap().identity.unwrap();
        assert_eq!((identity.certificates.bytes, identity.key.bytes), (b"cert".to_vec(), b"key".to_vec()));
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_read_is_named() {
        let settings =
            CassandraTls { enabled: true, ca_file: "no/such/file".into(), ..CassandraTls::default() };
        let told = read(&settings, &Env::system()).await.unwrap_err().to_string();
        assert!(
            told.starts_with("cannot read no/such/file (") && told.contains("[store.cassandra.tls]"),
            "{told}"
        );
    }
}
