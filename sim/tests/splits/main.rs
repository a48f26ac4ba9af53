//! Splits on a simulated cluster, one thing at a time: what chance meets too seldom, or what has to be seen in every form.

#[cfg(feature = "seeded-bugs")]
mod barrier;
mod cleaning;
mod damage;
mod dropping;
mod due;
#[cfg(feature = "seeded-bugs")]
mod retiring;
mod scene;
mod vanished;
