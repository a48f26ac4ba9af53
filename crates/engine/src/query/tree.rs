//! A query as a tree of terms, and the judging of events by it.
//!
//! A query is a tree of at most [`QUERY_TERMS_MAX`] terms. An event's items come one by one, in any order and possibly over several
//! pages of the store: each is held against the terms once, and what a term has seen is one bit. So an event is judged
//! without being kept, and a rejected one never becomes a record.

use std::cmp::Ordering;

use bytes::Bytes;

use super::number::Number;
use crate::{Error, Result};

/// Terms (equals, range, prefix, exists) that a query may have: as many as a word has bits.
pub const QUERY_TERMS_MAX: usize = 64;
/// Trees inside trees.
pub const QUERY_DEPTH_MAX: usize = 8;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchQuery {
    /// All of them match.
    And(Vec<SearchQuery>),
    /// At least one matches.
    Or(Vec<SearchQuery>),
    /// None of them matches.
    Not(Vec<SearchQuery>),
    /// An item with this key has this value.
    Equals {
        /// The item's key.
        key: String,
        /// Its value.
        value: Bytes,
    },
    /// An item with this key has a value between these; as numbers where both sides are numbers, else by their bytes.
    Range {
        /// The item's key.
        key: String,
        /// From here on.
        lower: Option<Limit>,
        /// Up to here.
        upper: Option<Limit>,
    },
    /// An item with this key has a value that begins with this.
    Prefix {
        /// The item's key.
        key: String,
        /// How the value begins.
        value: Bytes,
    },
    /// There is an item with this key.
    Exists {
        /// The item's key.
        key: String,
    },
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Where.
    pub value: Bytes,
    /// Whether that value itself belongs to the range.
    pub inclusive: bool,
}

/// A query made ready for judging events: its terms in a row, its tree over their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    terms: Vec<Term>,
    tree: Node,
    /// More items can only help: no part of the tree is negated.
    monotone: bool,
}

/// What the items of one event have shown so far: a bit per term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(u64);

#[derive(Clone, Debug)]
struct Term {
    bit: u64,
    key: Bytes,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Equals(Bytes),
    Prefix(Bytes),
    Exists,
    Range { lower: Option<Edge>, upper: Option<Edge> },
}

#[derive(Clone, Debug)]
struct Edge {
    value: Bytes,
    number: Option<Number>,
    inclusive: bool,
}

#[derive(Clone, Debug)]
enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Vec<Node>),
    Term(u64),
}

impl Matcher {
    /// Matches every event.
    pub(crate) fn everything() -> Self {
        Self { terms: Vec::new(), tree: Node::And(Vec::new()), monotone: true }
    }

    /// Makes `query` ready. Its limits were checked where it came in; they are checked again here, because a bit per term is all
    /// there is.
    pub(crate) fn new(query: &SearchQuery) -> Result<Self> {
        let mut matcher = Self::everything();
        matcher.tree = matcher.add(query, 1)?;
        Ok(matcher)
    }

    fn add(&mut self, query: &SearchQuery, depth: usize) -> Result<Node> {
        if depth > QUERY_DEPTH_MAX {
            return Err(Error::field(
                "search_query",
                format!("is more than {QUERY_DEPTH_MAX} deep; flatten it"),
            ));
        }
        Ok(match query {
            SearchQuery::And(parts) => Node::And(self.add_all(parts, depth)?),
            SearchQuery::Or(parts) => Node::Or(self.add_all(parts, depth)?),
            SearchQuery::Not(parts) => {
                self.monotone = false;
                Node::Not(self.add_all(parts, depth)?)
            }
            SearchQuery::Equals { key, value } => self.term(key, Test::Equals(value.clone()))?,
            SearchQuery::Prefix { key, value } => self.term(key, Test::Prefix(value.clone()))?,
            SearchQuery::Exists { key } => self.term(key, Test::Exists)?,
            SearchQuery::Range { key, lower, upper } => {
                let edge = |limit: &Limit| Edge {
                    value: limit.value.clone(),
                    number: Number::parse(&limit.value),
                    inclusive: limit.inclusive,
                };
                let test = Test::Range { lower: lower.as_ref().map(edge), upper: upper.as_ref().map(edge) };
                self.term(key, test)?
            }
        })
    }

