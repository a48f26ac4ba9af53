//! Settings of a server as rows.

use server::config::Setting;

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A setting in a list.
#[derive(Debug)]
pub(crate) struct SettingRecord<'a>(pub &'a Setting);

#[derive(serde::Serialize)]
struct Object<'a> {
    key: &'a str,
    value: &'a str,
    origin: &'a str,
    help: &'a str,
}

impl Record for SettingRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["KEY", "VALUE", "ORIGIN", "MEANING"];
    const FIELDS: &'static [&'static str] = &["key", "value", "origin", "help"];

    fn row(&self) -> Vec<String> {
        let Setting { key, value, origin, help } = self.0;
        [key, value, origin, *help].map(|text| value::printable(text).into_owned()).to_vec()
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let Setting { key, value, origin, help } = self.0;
        vec![vec![key.clone(), value.clone(), origin.clone(), (*help).to_owned()]]
    }

    fn json(&self, _: &Json) -> Result<Vec<u8>, Failure> {
        let Setting { key, value, origin, help } = self.0;
        serde_json::to_vec(&Object { key, value, origin, help })
            .map_err(|error| Failure::Other(format!("a setting cannot be shown: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_keeps_its_value_as_toml_writes_it() {
        let setting = Setting {
            key: "store.data".to_owned(),
            value: "\"a b\"".to_owned(),
            origin: "braid.toml:3".to_owned(),
            help: "Where.",
        };
        let record = SettingRecord(&setting);
        assert_eq!(record.row(), ["store.data", "\"a b\"", "braid.toml:3", "Where."]);
        let json = String::from_utf8(record.json(&Json::new().unwrap()).unwrap()).unwrap();
        let expect = r#"{"key":"store.data","value":"\"a b\"","origin":"braid.toml:3","help":"Where."}"#;
        assert_eq!(json, expect);
    }
}
