//! An enum that knows its variants, so that a test can ask whether each of them is used.

/// Declares such an enum.
macro_rules! listed {
    ($(#[$outer:meta])* pub enum $name:ident { $($(#[$inner:meta])* $variant:ident,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$inner])* $variant,)* }

        impl $name {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}

pub(crate) use listed;
