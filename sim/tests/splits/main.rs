//! Splits on a simulated cluster, one thing at a time: what chance meets too seldom, or what has to be seen in every form.

#[cfg(feature = "seeded-bugs")]
mod barrier;
mod damage;
mod due;
mod scene;
