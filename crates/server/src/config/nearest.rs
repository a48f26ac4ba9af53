//! What an unknown name may have meant. Pure text: the table of keys in, advice out.

use super::keys::{KEYS, Key, keys_of, sections};

/// Longer names are nobody's slip, and comparing takes time with the square of the length.
const COMPARED_CHARS: usize = 64;
/// A beginning of a name that has fewer characters says nothing.
const BEGINNING_CHARS: usize = 3;

/// What to say about a key that does not exist.
pub(super) enum Advice {
    /// This one was meant.
    Meant(&'static Key),
    /// Nothing is near; these are the keys of the section.
    Keys(Vec<&'static Key>),
    /// The section does not exist either, or there is none.
    Sections,
}

/// Advice about `leaf` in `section`, which is no key.
pub(super) fn advise(section: &str, leaf: &str) -> Advice {
    let whole = if section.is_empty() { leaf.to_owned() } else { format!("{section}.{leaf}") };
    let known = if keys_of(section).next().is_some() { Some(section) } else { near_section(section) };
    let meant = separated(&whole)
        .or_else(|| near(leaf, keys_of(known?), Key::leaf))
        .or_else(|| KEYS.iter().find(|key| key.leaf() == leaf));
    match (meant, known) {
        (Some(key), _) => Advice::Meant(key),
        (None, Some(known)) => Advice::Keys(keys_of(known).collect()),
        (None, None) => Advice::Sections,
    }
}

/// The section whose name is near to `section`.
pub(super) fn near_section(section: &str) -> Option<&'static str> {
    near(section, sections().into_iter(), |section| section)
}

/// The key that has this name but for what stands between its parts: `BRAID__STORE_DATA`, `store_data`.
fn separated(whole: &str) -> Option<&'static Key> {
    let whole = whole.to_ascii_lowercase().replace('.', "_");
    KEYS.iter().find(|key| key.name.replace('.', "_") == whole)
}

/// The first of the nearest `items`: one that begins with `given`, or has it but for a third of its characters.
fn near<T: Copy>(given: &str, items: impl Iterator<Item = T>, name: fn(T) -> &'static str) -> Option<T> {
    let given = given.to_ascii_lowercase();
    let length = given.chars().count();
    if length > COMPARED_CHARS {
        return None;
    }
    let distance = |item: T| {
        let name = name(item);
        let begins = length >= BEGINNING_CHARS && name.starts_with(&given);
        let edits = if begins { 1 } else { strsim::damerau_levenshtein(&given, name) };
        (edits * 3 <= length.max(name.len())).then_some((edits, item))
    };
    items.filter_map(distance).min_by_key(|(edits, _)| *edits).map(|(_, item)| item)
}
