//! Settings that the store gets, as records keep them: by name, and not at all where they are the default. So a record
//! that says nothing of them is as one from before there were any.

use serde::{Deserialize, Serialize};
use store::{Compaction, Compression, Storage};

/// How a table is kept, in a record.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Storage", deny_unknown_fields)]
pub(crate) struct StorageRecord {
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    compaction: Compaction,
    #[serde(default, skip_serializing_if = "is_default", with = "named")]
    compression: Compression,
}

/// Whether a record need not say it.
pub(crate) fn is_default<T: Default + PartialEq>(setting: &T) -> bool {
    *setting == T::default()
}

/// A setting by its name.
pub(crate) mod named {
    use std::borrow::Cow;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;
    use store::Named;

    pub(crate) fn serialize<T: Named, S: Serializer>(setting: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(setting.name())
    }

    pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let name = Cow::<str>::deserialize(from)?;
        let unknown = || D::Error::custom(format!("`{name}` is not one of {}", T::names()));
        T::named(&name).ok_or_else(unknown)
    }
}
