//! All cases, and finding them by name.

use crate::case::{Case, Size};
use crate::{clock, cover, slice};

/// Every case of every model, protocol first, mutants after.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    [cover::cases::ALL, clock::cases::ALL, slice::cases::ALL].into_iter().flatten()
}

/// The cases with one of these names, and those whose name begins with one of them and a dash; without names, all of
/// them. A large case is asked for by its whole name or by `large`.
pub fn select(names: &[String], large: bool) -> Result<Vec<&'static Case>, String> {
    let begins =
        |case: &Case, name: &str| case.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    let named = |case: &Case, name: &String| case.name == name || begins(case, name);
    if let Some(name) = names.iter().find(|name| !cases().any(|case| named(case, name))) {
        return Err(format!("there is no case `{name}`; `proof model --list` names them"));
    }
    let wanted = |case: &&Case| {
        let small = large || case.size == Size::Small;
        let whole = names.iter().any(|name| case.name == name);
        whole || small && (names.is_empty() || names.iter().any(|name| begins(case, name)))
    };
    Ok(cases().filter(wanted).collect())
}
