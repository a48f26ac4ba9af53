//! What was typed, and what it means. Pure.

use crate::question::{ALL, Question};

/// What `--help` says.
pub(crate) const HELP: &str = "\
Measures Braid against what it is built on, and holds the figures against goals.

usage: cargo run --release -p bench -- [option...] [question...]

Without a question, all of them run. `--list` names them. Questions about the server run the binary that lies beside this
one; `make bench` builds it first. Those about Cassandra need a node on this machine and are skipped without one;
`make bench-cassandra` starts it.

  --list    list the questions
  --json    after each report, the same as one JSON object on one line (find it with: grep '^{')
  --help    this text

environment:
  QUICK=1   fewer rounds on less data: minutes become seconds; to find mistakes, not to quote
  BENCH_CASSANDRA_IP, BENCH_CASSANDRA_DIR   another node than the one at 127.0.0.1: its --ip and --dir of dev/cassandra
  BENCH_TRIO_IP   where the first of the three nodes that cassandra-hot starts is to listen (127.0.0.61)

Every question runs its sides interleaved, several rounds, in alternating order. A ratio is the median of the rounds'
ratios. CPU time and memory are those of the whole process, where a server is measured the server's; memory is the peak
of RssAnon beyond the start of the run, and the largest round counts. Quote a figure only with its spread and the load average, from a machine that did
nothing else.

exit status: 0 all goals reached, 1 a goal MISSED (the figures are printed all the same), 2 nothing was measured
";

/// What to do.
pub(crate) enum Command {
    /// Say how this works.
    Help,
    /// Name the questions.
    List,
    /// Measure.
    Run { questions: Vec<&'static Question>, json: bool },
}

/// Reads the arguments; the error says what to type instead.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let (mut questions, mut json) = (Vec::new(), false);
    for argument in arguments {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--list" => return Ok(Command::List),
            "--json" => json = true,
            name => questions.push(find(name)?),
        }
    }
    if questions.is_empty() {
        questions = ALL.iter().collect();
    }
    Ok(Command::Run { questions, json })
}

fn find(name: &str) -> Result<&'static Question, String> {
    ALL.iter().find(|question| question.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|question| question.name).collect();
        format!("`{name}` is neither a question nor an option; questions: {}; try --help", names.join(", "))
    })
}

/// One line a question.
pub(crate) fn list() -> String {
    let width = ALL.iter().map(|question| question.name.len()).max().unwrap_or(0);
    ALL.iter().map(|question| format!("{:<width$}  {}\n", question.name, question.asks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expect: &str) {
        let means = match parse(arguments.iter().map(|argument| (*argument).to_owned())) {
            Ok(Command::Help) => "help".to_owned(),
            Ok(Command::List) => "list".to_owned(),
            Ok(Command::Run { questions, json }) => {
                let names: Vec<&str> = questions.iter().map(|question| question.name).collect();
                format!("run {} json={json}", names.join(" "))
            }
            Err(problem) => problem,
        };
        assert_eq!(means, expect);
    }

    #[test]
    fn arguments_mean_what_help_says() {
        check(
            &[],
            "run ingest scan grpc-ingest first-page drain search count fairness partial split split-fairness filter \
             route-cost shadow split-read published packed-chunk packed-embedded checks metadata-load plan cassandra-write \
             cassandra-drain cassandra-read cassandra-wide cassandra-split cassandra-split-read cassandra-packed \
             cassandra-packed-large cassandra-packed-others cassandra-hot start json=false",
        );
        check(&["scan", "--json"], "run scan json=true");
        check(&["scan", "ingest"], "run scan ingest json=false");
        check(&["--list"], "list");
        check(&["scan", "--help"], "help");
        check(
            &["scam"],
            "`scam` is neither a question nor an option; questions: ingest, scan, grpc-ingest, first-page, drain, \
             search, count, fairness, partial, split, split-fairness, filter, route-cost, shadow, split-read, published, \
             packed-chunk, packed-embedded, checks, metadata-load, plan, cassandra-write, cassandra-drain, cassandra-read, \
             cassandra-wide, cassandra-split, cassandra-split-read, cassandra-packed, cassandra-packed-large, \
             cassandra-packed-others, cassandra-hot, start; try --help",
        );
    }

    #[test]
    fn the_list_has_one_line_a_question() {
        let expect = "\
ingest                   durable ingest through the embedded store, against group commit on fjall by hand
scan                     reading a wide partition through the embedded store, against fjall's iterator
grpc-ingest              durable ingest through gRPC, against the embedded store called directly
first-page               the first page of a small partition through gRPC, against the store's scan of the same rows
drain                    reading a wide partition through gRPC, by pages and as a stream, against the store's scan
search                   a search that 1 of 10,000 events of a wide partition matches, against reading it by pages
count                    counting a wide partition through gRPC, against the store's scan
fairness                 the first page of a small partition while a wide one is drained, against the same when nothing else runs
partial                  partial answers of 16 wide reads at the same time, against the time limit that they were asked with
split                    splitting a wide partition of the embedded store, against reading it and writing it back
split-fairness           the first page of a small partition while a wide one is split, against the same when nothing else runs
filter                   a look into the filter of a slice with many splits, against reads that need none
route-cost               small reads of what is not split with reads on, against the same with reads off
shadow                   pages of a split series in mode shadow, against the same in mode off
split-read               reads of a wide partition of the embedded store from the targets of its split, against its origin
published                8 readers of a split partition of 500 MB by pages of 1,000 through gRPC, against its origin
packed-chunk             packing rows into chunks and unpacking them, by codec and kind of event, against copying the rows
packed-embedded          reads of a wide partition of the embedded store from packed targets, against targets of rows and its origin
checks                   what the checks of lease, closed time and window cost: every check done twice, against once
metadata-load            reads and writes of the metadata by 1,000 servers with 5,000 namespaces, idle and with a change a second
plan                     a plan for a namespace from 128 worlds, from the most that can be asked for, and from one
cassandra-write          ingest over Cassandra through gRPC, against the driver that sends the same batches
cassandra-drain          reading a series over Cassandra through gRPC, by pages and as a stream, against the driver
cassandra-read           ten events of one partition over Cassandra through gRPC, against the driver's select
cassandra-wide           a partition of 500 MB over Cassandra by pages of 1,000 events: memory, the slowest page and store call
cassandra-split          splitting a wide partition of Cassandra, against reading it and writing it back
cassandra-split-read     reads of wide partitions of Cassandra from the targets of their splits, against their origins
cassandra-packed         reads of wide partitions of Cassandra from packed targets, against the driver on the partition and targets of rows
cassandra-packed-large   the same with events of 1.1 KB
cassandra-packed-others  the same with events that gain little, of 4 KB and of random bytes, of which nothing is wanted
cassandra-hot            pages of a wide partition on one hot node of three, at more than it can give, from packed targets, against the partition
start                    braid serve until it is ready on an empty directory, braid --version, and the size of the binary
";
        assert_eq!(list(), expect);
    }
}
