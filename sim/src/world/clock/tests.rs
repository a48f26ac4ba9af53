//! Clocks that are wrong, and by how much.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn clock(wall_error: i64, rate_ppm: i32) -> (TrueClock, MachineClock) {
    let truth = TrueClock::start();
    let ticks = Ticks::new(truth, wall_error, rate_ppm);
    (truth, MachineClock { started: ticks.now(), ticks })
}

#[tokio::test(start_paused = true)]
async fn a_fast_clock_runs_ahead_and_its_sleeps_are_short() {
    let (truth, fast) = clock(0, 10_000);
    let start = fast.boot();
    fast.sleep(101 * SECOND).await;
    assert!(fast.boot().since(start) >= 101 * SECOND);
    // The runtime wakes sleepers at whole milliseconds.
    assert!((100 * SECOND..100 * SECOND + Duration::from_millis(2)).contains(&truth.now()));
    assert!(fast.wall() - truth.wall() >= 1_000_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_holds_though_the_rate_changes_meanwhile() {
    let (truth, clock) = clock(0, RATE_PPM_MAX);
    let start = clock.boot();
    tokio::join!(biased; clock.sleep(100 * SECOND), async { clock.ticks.set_rate(-RATE_PPM_MAX) });
    assert!(clock.boot().since(start) >= 100 * SECOND);
    assert!(truth.now() > 101 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_jump_moves_the_wall_and_not_the_boot_clock() {
    let (truth, clock) = clock(-5, 0);
    assert_eq!(clock.wall(), truth.wall() - 5);
    let boot = clock.boot();
    clock.ticks.jump_wall(-3_600_000_000_000);
    assert_eq!(clock.wall(), truth.wall() - 3_600_000_000_005);
    assert_eq!(clock.boot(), boot);
    clock.ticks.jump_wall(i64::MIN);
    clock.ticks.jump_wall(i64::MIN);
    assert!(clock.wall() < 0);
}

#[tokio::test(start_paused = true)]
async fn a_rate_beyond_the_bound_is_the_bound() {
    let (truth, clock) = clock(0, i32::MIN);
    truth.sleep(100 * SECOND).await;
    assert_eq!(clock.boot().since(BootTime::from_boot(Duration::ZERO)), 99 * SECOND);
}
