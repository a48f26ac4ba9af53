//! What people type, as values: durations, times, sizes, guesses, items, terms of a search. Pure: the present is an argument, never read here.

mod duration;
mod guess;
mod item;
mod size;
mod term;
mod time;

pub(crate) use duration::{Unit, parse_duration};
pub(crate) use guess::{parse_count_guess, parse_rate_guess, parse_size_guess};
pub(crate) use item::{Item, parse_item};
pub(crate) use size::{parse_size, parse_size_or_zero};
pub(crate) use term::{join, parse_term};
pub(crate) use time::{Moment, parse_moment};
