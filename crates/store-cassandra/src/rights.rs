//! What a user of the cluster has to be allowed, what is missing of it, and the statement that grants it. Pure.
//!
//! Whoever makes a keyspace may do everything in it, so the right to make keyspaces is enough. Only where another user
//! made those of this installation more has to be granted.

/// The resource above all keyspaces, as Cassandra writes it.
const ALL_KEYSPACES: &str = "<all keyspaces>";
/// What a server does in a keyspace that is there.
const IN_A_KEYSPACE: [&str; 4] = ["SELECT", "MODIFY", "CREATE", "DROP"];

/// A right that a user has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Granted {
    /// As Cassandra writes it: `<all keyspaces>`, `<keyspace x>`, `<table x.y>`.
    pub(crate) resource: String,
    pub(crate) permission: String,
}

/// A right that a server needs and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingRight {
    /// In words: `CREATE on all keyspaces`.
    pub what: String,
    /// The statement that grants it.
    pub grant: String,
}

/// What `user` needs and does not have, with these keyspaces there already.
pub(crate) fn missing(user: &str, granted: &[Granted], keyspaces: &[String]) -> Vec<MissingRight> {
    let has = |resource: &str, permission: &str| {
        let reaches = |found: &Granted| found.resource == resource || found.resource == ALL_KEYSPACES;
        granted.iter().any(|found| found.permission == permission && reaches(found))
    };
    let mut missing = Vec::new();
    if !has(ALL_KEYSPACES, "CREATE") {
        missing.push(right(user, "CREATE", ALL_KEYSPACES));
    }
    for keyspace in keyspaces {
        let resource = format!("<keyspace {keyspace}>");
        let not_had = IN_A_KEYSPACE.into_iter().filter(|permission| !has(&resource, permission));
        missing.extend(not_had.map(|permission| right(user, permission, &resource)));
    }
    missing
}

/// The statement that grants what Cassandra says is missing. A right on a table is asked for its whole keyspace.
pub(crate) fn statement_for(words: &str, user: &str) -> String {
    let told = words.split_once(" has no ").and_then(|(_, rest)| rest.split_once(" permission on "));
    let told = told.and_then(|(permission, rest)| {
        let (resource, _) = rest.split_once('>')?;
        let resource = match resource.strip_prefix("<table ").and_then(|table| table.split_once('.')) {
            Some((keyspace, _)) => format!("<keyspace {keyspace}>"),
            None => format!("{resource}>"),
        };
        Some(grant(permission, &resource, user))
    });
    told.unwrap_or_else(|| grant("CREATE", ALL_KEYSPACES, user))
}

fn right(user: &str, permission: &str, resource: &str) -> MissingRight {
    let what = format!("{permission} on {}", bare(resource));
    MissingRight { what, grant: grant(permission, resource, user) }
}

/// The statement that grants a right on a resource as Cassandra writes it.
pub(crate) fn grant(permission: &str, resource: &str, user: &str) -> String {
    let place = bare(resource);
    let target = match place.strip_prefix("keyspace ") {
        Some(keyspace) => format!("KEYSPACE {keyspace}"),
        None => place.to_uppercase(),
    };
    format!("GRANT {permission} ON {target} TO {}", role(user))
}

fn bare(resource: &str) -> &str {
    resource.trim_start_matches('<').trim_end_matches('>')
}

/// A role as a statement names it: in quotes unless it is a plain word.
pub(crate) fn role(name: &str) -> String {
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(granted: &[(&str, &str)], keyspaces: &[&str], expect: &[&str]) {
        let granted = granted.iter().map(|(permission, resource)| Granted {
            resource: (*resource).to_owned(),
            permission: (*permission).to_owned(),
        });
        let keyspaces: Vec<String> = keyspaces.iter().map(|keyspace| (*keyspace).to_owned()).collect();
        let found = missing("braid", &granted.collect::<Vec<_>>(), &keyspaces);
        assert_eq!(found.iter().map(|right| right.grant.as_str()).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn what_is_missing_comes_with_the_statement_that_grants_it() {
        check(&[], &[], &["GRANT CREATE ON ALL KEYSPACES TO braid"]);
        check(&[("CREATE", "<all keyspaces>")], &[], &[]);
        check(&[("CREATE", "<keyspace braid_meta>")], &[], &["GRANT CREATE ON ALL KEYSPACES TO braid"]);
        // Keyspaces that another user made.
        check(
            &[("CREATE", "<all keyspaces>"), ("SELECT", "<keyspace b_meta>"), ("MODIFY", "<all keyspaces>")],
            &["b_meta", "b_x_1"],
            &[
                "GRANT DROP ON KEYSPACE b_meta TO braid",
                "GRANT SELECT ON KEYSPACE b_x_1 TO braid",
                "GRANT DROP ON KEYSPACE b_x_1 TO braid",
            ],
        );
        assert_eq!(missing("braid", &[], &[])[0].what, "CREATE on all keyspaces");
    }

    #[test]
    fn cassandras_words_become_a_statement() {
        for (words, user, expect) in [
            (
                "User poor has no CREATE permission on <all keyspaces> or any of its parents",
                "poor",
                "GRANT CREATE ON ALL KEYSPACES TO poor",
            ),
            (
                "User p has no MODIFY permission on <table b_meta.layout> or any of its parents",
                "Poor \"p\"",
                "GRANT MODIFY ON KEYSPACE b_meta TO \"Poor \"\"p\"\"\"",
            ),
            ("You have not logged in", "p", "GRANT CREATE ON ALL KEYSPACES TO p"),
        ] {
            assert_eq!(statement_for(words, user), expect);
        }
    }
}