    fn add_all(&mut self, parts: &[SearchQuery], depth: usize) -> Result<Vec<Node>> {
        parts.iter().map(|part| self.add(part, depth + 1)).collect()
    }

    fn term(&mut self, key: &str, test: Test) -> Result<Node> {
        if self.terms.len() >= QUERY_TERMS_MAX {
            return Err(Error::field(
                "search_query",
                format!("has over {QUERY_TERMS_MAX} terms; ask for fewer"),
            ));
        }
        let bit = 1 << self.terms.len();
        self.terms.push(Term { bit, key: Bytes::copy_from_slice(key.as_bytes()), test });
        Ok(Node::Term(bit))
    }

    /// Holds one item of an event against the terms.
    pub(crate) fn look(&self, key: &[u8], value: &[u8], seen: &mut Seen) {
        for term in &self.terms {
            if seen.0 & term.bit == 0 && term.key == key && term.test.holds(value) {
                seen.0 |= term.bit;
            }
        }
    }

    /// Whether the value of an item with this key matters.
    pub(crate) fn asks_for(&self, key: &[u8]) -> bool {
        self.terms.iter().any(|term| term.key == key)
    }

    /// Whether every event matches.
    pub(crate) fn takes_all(&self) -> bool {
        matches!(&self.tree, Node::And(parts) if parts.is_empty())
    }

    /// Whether an event of which all items were seen matches.
    pub(crate) fn matches(&self, seen: Seen) -> bool {
        self.tree.holds(seen)
    }

    /// Whether an event matches whatever its other items are.
    pub(crate) fn matches_already(&self, seen: Seen) -> bool {
        self.monotone && self.matches(seen)
    }
}

impl Node {
    fn holds(&self, seen: Seen) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(seen)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(seen)),
            Self::Not(parts) => !parts.iter().any(|part| part.holds(seen)),
            Self::Term(bit) => seen.0 & bit != 0,
        }
    }
}

impl Test {
    fn holds(&self, value: &[u8]) -> bool {
        match self {
            Self::Equals(expected) => *expected == value,
            Self::Prefix(start) => value.starts_with(start),
            Self::Exists => true,
            Self::Range { lower, upper } => {
                let number = Number::parse(value);
                let above = lower.as_ref().is_none_or(|edge| edge.admits(value, number, Ordering::Greater));
                above && upper.as_ref().is_none_or(|edge| edge.admits(value, number, Ordering::Less))
            }
        }
    }
}

