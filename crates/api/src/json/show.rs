//! Messages as proto3 JSON, the same bytes for the same message: maps in the order of their keys. The library's own form
//! leaves that order to chance, and what is shown twice could then not be compared, nor an export be made again.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{
    DynamicMessage, EnumValueDescriptor, FieldDescriptor, Kind, MapKey, ReflectMessage, SerializeOptions,
    Value,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Well-known types have forms of their own, which the library knows.
const WELL_KNOWN: &str = "google.protobuf.";

/// A message with the contract's own names; what is at its default is left out.
pub(super) struct Shown<'a>(pub(super) &'a DynamicMessage);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.descriptor().full_name().starts_with(WELL_KNOWN) {
            let options = SerializeOptions::new().use_proto_field_name(true);
            return self.0.serialize_with_options(serializer, &options);
        }
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in self.0.fields() {
            map.serialize_entry(field.name(), &ShownValue { value, field: &field })?;
        }
        map.end()
    }
}

struct ShownValue<'a> {
    value: &'a Value,
    field: &'a FieldDescriptor,
}

impl ShownValue<'_> {
    fn name_of(&self, number: i32) -> Option<EnumValueDescriptor> {
        match self.field.kind() {
            Kind::Enum(names) => names.get_value(number),
            _ => None,
        }
    }
}

impl Serialize for ShownValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I32(value) => serializer.serialize_i32(*value),
            Value::U32(value) => serializer.serialize_u32(*value),
            Value::I64(value) => serializer.collect_str(value),
            Value::U64(value) => serializer.collect_str(value),
            Value::F32(value) if value.is_finite() => serializer.serialize_f32(*value),
            Value::F64(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::F32(value) => serializer.serialize_str(not_finite(f64::from(*value))),
            Value::F64(value) => serializer.serialize_str(not_finite(*value)),
            Value::String(value) => serializer.serialize_str(value),
            Value::Bytes(value) => serializer.collect_str(&Base64Display::new(value, &STANDARD)),
            Value::EnumNumber(number) => match self.name_of(*number) {
                Some(known) => serializer.serialize_str(known.name()),
                None => serializer.serialize_i32(*number),
            },
            Value::Message(message) => Shown(message).serialize(serializer),
            Value::List(values) => {
                serializer.collect_seq(values.iter().map(|value| ShownValue { value, field: self.field }))
            }
            Value::Map(entries) => {
                let Kind::Message(entry) = self.field.kind() else {
                    return Err(serde::ser::Error::custom("a map whose field has no entries"));
                };
                let field = entry.map_entry_value_field();
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by_key(|(key, _)| *key);
                serializer.collect_map(
                    sorted
                        .into_iter()
                        .map(|(key, value)| (ShownKey(key), ShownValue { value, field: &field })),
                )
            }
        }
    }
}

struct ShownKey<'a>(&'a MapKey);

impl Serialize for ShownKey<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            MapKey::Bool(key) => serializer.collect_str(key),
            MapKey::I32(key) => serializer.collect_str(key),
            MapKey::I64(key) => serializer.collect_str(key),
            MapKey::U32(key) => serializer.collect_str(key),
            MapKey::U64(key) => serializer.collect_str(key),
            MapKey::String(key) => serializer.serialize_str(key),
        }
    }
}

fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}
