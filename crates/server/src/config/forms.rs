//! How the names and lists of a cluster are read and shown: nodes, replicas by data centre, texts of a certain form.
//! Knows no key and no layer.

use std::collections::BTreeMap;

use super::value::{Value, digits, quoted};

/// Nodes to begin with; the others are learnt from them.
const NODES_MAX: usize = 64;
/// Data centres of one cluster.
const DATACENTERS_MAX: usize = 32;
/// More copies than anybody keeps of an event in one data centre.
const REPLICAS_MAX: u64 = 15;
/// Longest name of a host, a data centre or a user.
const NAME_CHARS_MAX: usize = 255;
/// Longest prefix of a keyspace: the name of the longest namespace has to fit behind it.
const PREFIX_CHARS_MAX: usize = 10;

/// Kafka takes 249; the name of the topic with dead letters is longer.
const TOPIC_CHARS_MAX: usize = 200;
/// Properties of a client, and how long a value may be: a certificate fits.
const PROPERTIES_MAX: usize = 100;
const PROPERTY_BYTES_MAX: usize = 16 << 10;

/// What a text has to look like.
pub(super) struct Form {
    /// In words, after "give".
    pub(super) allowed: &'static str,
    pub(super) legal: fn(&str) -> bool,
}

/// A data centre as the cluster names it, or none.
pub(super) const DATACENTER: Form = Form {
    allowed: r#"the name of a data centre, or "" for the only one there is"#,
    legal: |text| text.is_empty() || datacenter(text),
};

/// What keyspaces begin with.
pub(super) const PREFIX: Form = Form {
    allowed: "1 to 10 of a-z and 0-9 that start with a letter",
    legal: |text| {
        // Without underscores no two prefixes can mean the same keyspace.
        let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(legal)
            && text.len() <= PREFIX_CHARS_MAX
    },
};

/// A user, or none.
pub(super) const USER: Form = Form {
    allowed: r#"the name of a user, or "" where the cluster does not ask"#,
    legal: |text| text.chars().count() <= NAME_CHARS_MAX && !text.contains(char::is_control),
};

/// A topic of Kafka, with room for the name of its dead letters.
pub(super) const TOPIC: Form = Form {
    allowed: "1 to 200 of a-z, A-Z, 0-9, dot, underscore and hyphen",
    legal: |text| {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        (1..=TOPIC_CHARS_MAX).contains(&text.len())
            && text.bytes().all(legal)
            && text.bytes().any(|byte| byte != b'.')
    },
};

/// A consumer group of Kafka.
pub(super) const GROUP: Form = Form {
    allowed: "the name of a group of 1 to 255 characters",
    legal: |text| (1..=NAME_CHARS_MAX).contains(&text.chars().count()) && !text.contains(char::is_control),
};

pub(super) const NODES_ALLOWED: &str = "a list of nodes as host:port";
pub(super) const REPLICAS_ALLOWED: &str = "a table of data centres with 1 to 15 replicas each";

/// Nodes: a list in the file, separated by commas in a variable.
pub(super) fn nodes(value: &Value) -> Option<Vec<String>> {
    let nodes: Vec<String> = match value {
        Value::List(_, texts) => texts.clone()?,
        Value::Word(word) => word.split(',').map(|node| node.trim().to_owned()).collect(),
        _ => return None,
    };
    let legal = (1..=NODES_MAX).contains(&nodes.len()) && nodes.iter().all(|text| node(text));
    legal.then_some(nodes)
}

fn node(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let port = digits(port).and_then(|port| u16::try_from(port).ok());
    let bare = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inside) => return port > Some(0) && inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host,
    };
    port > Some(0) && datacenter(bare)
}

/// The same signs make the name of a host.
fn datacenter(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=NAME_CHARS_MAX).contains(&text.len()) && text.bytes().all(legal)
}

pub(super) const PROPERTIES_ALLOWED: &str = "a table of properties with a text, number or switch each";

