//! Chunks as their users see them: what goes in comes out, what was spoiled is refused, and old bytes stay readable.

mod golden;
mod hostile;
mod made;
mod round_trip;
