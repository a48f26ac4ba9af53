//! What `braid readmode` says of itself.

pub(super) const SHOW: &str = "\
Examples:
  braid readmode show -n plays
  braid readmode show -n plays -o json | jq .gates

Reads move from origins to the targets of splits in steps: off (targets are not read),
shadow (the origin is served, targets are read after the answer and compared), canary (a
share of reads is served from targets), on (all of them). Shows the mode, the gates of the
next step with what each wants and has found, and what all servers have seen since the mode
began. stderr says what is still missing.";

pub(super) const ADVANCE: &str = "\
Examples:
  braid readmode advance -n plays --reason 'compared since Monday'
  braid readmode advance -n plays --validate-only

Refused with READ_MODE_GATE_FAILED, exit 5, while a gate is closed; the message has the
figures. min_time does not hold up a step by hand. Behind a step counting begins anew.";

pub(super) const HOLD: &str = "\
Examples:
  braid readmode hold -n plays --reason 'freeze over the weekend'
  braid readmode hold -n plays --release

Servers do not move held reads on, whatever their policy. A difference still takes them
back to shadow, and a step by hand releases them.";

pub(super) const ROLLBACK: &str = "\
Examples:
  braid readmode rollback -n plays --reason 'slow'
  braid readmode rollback -n plays --to off
  braid readmode rollback -n plays --to shadow     in shadow: compare from the beginning

What was compared counts no more: the mode begins anew. After a confirmed difference this
is what lets reads move on again.";

pub(super) const COMPARE: &str = "\
Examples:
  braid readmode compare -n plays
  braid readmode compare -n plays --at-once 1     where splits are large: a call has a minute
  braid readmode compare -n plays && braid readmode advance -n plays

Reads the origin and the targets of every completed split and compares them, a few splits
a call. It counts as evidence, so that gates open where nobody reads. Exit 8 if anything
differed, at a second look too: the split is then out of use, and reads are back in shadow.";

pub(super) const MISMATCHES: &str = "\
Examples:
  braid readmode mismatches -n plays
  braid readmode mismatches -n plays -o json | jq '.mismatches[0]'

The newest 100, newest first: which split, what was read, and what each side gave. The
splits are out of use; `braid split show` tells more, `braid split retry` makes them anew.";