impl Edge {
    /// Whether a value lies on the `side` of this edge.
    fn admits(&self, value: &[u8], number: Option<Number>, side: Ordering) -> bool {
        let order = match (number, self.number) {
            (Some(value), Some(edge)) => value.compare(edge),
            _ => value.cmp(&self.value),
        };
        order == side || (self.inclusive && order == Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equals(key: &str, value: &str) -> SearchQuery {
        SearchQuery::Equals { key: key.to_owned(), value: value.to_owned().into() }
    }

    fn range(lower: Option<(&str, bool)>, upper: Option<(&str, bool)>) -> SearchQuery {
        let limit = |(value, inclusive): (&str, bool)| Limit { value: value.to_owned().into(), inclusive };
        SearchQuery::Range { key: "n".to_owned(), lower: lower.map(limit), upper: upper.map(limit) }
    }

    /// Whether an event with these items matches.
    fn matches(query: &SearchQuery, items: &[(&str, &str)]) -> bool {
        let matcher = Matcher::new(query).unwrap();
        let mut seen = Seen::default();
        for (key, value) in items {
            matcher.look(key.as_bytes(), value.as_bytes(), &mut seen);
        }
        assert!(!matcher.matches_already(seen) || matcher.matches(seen));
        matcher.matches(seen)
    }

    #[test]
    fn terms_look_at_every_item_of_an_event() {
        let items = [("a", "1"), ("b", "two"), ("n", "15")];
        assert!(matches(&equals("a", "1"), &items));
        assert!(!matches(&equals("a", "2"), &items));
        assert!(!matches(&equals("c", "1"), &items));
        assert!(matches(&SearchQuery::Exists { key: "b".to_owned() }, &items));
        assert!(!matches(&SearchQuery::Exists { key: "c".to_owned() }, &items));
        let prefix = |value: &'static str| SearchQuery::Prefix { key: "b".to_owned(), value: value.into() };
        assert!(matches(&prefix("tw"), &items) && matches(&prefix(""), &items));
        assert!(!matches(&prefix("wo"), &items) && !matches(&prefix("two!"), &items));
    }

    #[test]
    fn a_range_compares_numbers_as_numbers_and_text_as_bytes() {
        let inside = |query: &SearchQuery, value: &str| matches(query, &[("n", value)]);
        let query = range(Some(("9", true)), Some(("100", false)));
        assert!(inside(&query, "9") && inside(&query, "10.5") && inside(&query, "99"));
        assert!(!inside(&query, "100") && !inside(&query, "8.9") && !inside(&query, "-50"));
        // Not a number: held against the bytes of the limits.
        assert!(!inside(&query, "x") && !inside(&query, ""));
        let text = range(Some(("b", false)), None);
        assert!(inside(&text, "ba") && inside(&text, "c") && !inside(&text, "b") && !inside(&text, "7"));
        assert!(inside(&range(None, Some(("b", true))), "7"));
        assert!(inside(&range(None, None), "anything"));
    }

    #[test]
    fn trees_are_what_their_operators_say() {
        let (a, b) = (|| equals("a", "1"), || equals("b", "1"));
        let check = |query: SearchQuery, expect: [bool; 4]| {
            let events: [&[(&str, &str)]; 4] = [&[], &[("a", "1")], &[("b", "1")], &[("a", "1"), ("b", "1")]];
            assert_eq!(events.map(|items| matches(&query, items)), expect, "{query:?}");
        };
        check(SearchQuery::And(vec![a(), b()]), [false, false, false, true]);
        check(SearchQuery::Or(vec![a(), b()]), [false, true, true, true]);
        check(SearchQuery::Not(vec![a(), b()]), [true, false, false, false]);
        check(SearchQuery::And(vec![a(), SearchQuery::Not(vec![b()])]), [false, true, false, false]);
        check(SearchQuery::Not(vec![SearchQuery::Not(vec![a()])]), [false, true, false, true]);
        check(SearchQuery::And(vec![]), [true; 4]);
        check(SearchQuery::Or(vec![]), [false; 4]);
    }

    #[test]
    fn only_a_query_without_a_not_is_decided_early() {
        let decided = |query: &SearchQuery| {
            let matcher = Matcher::new(query).unwrap();
            let mut seen = Seen::default();
            matcher.look(b"a", b"1", &mut seen);
            matcher.matches_already(seen)
        };
        assert!(decided(&equals("a", "1")));
        assert!(!decided(&SearchQuery::And(vec![
            equals("a", "1"),
            SearchQuery::Not(vec![equals("b", "1")])
        ])));
    }

    #[test]
    fn the_limits_are_kept() {
        let wide = |terms| SearchQuery::Or(vec![equals("a", "1"); terms]);
        assert!(Matcher::new(&wide(64)).is_ok());
        assert!(Matcher::new(&wide(65)).unwrap_err().to_string().contains("over 64 terms"));
        let deep = |depth| (1..depth).fold(equals("a", "1"), |query, _| SearchQuery::Not(vec![query]));
        assert!(Matcher::new(&deep(8)).is_ok());
        assert!(Matcher::new(&deep(9)).unwrap_err().to_string().contains("more than 8 deep"));
    }
}
