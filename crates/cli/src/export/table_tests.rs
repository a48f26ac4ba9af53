//! A table whose server stops in the middle.

use export::{Asked, Format, TableState};

use super::super::testing::{Server, page, partition, table, with_quick_clock};
use super::*;

/// Exports a table from `server`; what came of it, and the manifest.
async fn exported(server: &Server) -> (Result<(), Failure>, Manifest) {
    let scratch = tempfile::tempdir().unwrap();
    let (directory, _) = Directory::open(scratch.path()).unwrap();
    let mut manifest = Manifest::new(Format::Ndjson, "plays".to_owned(), 1, Asked::default(), 0);
    manifest.tables = vec![table()];
    let done = with_quick_clock(async |env| {
        let mut progress = Progress::new(&env.clock, 1, 0);
        let mut table = Table {
            source: server,
            env,
            directory: &directory,
            progress: &mut progress,
            manifest: &mut manifest,
            number: 0,
            part_bytes: 1 << 20,
            partitions: 0,
            without_metadata: 0,
            open: None,
        };
        table.export(&Choice::All).await
    });
    let done = done.await;
    (done, manifest)
}

fn rows(ids: &[&str], is_last: bool) -> Result<admin::ExportRowsResponse, CallError> {
    Ok(page(partition("s", 7), ids, is_last))
}

#[tokio::test]
async fn a_stream_that_ends_before_its_last_page_is_taken_up_behind_what_came() {
    let server = Server::sending([
        vec![rows(&["f", "e"], false), rows(&["d"], false)],
        vec![],
        vec![rows(&["c"], false), rows(&["b", "a"], true)],
    ]);
    let (done, manifest) = exported(&server).await;
    assert!(done.is_ok(), "{done:?}");
    assert_eq!((manifest.tables[0].state, manifest.tables[0].rows), (TableState::Done, 6));
    let begun = server.begun.lock().unwrap().clone();
    let behind = |position: Option<admin::ExportPosition>| Some(position?.row?.event_id);
    assert_eq!(
        begun.into_iter().map(behind).collect::<Vec<_>>(),
        [None, Some("d".to_owned()), Some("d".to_owned())]
    );
}

#[tokio::test]
async fn a_table_whose_last_page_never_comes_is_not_done() {
    let server = Server::sending([vec![rows(&["b"], false)]]);
    let (done, manifest) = exported(&server).await;
    let error = done.unwrap_err();
    assert_eq!(error.exit_code(), 6, "{error:?}");
    assert!(format!("{error:?}").contains("ended before their last page"), "{error:?}");
    assert_ne!(manifest.tables[0].state, TableState::Done);
    // As often without a row as a connection that breaks.
    assert_eq!(server.begun.lock().unwrap().len(), usize::try_from(TRIES_MAX).unwrap());
}
