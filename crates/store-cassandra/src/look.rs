//! Looking at a cluster: short questions to a session, by whoever joins or examines. Nothing is made or changed here.

use std::collections::BTreeMap;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::serialize::row::SerializeRow;
use scylla::statement::Statement;
use store::Result;

use crate::connect::LAYOUT_PART;
use crate::failure::{self, unreadable};
use crate::names::Names;
use crate::replicas::Replicas;
use crate::rights::{self, Granted, MissingRight};

/// How long one question may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A statement for one question.
pub(crate) fn question(text: impl Into<String>) -> Statement {
    let mut statement = Statement::new(text);
    statement.set_request_timeout(Some(ANSWER_WITHIN));
    statement
}

/// Asks, and takes the answer whole: what is asked for is known to be small.
pub(crate) async fn rows(
    session: &Session,
    what: &str,
    statement: Statement,
    values: impl SerializeRow,
) -> Result<QueryRowsResult> {
    let answer = session.query_unpaged(statement, values).await.map_err(|error| explain(what, error))?;
    answer.into_rows_result().map_err(|error| unreadable(what, error))
}

fn explain(what: &str, error: ExecutionError) -> store::Error {
    // Reading has no effect, however it ends.
    let verdict = failure::judge(&error).min(failure::Verdict::NotDone);
    failure::explain(&format!("tell its {what}"), verdict, error, None)
}

/// The tables of a keyspace; none where there is no such keyspace.
pub(crate) async fn tables(session: &Session, keyspace: &str) -> Result<Vec<String>> {
    let statement = question("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?");
    texts(&rows(session, "tables", statement, (keyspace,)).await?)
}

/// The replicas of a keyspace; none where there is no such keyspace.
pub(crate) async fn replicas(session: &Session, keyspace: &str) -> Result<Option<Replicas>> {
    let statement = question("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?");
    let answer = rows(session, "replicas", statement, (keyspace,)).await?;
    let found = answer.maybe_first_row::<(BTreeMap<String, String>,)>();
    let found = found.map_err(|error| unreadable("replicas of a keyspace", error))?;
    Ok(found.map(|(replication,)| Replicas::told(&replication)))
}

/// The keyspaces of an installation.
pub(crate) async fn keyspaces(session: &Session, names: &Names) -> Result<Vec<String>> {
    let statement = question("SELECT keyspace_name FROM system_schema.keyspaces");
    let mut found = texts(&rows(session, "keyspaces", statement, ()).await?)?;
    found.retain(|keyspace| names.owns(keyspace));
    Ok(found)
}

fn texts(answer: &QueryRowsResult) -> Result<Vec<String>> {
    let rows = answer.rows::<(String,)>().map_err(|error| unreadable("names", error))?;
    rows.map(|row| row.map(|(name,)| name).map_err(|error| unreadable("names", error))).collect()
}

/// In which layout an installation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// There is none yet, or one that nobody has finished.
    NotMade,
    /// This one.
    Version(i32),
    /// The keyspace is somebody else's.
    Foreign,
}

/// The layout of a metadata keyspace that has these tables.
pub(crate) async fn layout(session: &Session, keyspace: &str, tables: &[String]) -> Result<Layout> {
    if !tables.iter().any(|table| table == "layout") {
        return Ok(if tables.is_empty() { Layout::NotMade } else { Layout::Foreign });
    }
    let text = format!("SELECT version FROM \"{keyspace}\".layout WHERE part = '{LAYOUT_PART}'");
    let answer = rows(session, "layout", question(text), ()).await?;
    let found = answer.maybe_first_row::<(i32,)>().map_err(|error| unreadable("layout", error))?;
    Ok(found.map_or(Layout::NotMade, |(version,)| Layout::Version(version)))
}

/// What is known of the rights of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Nobody is asked for rights, or the user may do everything.
    Enough,
    /// The cluster does not tell, and why.
    NotTold(String),
    /// These are missing.
    Missing(Vec<MissingRight>),
}

/// What `user` needs in the keyspaces of an installation, and does not have.
pub(crate) async fn rights(session: &Session, names: &Names, user: Option<&str>) -> Result<Rights> {
    // Where nobody logs in, nobody has rights.
    let Some(user) = user else { return Ok(Rights::Enough) };
    let role = rights::role(user);
    let roles = match list(session, format!("LIST ROLES OF {role}")).await? {
        Ok(answer) => answer,
        Err(words) => return Ok(Rights::NotTold(words)),
    };
    if let Some(roles) = roles
        && is_superuser(&roles)?
    {
        return Ok(Rights::Enough);
    }
    let granted = match list(session, format!("LIST ALL PERMISSIONS OF {role}")).await? {
        Ok(Some(answer)) => granted(&answer)?,
        Ok(None) => Vec::new(),
        Err(words) if words.contains("AllowAllAuthorizer") => return Ok(Rights::Enough),
        Err(words) => return Ok(Rights::NotTold(words)),
    };
    Ok(match rights::missing(user, &granted, &keyspaces(session, names).await?) {
        missing if missing.is_empty() => Rights::Enough,
        missing => Rights::Missing(missing),
    })
}

/// A list of roles or rights: rows, nothing where it is empty, or Cassandra's words where it does not tell.
async fn list(
    session: &Session,
    text: String,
) -> Result<std::result::Result<Option<QueryRowsResult>, String>> {
    match session.query_unpaged(question(text), ()).await {
        Ok(answer) => Ok(Ok(if QueryResult::is_rows(&answer) {
            Some(answer.into_rows_result().map_err(|error| unreadable("rights", error))?)
        } else {
            None
        })),
        Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(
            DbError::Unauthorized | DbError::Invalid | DbError::SyntaxError | DbError::ServerError,
            words,
        ))) => Ok(Err(words)),
        Err(error) => Err(explain("rights", error)),
    }
}

/// Whether a role, or one that it has, is of a superuser.
fn is_superuser(roles: &QueryRowsResult) -> Result<bool> {
    let at = roles.column_specs().iter().position(|column| column.name() == "super");
    let rows = roles.rows::<scylla::value::Row>().map_err(|error| unreadable("roles", error))?;
    for row in rows {
        let row = row.map_err(|error| unreadable("roles", error))?;
        let found = at.and_then(|at| row.columns.into_iter().nth(at).flatten());
        if found.and_then(|value| value.as_boolean()) == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn granted(answer: &QueryRowsResult) -> Result<Vec<Granted>> {
    let rows = answer.rows::<(&str, &str, String, String)>().map_err(|error| unreadable("rights", error))?;
    rows.map(|row| {
        let (_, _, resource, permission) = row.map_err(|error| unreadable("rights", error))?;
        Ok(Granted { resource, permission })
    })
    .collect()
}
