//! What people type, as values: durations, times, sizes, items, terms of a search. Pure: the present is an argument, never read here.

mod duration;
mod item;
mod size;
mod term;
mod time;

pub(crate) use duration::{Unit, parse_duration};
pub(crate) use item::{Item, parse_item};
pub(crate) use size::{parse_size, parse_size_or_zero};
pub(crate) use term::{join, parse_term};
pub(crate) use time::{Moment, parse_moment};
