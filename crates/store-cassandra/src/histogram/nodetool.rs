//! Asking a node with Cassandra's own tool. A process a question, seconds each: for clusters without a better way.

use std::net::IpAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use env::Env;
use model::SizeSummary;
use store::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::percentiles;
use super::sources::within;

/// How long the tool may take: it starts a virtual machine.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How often it is run until it succeeds. Whatever it is asked, it looks at all tables of the node, and fails where one of
/// them is dropped meanwhile.
const ATTEMPTS_MAX: u32 = 4;
/// Bytes of its output; that of one table has two thousand.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;

/// The tool, and how it finds a node.
pub(super) struct Tool<'a> {
    pub(super) program: &'a Path,
    pub(super) jmx_port: u16,
}

/// The sizes of one table on one node; none where the table has no file there.
pub(super) async fn ask(
    env: &Env,
    tool: &Tool<'_>,
    node: IpAddr,
    (keyspace, table): (&str, &str),
) -> Result<Option<SizeSummary>> {
    let both = format!("{keyspace}.{table}");
    let (histograms, stats) = (["tablehistograms", keyspace, table], ["tablestats", &both]);
    // Side by side: most of the time is the start of the tool.
    let (histograms, stats) = tokio::join!(run(env, tool, node, &histograms), run(env, tool, node, &stats));
    let unread = |problem| failed(tool, node, &format_args!("its output is of another release: {problem}"));
    let Some(sizes) = percentiles::sizes(&histograms?).map_err(unread)? else {
        return Ok(None);
    };
    // Files count too late and too little at times, but a size is never one of no partition.
    let partitions = percentiles::partitions(&stats?).map_err(unread)?.max(1);
    Ok(Some(SizeSummary { partitions, ..sizes }))
}

async fn run(env: &Env, tool: &Tool<'_>, node: IpAddr, arguments: &[&str]) -> Result<String> {
    let mut said = String::new();
    for _ in 0..ATTEMPTS_MAX {
        match within(env, ANSWER_WITHIN, output(tool, node, arguments)).await {
            Some(Ok((true, out, _))) => return Ok(String::from_utf8_lossy(&out).into_owned()),
            Some(Ok((false, out, complained))) => {
                let all = if complained.is_empty() { out } else { complained };
                said = String::from_utf8_lossy(&all).trim().chars().take(200).collect();
            }
            Some(Err(error)) => return Err(failed(tool, node, &error)),
            None => {
                let waited = format_args!("no answer within {} s", ANSWER_WITHIN.as_secs());
                return Err(failed(tool, node, &waited));
            }
        }
    }
    Err(failed(tool, node, &said))
}

fn failed(tool: &Tool<'_>, node: IpAddr, problem: &dyn std::fmt::Display) -> Error {
    let message = format!(
        "{} gives no histogram of node {node}, JMX port {} ({problem}); check histograms.nodetool and \
         histograms.jmx_port",
        tool.program.display(),
        tool.jmx_port
    );
    Error::new(ErrorKind::Unavailable, message)
}

/// Whether it went well, and what it wrote to either side.
async fn output(
    tool: &Tool<'_>,
    node: IpAddr,
    arguments: &[&str],
) -> std::io::Result<(bool, Vec<u8>, Vec<u8>)> {
    let mut child = Command::new(tool.program)
        .args(["-h", &node.to_string(), "-p", &tool.jmx_port.to_string()])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Also where nobody waits any more.
        .kill_on_drop(true)
        .spawn()?;
    let (out, said) = tokio::join!(bounded(child.stdout.take()), bounded(child.stderr.take()));
    Ok((child.wait().await?.success(), out?, said?))
}

async fn bounded(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
