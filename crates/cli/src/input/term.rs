//! Terms of a search as people type them: `key=value`, `key!=value`, `key>=10`, `key^=prefix`, `key`, `!key`.

use api::v1;
use api::v1::boolean_query::Operator;
use api::v1::search_query::Query;

/// What may stand between key and value, the longer ones first.
const OPERATORS: [&str; 7] = ["!=", ">=", "<=", "^=", "=", ">", "<"];

/// One term: what it says in the API's own message.
pub(crate) fn parse_term(text: &str) -> Result<v1::SearchQuery, String> {
    let split = OPERATORS
        .iter()
        .filter_map(|operator| text.find(operator).map(|at| (at, *operator)))
        .min_by_key(|(at, operator)| (*at, usize::MAX - operator.len()));
    let Some((at, operator)) = split else {
        return match text.strip_prefix('!') {
            Some(key) => Ok(not(exists(key_of(text, key)?))),
            None => Ok(exists(key_of(text, text)?)),
        };
    };
    let (key, rest) = text.split_at(at);
    let key = key_of(text, key)?;
    let value = rest.strip_prefix(operator).unwrap_or_default().to_owned();
    Ok(match operator {
        "=" => equals(key, value),
        "!=" => not(equals(key, value)),
        "^=" => term(Query::Prefix(v1::PrefixQuery { event_item_key: key, value: value.into() })),
        ">" | ">=" => range(key, Some(bound(value, operator == ">=")), None),
        _ => range(key, None, Some(bound(value, operator == "<="))),
    })
}

/// Joins terms; none where there are none.
pub(crate) fn join(terms: Vec<v1::SearchQuery>, any: bool) -> Option<v1::SearchQuery> {
    let operator = if any { Operator::Or } else { Operator::And };
    match terms.len() {
        0 => None,
        1 => terms.into_iter().next(),
        _ => Some(tree(operator, terms)),
    }
}

fn key_of(text: &str, key: &str) -> Result<String, String> {
    match key {
        "" => Err(format!(
            "`{text}` has no key; write key=value, key!=value, key>=10, key^=prefix, key or !key"
        )),
        key => Ok(key.to_owned()),
    }
}

fn term(query: Query) -> v1::SearchQuery {
    v1::SearchQuery { query: Some(query) }
}

fn tree(operator: Operator, parts: Vec<v1::SearchQuery>) -> v1::SearchQuery {
    term(Query::BooleanQuery(v1::BooleanQuery { operator: operator.into(), search_query: parts }))
}

fn not(query: v1::SearchQuery) -> v1::SearchQuery {
    tree(Operator::Not, vec![query])
}

fn exists(key: String) -> v1::SearchQuery {
    term(Query::Exists(v1::ExistsQuery { event_item_key: key }))
}

fn equals(key: String, value: String) -> v1::SearchQuery {
    term(Query::Equals(v1::EqualsQuery { event_item_key: key, event_item_value: value.into() }))
}

fn bound(value: String, inclusive: bool) -> v1::Bound {
    v1::Bound { value: value.into(), inclusive }
}

fn range(key: String, lower: Option<v1::Bound>, upper: Option<v1::Bound>) -> v1::SearchQuery {
    term(Query::Range(v1::RangeQuery { event_item_key: key, lower_bound: lower, upper_bound: upper }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_mean_what_they_look_like() {
        let text = |value: &str| value.to_owned();
        let check =
            |typed: &str, expect: v1::SearchQuery| assert_eq!(parse_term(typed), Ok(expect), "{typed}");
        check("a=1", equals(text("a"), text("1")));
        check("a=b=c", equals(text("a"), text("b=c")));
        check("a=x>y", equals(text("a"), text("x>y")));
        check("a!=", not(equals(text("a"), text(""))));
        check("a>=10", range(text("a"), Some(bound(text("10"), true)), None));
        check("a>10", range(text("a"), Some(bound(text("10"), false)), None));
        check("a<=10", range(text("a"), None, Some(bound(text("10"), true))));
        check("a<=>", range(text("a"), None, Some(bound(text(">"), true))));
        check("a<1", range(text("a"), None, Some(bound(text("1"), false))));
        let prefix = v1::PrefixQuery { event_item_key: text("a"), value: "pre".into() };
        check("a^=pre", term(Query::Prefix(prefix)));
        check("a", exists(text("a")));
        check("!a", not(exists(text("a"))));
        for wrong in ["", "!", "=1", ">=1"] {
            assert!(parse_term(wrong).unwrap_err().contains("has no key"), "{wrong}");
        }
    }

    #[test]
    fn several_terms_are_joined() {
        let terms = |count| vec![exists("a".to_owned()); count];
        assert_eq!(join(terms(0), false), None);
        assert_eq!(join(terms(1), true), Some(exists("a".to_owned())));
        assert_eq!(join(terms(2), false), Some(tree(Operator::And, terms(2))));
        assert_eq!(join(terms(2), true), Some(tree(Operator::Or, terms(2))));
    }
}
