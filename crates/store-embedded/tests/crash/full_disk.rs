//! A disk that fills up: the store latches with a clear reason, acknowledges nothing more, and after a restart with
//! space everything acknowledged is there.
//!
//! The disk is a small tmpfs in a mount namespace of its own (`unshare`, as root or in a user namespace), so the
//! kernel itself says "no space left".

use std::path::Path;
use std::process::{Command, Stdio};

use env::Env;
use store::Store;
use store_embedded::{EmbeddedStore, Options};

use crate::support::{Acknowledged, Writer, check_writes, writer_command};

const SEED: u64 = 5;

/// Fills the disk, keeps what the writer said, then copies the data to where there is space.
const SCRIPT: &str = r#"
set -eu
mount -t tmpfs -o size=40m tmpfs "$1/small"
status=0
"$3" "$1/small/data" "$4" 0 || status=$?
cp -a "$1/small/data" "$2"
exit "$status"
"#;

fn unshare(scratch: &Path) -> Command {
    let writer = writer_command(scratch, SEED, 0);
    let mut command = Command::new("unshare");
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    command.args(if root { &["--mount"][..] } else { &["--mount", "--user", "--map-root-user"][..] });
    command.args(["sh", "-c", SCRIPT, "sh"]).arg(scratch).arg(scratch.join("rescued"));
    command.arg(writer.get_program()).arg(SEED.to_string()).stderr(Stdio::piped());
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_latches_and_loses_nothing_acknowledged() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("small")).unwrap();
    let mut writer = Writer::start(unshare(scratch.path()));
    let mut acknowledged = Acknowledged::default();
    for line in writer.lines.by_ref() {
        acknowledged.take(&line.unwrap());
    }
    let ended = writer.child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success(), "the writer should die of a failed commit, it said: {said}");
    // Whoever meets the full disk first says so: the commit itself, or a flush in the background.
    assert!(said.contains("No space left on device") || said.contains("free space on its disk: "), "{said}");
    assert!(said.contains("ready Err(Latched), write Err(Latched), read Ok(())"), "{said}");
    assert!(acknowledged.lines > 50, "{acknowledged:?}");

    let rescued = scratch.path().join("rescued");
    let store = EmbeddedStore::open(&rescued, Options::default(), Env::system()).await.unwrap();
    store.ready().await.unwrap();
    check_writes(&store, SEED, 0, &acknowledged).await;
}
