//! What people type, as values: durations, times, items. Pure: the present is an argument, never read here.

mod duration;
mod item;
mod time;

pub(crate) use duration::{Unit, parse_duration};
pub(crate) use item::{Item, parse_item};
pub(crate) use time::{Moment, parse_moment};
