//! The small cases: the protocol holds in every state within its bounds, and what it is about happens there; every mutant
//! violates the property that its table names. And the tables are whole: no guard without a case, no mark without one.

use std::collections::BTreeSet;

use proof::{Case, Expect, Guard, Mark, Size, Verdict, Want, cases, clock, cover, select, slice};

/// Explores the small cases of a model, one thread each: cases of several models run beside each other.
fn check(model: &str, mutants: bool) {
    let names = [model.to_owned()];
    let small = |case: &&&Case| case.size == Size::Small && case.is_mutant() == mutants;
    let chosen = select(&names, true).expect("a model by its name");
    let chosen: Vec<&&Case> = chosen.iter().filter(small).collect();
    assert!(!chosen.is_empty(), "{model} has no such cases");
    let mut surprises = Vec::new();
    for case in chosen {
        let (explored, verdict) = case.run(1, Want::Any);
        if !verdict.is_expected() {
            let steps = explored.violation.map(|violation| violation.steps.join("\n  "));
            surprises.push(format!("{}: {verdict}\n  {}", case.name, steps.unwrap_or_default()));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn covers_hold() {
    check("cover", false);
}

#[test]
fn covers_without_a_guard_break() {
    check("cover", true);
}

#[test]
fn clocks_hold() {
    check("clock", false);
}

#[test]
fn clocks_without_a_guard_break() {
    check("clock", true);
}

#[test]
fn slices_hold() {
    check("slice", false);
}

#[test]
fn slices_without_a_guard_break() {
    check("slice", true);
}

/// The verdict on a case if it were expected to come to this.
fn verdict(name: &str, expect: Expect) -> Verdict {
    let chosen = select(&[name.to_owned()], false).expect("a case by its name");
    let case = chosen.into_iter().find(|case| case.name == name).expect("the case itself");
    let (_, verdict) = Case { expect, ..*case }.run(1, Want::Shortest);
    verdict
}

#[test]
fn wrong_expectations_are_told() {
    let breaks = Expect::Breaks(slice::READS_WHOLE);
    assert_eq!(verdict("slice-announce", breaks), Verdict::NotCaught);
    let never = Expect::Holds(&[Mark::AckInSlice, Mark::Remade]);
    assert_eq!(verdict("slice-announce", never), Verdict::NeverReached(vec![Mark::Remade]));
    let violated = Verdict::Violated(slice::READS_WHOLE, 7);
    assert_eq!(verdict("slice-ack-before-barrier", Expect::Holds(&[])), violated);
    let other = Expect::Breaks(slice::PROMISE_KEPT);
    assert_eq!(verdict("slice-ack-before-barrier", other), violated);
    assert_eq!(verdict("slice-ack-before-barrier", breaks), Verdict::Caught(7));
}

#[test]
fn every_guard_is_taken_away_somewhere() {
    let taken = |guard: &Guard| cases().any(|case| case.without.contains(guard));
    let kept: Vec<&Guard> = Guard::ALL.iter().filter(|guard| !taken(guard)).collect();
    assert!(kept.is_empty(), "no case lacks {kept:?}");
}

#[test]
fn every_mark_is_needed_by_a_small_case() {
    let needs = |case: &Case, mark: &Mark| match case.expect {
        Expect::Holds(marks) => case.size == Size::Small && marks.contains(mark),
        Expect::Breaks(_) => false,
    };
    let unneeded: Vec<&Mark> =
        Mark::ALL.iter().filter(|mark| !cases().any(|case| needs(case, mark))).collect();
    assert!(unneeded.is_empty(), "no small case has to reach {unneeded:?}");
}

#[test]
fn every_property_is_violated_by_a_mutant() {
    let broken: BTreeSet<&str> = cases()
        .filter_map(|case| match case.expect {
            Expect::Breaks(property) => Some(property),
            Expect::Holds(_) => None,
        })
        .collect();
    let covers = [cover::ACKED_IN_ORIGIN, cover::TARGETS_COMPLETE, cover::PAGES_WHOLE];
    let slices = [slice::ACKED_STORED, slice::ACK_BEFORE_DROP, slice::READS_WHOLE, slice::PROMISE_KEPT];
    let all: BTreeSet<&str> = [clock::COVER_COMPLETE].into_iter().chain(covers).chain(slices).collect();
    assert_eq!(broken, all);
}

#[test]
fn the_page_names_every_case() {
    let page = include_str!("../../docs/proof.md");
    let unnamed: Vec<&str> =
        cases().map(|case| case.name).filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(unnamed.is_empty(), "docs/proof.md does not name {unnamed:?}");
}

#[test]
fn names_are_unique_and_say_their_model() {
    let names: BTreeSet<&str> = cases().map(|case| case.name).collect();
    assert_eq!(names.len(), cases().count());
    assert_eq!(select(&[], true).unwrap().len(), names.len());
    assert!(
        names.iter().all(|name| ["cover-", "clock-", "slice-"].iter().any(|model| name.starts_with(model)))
    );
    let count = |name: &str, large: bool| select(&[name.to_owned()], large).unwrap().len();
    assert_eq!(count("cover-large-workers", false), 1);
    assert_eq!(count("cover-large-workers", true), 4);
    assert!(count("cover", false) < count("cover", true));
    assert_eq!(
        select(&["cove".to_owned()], false).unwrap_err(),
        "there is no case `cove`; `proof model --list` names them"
    );
}
