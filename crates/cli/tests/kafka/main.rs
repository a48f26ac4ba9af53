//! `braid` with a real Kafka broker between reads and workers, as a user meets it: the demo over it, what `workers` and `doctor` say,
//! and a broker that goes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use env::Env;
use own_cluster::{OwnBroker, OwnServer};

/// Not used by any other suite, nor the one behind it.
const PORT: u16 = 19_492;
const BRAID: &str = env!("CARGO_BIN_EXE_braid");

/// The command with nothing of this environment but where the broker is.
fn braid(broker: &OwnBroker, arguments: &[&str]) -> Command {
    let mut command = Command::new(BRAID);
    command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(settings(broker));
    command
}

fn settings(broker: &OwnBroker) -> [(&'static str, String); 2] {
    [
        ("BRAID__QUEUE__BACKEND", "kafka".to_owned()),
        ("BRAID__QUEUE__KAFKA__BOOTSTRAP_SERVERS", broker.address()),
    ]
}

fn ended(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kafka_carries_what_reads_find_and_its_loss_is_told() {
    let env = Env::system();
    let broker = OwnBroker::new(&env, "braid", PORT).await;
    broker.start(&[]).await;
    the_demo_runs_over_it(&broker).await;
    workers_and_doctor_know_it(&broker).await;
}

async fn the_demo_runs_over_it(broker: &OwnBroker) {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = braid(broker, &["demo", "--scale", "s", "--json", "--queue", "kafka"]);
    let (code, out, said) = ended(command.current_dir(scratch.path()).output().unwrap());
    assert_eq!(code, 0, "{said}");
    let facts: serde_json::Value = serde_json::from_str(&out).unwrap();
    let fact = |path: &str| facts.pointer(path).unwrap();
    let queue = fact("/queue").as_str().unwrap();
    assert!(queue.starts_with(&format!("Kafka at {}, topic braid-demo-", broker.address())), "{queue}");
    assert_eq!((fact("/splits/wide_after"), fact("/check/wrong")), (&0.into(), &0.into()));
    // Kafka's own for offsets stays, which shows that workers took them from there.
    while broker.topics().await != 1 {}
}

async fn workers_and_doctor_know_it(broker: &OwnBroker) {
    let scratch = tempfile::tempdir().unwrap();
    let server = OwnServer::start(BRAID, scratch.path(), &settings(broker));
    let run = |arguments: &[&str]| {
        let mut command = braid(broker, arguments);
        ended(command.current_dir(scratch.path()).env("BRAID_SERVER", server.address()).output().unwrap())
    };
    let topic = "detections: by kafka topic braid.wide-partition-detections, group braid-split-workers; ";
    let said = |wanted: &str| {
        let (code, out, said) = run(&["workers"]);
        assert_eq!(code, 0, "{said}");
        assert!(out.contains("api,split_worker,slice_keeper"), "{out}");
        said.contains(&format!("{topic}{wanted}"))
    };
    // Asked every few seconds.
    while !said("0 wait, 0 dead letters\n") {}
    assert!(run(&["doctor"]).1.contains("ok    Kafka answers; 0 detections wait, no dead letters"));

    broker.order("kill").await;
    while !said("not known how many wait: Kafka at 127.0.0.1:") {}
    let (code, out, _) = run(&["doctor"]);
    assert!(code == 8 && out.contains("FAIL  cannot use Kafka: Kafka at 127.0.0.1:"), "{code}: {out}");
    assert_eq!(run(&["ns", "create", "plays"]).0, 0);
    assert_eq!(run(&["put", "-n", "plays", "--id", "a", "k=v"]).0, 0);
    assert!(run(&["get", "-n", "plays", "a"]).1.contains("k=v"), "reads and writes go on");
}
