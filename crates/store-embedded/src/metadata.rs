//! Reading metadata records. Changes go through the committer; see `group`.

use bytes::Bytes;
use fjall::Readable;
use store::{MetaKey, MetaPage, MetaRecord, Result, limits};

use crate::engine::{Engine, read_failed};
use crate::keys::meta;

/// Reads one record.
pub(crate) fn get(engine: &Engine, key: &MetaKey) -> Result<Option<MetaRecord>> {
    let key = Bytes::from(meta::key(key));
    let stored = engine.database.snapshot().get(&engine.meta, &key).map_err(read_failed)?;
    stored.map(|value| meta::decode(&key, &value.into())).transpose()
}

/// Reads records of a group in order, behind `after`.
pub(crate) fn range(
    engine: &Engine,
    group: &[u8],
    after: Option<&[u8]>,
    records_max: usize,
) -> Result<MetaPage> {
    let mut from = meta::group(group);
    if let Some(name) = after {
        from.extend_from_slice(name);
        // The shortest key behind this one.
        from.push(0);
    }
    let mut page = MetaPage { records: Vec::new(), more: false };
    let mut bytes = 0;
    for entry in engine.database.snapshot().range(&engine.meta, from..meta::behind(group)) {
        if page.records.len() == records_max || bytes >= limits::META_RANGE_BYTES_MAX {
            page.more = true;
            break;
        }
        let (key, value) = entry.into_inner().map_err(read_failed)?;
        bytes += value.len();
        page.records.push(meta::decode(&key.into(), &value.into())?);
    }
    Ok(page)
}