/// Properties: a table in the file, `a.b=c,d=e` in a variable. A name may be written without quotes in the file, where its dots
/// make tables of it.
pub(super) fn properties(value: &Value) -> Option<BTreeMap<String, String>> {
    let mut found = Vec::new();
    match value {
        Value::Table(entries) => flatten("", entries, &mut found)?,
        Value::Word(word) if word.trim().is_empty() => {}
        Value::Word(word) => {
            for entry in word.split(',') {
                let (name, value) = entry.split_once('=')?;
                found.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        _ => return None,
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let is_legal = |(name, value): &(String, String)| {
        (1..=NAME_CHARS_MAX).contains(&name.len())
            && name.bytes().all(legal)
            && value.len() <= PROPERTY_BYTES_MAX
    };
    let (count, all_legal) = (found.len(), found.iter().all(is_legal));
    let found: BTreeMap<String, String> = found.into_iter().collect();
    (all_legal && found.len() == count && count <= PROPERTIES_MAX).then_some(found)
}

/// The tables inside of a file are as deep as its parser allows.
fn flatten(prefix: &str, entries: &[(String, Value)], found: &mut Vec<(String, String)>) -> Option<()> {
    for (name, value) in entries {
        let whole = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => flatten(&whole, inner, found)?,
            Value::Text(text) => found.push((whole, text.clone())),
            Value::Integer(_, Some(number)) => found.push((whole, number.to_string())),
            Value::Switch(on) => found.push((whole, on.to_string())),
            _ => return None,
        }
    }
    Some(())
}

/// Properties as TOML writes them, without what nobody should see.
pub(super) fn properties_text(properties: &BTreeMap<String, String>) -> String {
    let entry = |(name, value): (&String, &String)| {
        let shown = if is_secret(name) { "***" } else { value };
        format!("{} = {}", quoted(name), quoted(shown))
    };
    format!("{{{}}}", properties.iter().map(entry).collect::<Vec<_>>().join(", "))
}

/// Whether a property is a password, a key or the like.
fn is_secret(name: &str) -> bool {
    ["password", "secret", "key.pem", "jaas"].iter().any(|part| name.contains(part))
}

/// Replicas: a table in the file, `dc1=3,dc2=2` in a variable.
pub(super) fn replicas(value: &Value) -> Option<BTreeMap<String, usize>> {
    let pairs: Vec<(String, Option<u64>)> = match value {
        Value::Table(entries) => entries.iter().map(|(name, value)| (name.clone(), value.number())).collect(),
        Value::Word(word) if word.trim().is_empty() => Vec::new(),
        Value::Word(word) => word.split(',').map(pair).collect::<Option<_>>()?,
        _ => return None,
    };
    let count = pairs.len();
    let each = |(name, replicas): (String, Option<u64>)| {
        let replicas = replicas.filter(|replicas| (1..=REPLICAS_MAX).contains(replicas))?;
        let replicas = usize::try_from(replicas).ok()?;
        datacenter(&name).then_some((name, replicas))
    };
    let found: BTreeMap<String, usize> = pairs.into_iter().map(each).collect::<Option<_>>()?;
    // One that was named twice has two numbers, and nobody knows which was meant.
    (found.len() == count && count <= DATACENTERS_MAX).then_some(found)
}

fn pair(text: &str) -> Option<(String, Option<u64>)> {
    let (name, replicas) = text.split_once('=')?;
    Some((name.trim().to_owned(), digits(replicas.trim())))
}

/// Nodes as TOML writes them.
pub(super) fn nodes_text(nodes: &[String]) -> String {
    let nodes: Vec<String> = nodes.iter().map(|node| quoted(node)).collect();
    format!("[{}]", nodes.join(", "))
}

/// Replicas as TOML writes them.
pub(super) fn replicas_text(replicas: &BTreeMap<String, usize>) -> String {
    let entries: Vec<String> =
        replicas.iter().map(|(name, count)| format!("{} = {count}", key_text(name))).collect();
    format!("{{{}}}", entries.join(", "))
}

/// A key as TOML writes it: in quotes only where it has to be.
pub(super) fn key_text(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !name.is_empty() && name.bytes().all(bare) { name.to_owned() } else { quoted(name) }
}
