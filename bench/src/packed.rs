//! The same wide series twice, in namespaces of their own: its targets keep rows in one and chunks in the other.

use std::sync::Arc;

use anyhow::{Result, ensure};
use engine::{Engine, SplitLayout, SplitStrategy};
use store::Store;

use crate::divided::{Data, Divided};

/// Namespaces, by layout.
pub(crate) const NAMES: [&str; 2] = ["in_rows", "in_chunks"];
/// How targets that are packed say so.
pub(crate) const PACKED: &str = "packed";

/// Writes both and splits them by time.
pub(crate) async fn write(engine: &Engine, store: &Arc<dyn Store>, data: Data) -> Result<[Arc<Divided>; 2]> {
    let [rows, chunks] = NAMES;
    let at = || (engine.clone(), Arc::clone(store));
    let how = |layout| (SplitStrategy::TimeRange, layout);
    let rows = Divided::write(at(), rows, how(SplitLayout::Rows), data).await?;
    let chunks = Divided::write(at(), chunks, how(SplitLayout::Packed), data).await?;
    ensure!(
        rows.events == chunks.events && rows.bytes() == chunks.bytes(),
        "the namespaces do not hold the same"
    );
    ensure!(chunks.layout == PACKED, "asked for {PACKED}, the targets are {}", chunks.layout);
    Ok([Arc::new(rows), Arc::new(chunks)])
}

/// What targets keep where nobody says how, in a namespace of this name.
pub(crate) async fn chosen(
    engine: &Engine,
    store: &Arc<dyn Store>,
    name: &str,
    data: Data,
) -> Result<&'static str> {
    let how = (SplitStrategy::Auto, SplitLayout::Auto);
    Ok(Divided::write((engine.clone(), Arc::clone(store)), name, how, data).await?.layout)
}
