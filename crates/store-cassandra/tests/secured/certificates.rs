//! Authorities, the certificate of the node and those of clients, made anew by openssl for every run.

use std::path::{Path, PathBuf};
use std::process::Command;

use store_cassandra::{Identity, Pem, Tls};

/// Long enough for a run.
const DAYS: &str = "2";
const KEY: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/// A directory of them.
pub(crate) struct Certificates {
    directory: PathBuf,
}

impl Certificates {
    /// Two authorities; the first signs the node, which is at `address`, and the client `ours`, the other `theirs`.
    pub(crate) fn make(directory: &Path, address: &str) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        let made = Self { directory: directory.to_owned() };
        made.authority("authority");
        made.authority("other");
        made.signed("node", "authority", &format!("subjectAltName=IP:{address}"));
        made.signed("ours", "authority", "extendedKeyUsage=clientAuth");
        made.signed("theirs", "other", "extendedKeyUsage=clientAuth");
        made
    }

    /// A key and its certificate in one file, as Cassandra takes them.
    pub(crate) fn pair(&self, name: &str) -> PathBuf {
        let path = self.directory.join(format!("{name}-pair.pem"));
        let pair = [self.bytes(&format!("{name}.key")), self.bytes(&format!("{name}.pem"))].concat();
        std::fs::write(&path, pair).unwrap();
        path
    }

    /// The certificate of an authority.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.pem"))
    }

    /// What a client sets that trusts one authority and is somebody.
    pub(crate) fn tls(&self, authority: &str, who: Option<&str>) -> Tls {
        let pem = |file: String| Pem { bytes: self.bytes(&file), path: file };
        let identity =
            |who| Identity { certificates: pem(format!("{who}.pem")), key: pem(format!("{who}.key")) };
        Tls {
            authorities: pem(format!("{authority}.pem")),
            identity: who.map(identity),
            verify_hostname: true,
        }
    }

    fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.directory.join(file)).unwrap()
    }

    fn authority(&self, name: &str) {
        let [key, out, subject] = [format!("{name}.key"), format!("{name}.pem"), format!("/CN={name}")];
        let rest = ["-addext", "basicConstraints=critical,CA:TRUE", "-days", DAYS];
        let names = ["-keyout", &key, "-out", &out, "-subj", &subject];
        self.openssl(&[&["req", "-x509"][..], &KEY, &names, &rest].concat());
    }

    fn signed(&self, name: &str, by: &str, extension: &str) {
        let [key, request, out] = ["key", "csr", "pem"].map(|kind| format!("{name}.{kind}"));
        let [subject, extensions] = [format!("/CN={name}"), format!("{name}.ext")];
        self.openssl(&[&["req"][..], &KEY, &["-keyout", &key, "-out", &request, "-subj", &subject]].concat());
        std::fs::write(self.directory.join(&extensions), extension).unwrap();
        let [authority, secret] = ["pem", "key"].map(|kind| format!("{by}.{kind}"));
        let signer = ["-CA", &authority, "-CAkey", &secret, "-CAcreateserial", "-days", DAYS];
        let names = ["x509", "-req", "-in", &request, "-out", &out, "-extfile", &extensions];
        self.openssl(&[&names[..], &signer].concat());
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl").args(arguments).current_dir(&self.directory).output().unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`openssl {}` failed: {complained}", arguments.join(" "));
    }
}
