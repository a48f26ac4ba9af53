//! Machines that stop: what of them goes on, and what never does again.

use std::sync::atomic::{AtomicU64, Ordering};

use env::{JoinError, blocking};

use super::*;
use crate::world::Failure;

const SECOND: Duration = Duration::from_secs(1);

fn run<T, F: Future<Output = T>>(scenario: impl FnOnce(World) -> F) -> T {
    World::run(7, scenario).unwrap()
}

/// A task that counts seconds for ever.
fn count(env: &Env) -> Arc<AtomicU64> {
    let counted = Arc::new(AtomicU64::new(0));
    let (clock, count) = (Arc::clone(&env.clock), Arc::clone(&counted));
    let task = async move {
        loop {
            clock.sleep(SECOND).await;
            count.fetch_add(1, Ordering::Relaxed);
        }
    };
    env.spawn.task("counter", Box::pin(task));
    counted
}

/// Says when it is dropped.
struct Dropped(Arc<AtomicU64>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_crash_drops_every_task_where_it_stands() {
    run(|world| async move {
        let machine = world.machine("a", Hardware::default());
        let (env, drops) = (machine.env(), Arc::new(AtomicU64::new(0)));
        let counted = count(&env);
        let held = Dropped(Arc::clone(&drops));
        let waiting = async move {
            let _held = held;
            std::future::pending::<()>().await;
        };
        env.spawn.task("waiting", Box::pin(waiting));
        world.clock().sleep(3 * SECOND + SECOND / 2).await;
        assert_eq!((counted.load(Ordering::Relaxed), machine.tasks()), (3, vec!["counter", "waiting"]));

        machine.crash();
        assert_eq!((drops.load(Ordering::Relaxed), machine.tasks().len()), (1, 0));
        env.spawn.task("after the crash", Box::pin(async { panic!("runs") }));
        world.clock().sleep(10 * SECOND).await;
        assert_eq!(counted.load(Ordering::Relaxed), 3);
        assert!(!machine.is_running());
    });
}

#[test]
fn a_call_ends_in_an_error_when_its_machine_crashes() {
    run(|world| async move {
        let machine = world.machine("a", Hardware::default());
        assert_eq!(machine.call(async { 5 }).await, Ok(5));
        let call = machine.call(std::future::pending::<()>());
        let crash = async {
            world.clock().sleep(SECOND).await;
            machine.crash();
        };
        let (answer, ()) = tokio::join!(biased; call, crash);
        assert_eq!(answer.unwrap_err().to_string().split(' ').next(), Some("a"));
        assert!(machine.call(async { 5 }).await.is_err());
        machine.restart();
        assert_eq!(machine.call(async { 6 }).await, Ok(6));
    });
}

#[test]
fn a_machine_may_crash_itself() {
    run(|world| async move {
        let machine = world.machine("a", Hardware::default());
        let (own, clock) = (machine.clone(), machine.env().clock);
        let call = async move {
            own.crash();
            clock.sleep(SECOND).await;
        };
        assert!(machine.call(call).await.is_err());
        assert_eq!(world.now(), Duration::ZERO);
    });
}

#[test]
fn a_machine_crashes_at_any_await() {
    for awaits in 0..6 {
        run(|world| async move {
            let machine = world.machine("a", Hardware::default());
            let (counted, later) = (count(&machine.env()), machine.clone());
            machine.crash_after(awaits);
            machine.stopped().await;
            machine.stopped().await;
            // The first time that it goes on is its start.
            assert_eq!(counted.load(Ordering::Relaxed), awaits.saturating_sub(1));
            assert_eq!((later.is_running(), later.tasks().len()), (false, 0));
            later.restart();
            assert_eq!(later.call(async { 5 }).await, Ok(5));
        });
    }
}

#[test]
fn a_pause_stops_tasks_and_not_clocks() {
    run(|world| async move {
        let machine = world.machine("a", Hardware::default());
        let env = machine.env();
        let counted = count(&env);
        world.clock().sleep(SECOND / 2).await;
        machine.pause(10 * SECOND);
        machine.pause(2 * SECOND);
        let (call, started) = (machine.call(async { 5 }), env.clock.boot());
        world.clock().sleep(9 * SECOND).await;
        assert!(machine.is_paused());
        assert_eq!(counted.load(Ordering::Relaxed), 0);
        assert_eq!(call.await, Ok(5));
        assert_eq!((world.now(), env.clock.boot().since(started)), (10 * SECOND + SECOND / 2, 10 * SECOND));
        // The sleep of the counter ended long ago, and it noticed only now.
        assert_eq!(counted.load(Ordering::Relaxed), 1);
        world.clock().sleep(2 * SECOND + SECOND / 4).await;
        assert_eq!(counted.load(Ordering::Relaxed), 3);

        machine.pause(100 * SECOND);
        machine.resume();
        world.clock().sleep(2 * SECOND).await;
        assert_eq!(counted.load(Ordering::Relaxed), 5);
    });
}

#[test]
fn a_new_life_has_a_new_boot_clock_and_other_numbers() {
    run(|world| async move {
        let machine = world.machine("a", Hardware { wall_error: 5_000, rate_ppm: 0 });
        let old = machine.env();
        world.clock().sleep(10 * SECOND).await;
        let (before, number) = (old.clock.boot(), old.random.next_u64());
        assert_ne!(machine.env().random.next_u64(), number, "one life has one stream of numbers");
        machine.restart();
        let new = machine.env();
        assert!(new.clock.boot() < before);
        assert_eq!(new.clock.wall(), world.clock().wall() + 5_000);
        assert_ne!(new.random.next_u64(), number);
        let counted = count(&old);
        world.clock().sleep(5 * SECOND).await;
        assert_eq!(counted.load(Ordering::Relaxed), 0, "what is left of the old life starts nothing");
    });
}

#[test]
fn who_hangs_up_ends_the_call_once_the_machine_runs() {
    run(|world| async move {
        let machine = world.machine("a", Hardware::default());
        let drops = Arc::new(AtomicU64::new(0));
        let held = Dropped(Arc::clone(&drops));
        let call = machine.call(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        let paused = machine.clone();
        let in_time = world.within(SECOND, call).await;
        assert!(in_time.is_err());
        paused.pause(SECOND);
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        world.clock().sleep(2 * SECOND).await;
        assert_eq!((drops.load(Ordering::Relaxed), machine.tasks().len()), (1, 0));
    });
}

#[test]
fn blocking_work_is_done_and_dies_with_the_machine() {
    run(|world| async move {
        let machine = world.machine("a", Hardware::default());
        let env = machine.env();
        assert_eq!(blocking(&*env.spawn, || 7).await, Ok(7));
        assert!(env.spawn.thread("t", Box::new(|| {})).is_err());
        machine.crash();
        assert_eq!(blocking(&*env.spawn, || 7).await, Err(JoinError));
    });
}

#[test]
fn a_panic_on_a_machine_fails_the_run() {
    let failure = World::run(7, |world| async move {
        let machine = world.machine("a", Hardware::default());
        machine.call(async { panic!("on purpose") }).await.unwrap_err()
    });
    let Err(Failure::Panicked(panics)) = failure else { panic!("{failure:?}") };
    assert_eq!(panics, ["task `call` on a panicked: on purpose"]);
}

#[test]
fn a_run_in_which_all_wait_for_ever_ends() {
    let stuck = World::run(7, |_| std::future::pending::<()>());
    assert!(matches!(stuck, Err(Failure::Stuck(_))), "{stuck:?}");
}

#[test]
fn what_still_runs_at_the_end_is_dropped() {
    let drops = Arc::new(AtomicU64::new(0));
    run(|world| {
        let held = Dropped(Arc::clone(&drops));
        async move {
            let machine = world.machine("a", Hardware::default());
            let (env, own) = (machine.env(), machine.env());
            let task = async move {
                let _all = (held, own);
                std::future::pending::<()>().await;
            };
            env.spawn.task("holds its own machine", Box::pin(task));
            world.clock().sleep(SECOND).await;
        }
    });
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}
