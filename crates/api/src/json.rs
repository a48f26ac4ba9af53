//! proto3 JSON for every method and message, from the descriptors alone: a new one needs no line here.
//!
//! Input takes lowerCamelCase and snake_case names alike and refuses what it does not know by name. Output has the
//! contract's own snake_case names, 64-bit numbers as strings, bytes as base64 and maps in the order of their keys, and leaves
//! out what is at its default.
//! How bodies travel (paths, statuses, limits on their size) is the server's.

use std::collections::BTreeMap;

use crate::clip::clip;
use engine::{Error, Reason, Result};
use prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, MethodDescriptor,
};

mod show;
use show::Shown;

/// What a message quotes of a body: names in it can be as long as the body.
const QUOTE_CHARS_MAX: usize = 200;

/// Turns JSON into the bytes of requests, and the bytes of answers into JSON; single messages both ways.
#[derive(Clone, Debug)]
pub struct Codec {
    pool: DescriptorPool,
    methods: BTreeMap<String, MethodDescriptor>,
}

/// A method of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method<'a> {
    /// Its full name: `braid.v1.TimeSeriesService.ReadEventRecords`.
    pub full_name: &'a str,
    /// Whether either side is a stream; then JSON does not serve it.
    pub streams: bool,
}

impl Codec {
    /// A codec for the methods in `descriptors`, a `google.protobuf.FileDescriptorSet` with its imports.
    pub fn new(descriptors: &[u8]) -> Result<Self> {
        let pool = DescriptorPool::decode(descriptors).map_err(|error| {
            let message = format!("the descriptors do not decode: {error}; build this program again");
            Error::new(Reason::NotReady, message)
        })?;
        let methods = pool
            .services()
            .flat_map(|service| service.methods().collect::<Vec<_>>())
            .map(|method| (method.full_name().to_owned(), method))
            .collect();
        Ok(Self { pool, methods })
    }

    /// Every method, in the order of the names.
    pub fn methods(&self) -> impl Iterator<Item = Method<'_>> {
        self.methods.iter().map(|(full_name, method)| Method {
            full_name,
            streams: method.is_client_streaming() || method.is_server_streaming(),
        })
    }

    /// The request of `method` (its full name) from JSON, as protobuf bytes.
    pub fn request_from_json(&self, method: &str, json: &[u8]) -> Result<Vec<u8>> {
        let text = Text { whole: "request body", cure: "send the method's request as proto3 JSON" };
        parse(self.method(method)?.input(), json, text)
    }

    /// The answer of `method` (its full name) as JSON, from protobuf bytes.
    pub fn response_to_json(&self, method: &str, protobuf: &[u8]) -> Result<Vec<u8>> {
        show(self.method(method)?.output(), protobuf).map_err(|error| {
            let message =
                format!("the answer of {method} cannot be shown as JSON: {error}; use gRPC and report this");
            Error::new(Reason::ChecksumMismatch, message)
        })
    }

    /// A message by its full name, such as `braid.v1.Event`, from JSON, as protobuf bytes.
    pub fn message_from_json(&self, full_name: &str, json: &[u8]) -> Result<Vec<u8>> {
        let message = self.message(full_name)?;
        let cure = format!("write one {full_name} as proto3 JSON");
        parse(message.clone(), json, Text { whole: message.name(), cure: &cure })
    }

    /// A message by its full name, such as `braid.v1.Event`, as JSON, from protobuf bytes.
    pub fn message_to_json(&self, full_name: &str, protobuf: &[u8]) -> Result<Vec<u8>> {
        show(self.message(full_name)?, protobuf).map_err(|error| {
            let message = format!("these bytes cannot be shown as {full_name}: {error}; report this");
            Error::new(Reason::ChecksumMismatch, message)
        })
    }

    fn method(&self, full_name: &str) -> Result<&MethodDescriptor> {
        self.methods.get(full_name).ok_or_else(|| {
            Error::field("method", format!("`{full_name}` is not known; see the files under proto/"))
        })
    }

    fn message(&self, full_name: &str) -> Result<MessageDescriptor> {
        self.pool.get_message_by_name(full_name).ok_or_else(|| {
            Error::field("message", format!("`{full_name}` is not known; see the files under proto/"))
        })
    }
}

/// What a refusal calls the JSON as a whole, and what it says to do.
#[derive(Clone, Copy)]
struct Text<'a> {
    whole: &'a str,
    cure: &'a str,
}

fn parse(message: MessageDescriptor, json: &[u8], text: Text<'_>) -> Result<Vec<u8>> {
    crate::limits::check_json(json)?;
    let mut source = serde_json::Deserializer::from_slice(json);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut source, &mut track);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let message = DynamicMessage::deserialize_with_options(message, tracked, &options)
        .map_err(|error| wrong_field(&track.path().to_string(), &error, text))?;
    source.end().map_err(|error| wrong_field(".", &error, text))?;
    Ok(message.encode_to_vec())
}

/// Only a bug makes bytes that their own descriptor cannot show.
fn show(
    message: MessageDescriptor,
    protobuf: &[u8],
) -> std::result::Result<Vec<u8>, Box<dyn std::error::Error>> {
    let message = DynamicMessage::decode(message, protobuf)?;
    let mut json = Vec::with_capacity(protobuf.len().saturating_mul(2));
    serde_json::to_writer(&mut json, &Shown(&message))?;
    Ok(json)
}

/// `path` is where the JSON stops making sense, `.` for the whole. What is no JSON at all has no fields.
fn wrong_field(path: &str, error: &serde_json::Error, text: Text<'_>) -> Error {
    let whole = path == "." || !error.is_data();
    let field = if whole { text.whole } else { path };
    let problem = clip(&error.to_string(), QUOTE_CHARS_MAX);
    // Everything else may be written in either spelling, so this one surprises.
    let cure = if problem.starts_with("invalid field mask") {
        "in JSON its paths are written as in shape.secondsPerBucket"
    } else {
        text.cure
    };
    Error::field(&clip(field, QUOTE_CHARS_MAX), format!("{problem}; {cure}"))
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
