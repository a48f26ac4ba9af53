//! A fixed row of things that the models number by small integers: servers, workers, keys.
//!
//! Indexing is by `u8`, so that a model needs no casts; an index out of bounds is a mistake in the model and panics.

use std::ops::{Index, IndexMut};

/// `N` things, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cells<T, const N: usize>([T; N]);

impl<T: Copy, const N: usize> Cells<T, N> {
    /// The same thing `N` times.
    pub(crate) const fn all(thing: T) -> Self {
        Self([thing; N])
    }

    /// These things.
    pub(crate) const fn of(things: [T; N]) -> Self {
        Self(things)
    }

    /// One after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T, const N: usize> Index<u8> for Cells<T, N> {
    type Output = T;

    fn index(&self, at: u8) -> &T {
        self.0.get(usize::from(at)).expect("an index within the model's bounds")
    }
}

impl<T, const N: usize> IndexMut<u8> for Cells<T, N> {
    fn index_mut(&mut self, at: u8) -> &mut T {
        self.0.get_mut(usize::from(at)).expect("an index within the model's bounds")
    }
}
