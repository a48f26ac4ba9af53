//! How large the partitions of a namespace are, slice by slice, as the store knows or measures it.

use futures::stream::{self, StreamExt, TryStreamExt};
use model::{Layout, NamespaceName};
use store::{Effort, ErrorKind, Histogram};

use crate::catalog::{Catalog, Dataset};
use crate::{Error, Reason, Result, SliceHistogram};

/// Slices that are asked for at a time. Measuring reads all of a table, so those come one by one.
const CHEAP_AT_ONCE: usize = 8;

/// The histograms of one slice, or of all, oldest first.
pub(crate) async fn histograms(
    catalog: &Catalog,
    name: &NamespaceName,
    table: Option<&str>,
    measure: bool,
) -> Result<Vec<SliceHistogram>> {
    let dataset = catalog.find(name)?;
    let layouts: Vec<Layout> = match table {
        None => dataset.layouts.iter().copied().collect(),
        Some(table) => {
            let named = |layout: &&Layout| dataset.table(layout).name.as_str() == table;
            vec![*dataset.layouts.iter().find(named).ok_or_else(|| no_slice(name, table))?]
        }
    };
    let (effort, at_once) = if measure { (Effort::Measure, 1) } else { (Effort::Cheap, CHEAP_AT_ONCE) };
    let asked = layouts.into_iter().map(|layout| of_slice(catalog, &dataset, layout, effort));
    let found: Vec<Option<SliceHistogram>> = stream::iter(asked).buffered(at_once).try_collect().await?;
    let found: Vec<SliceHistogram> = found.into_iter().flatten().collect();
    match table {
        Some(table) if found.is_empty() => Err(no_slice(name, table)),
        _ => Ok(found),
    }
}

fn no_slice(name: &NamespaceName, table: &str) -> Error {
    let shown = crate::clip::clip(table, SHOWN_CHARS);
    let message = format!("namespace `{}` has no slice `{shown}`; list its slices", name.as_str());
    Error::new(Reason::SliceNotFound, message)
}

/// Characters of an unknown name that a message repeats.
const SHOWN_CHARS: usize = 60;

/// None for a slice that was dropped meanwhile.
async fn of_slice(
    catalog: &Catalog,
    dataset: &Dataset,
    layout: Layout,
    effort: Effort,
) -> Result<Option<SliceHistogram>> {
    let table = dataset.table(&layout);
    let found = match catalog.store.histogram(&table, effort).await {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NoTable && is_gone(catalog, dataset, layout) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let Histogram { sizes, summary, quality, source, nodes_missing } = found;
    Ok(Some(SliceHistogram {
        table: table.name.as_str().to_owned(),
        slice: layout.slice,
        summary,
        sizes,
        quality,
        source: source.as_str(),
        nodes_missing,
        observed: catalog.env.clock.wall(),
    }))
}

fn is_gone(catalog: &Catalog, dataset: &Dataset, layout: Layout) -> bool {
    let now = catalog.find_same(&dataset.namespace.name, dataset.namespace.incarnation);
    now.is_ok_and(|now| !now.layouts.iter().any(|there| there.slice == layout.slice))
}
