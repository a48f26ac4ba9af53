//! Examples and what to know, behind the options.

pub(super) const LIST: &str = "\
Examples:
  braid tune list -n plays
  braid tune list                              those of all namespaces
  braid tune list -n plays --state OPEN -o json

Servers look at the partition sizes of closed slices, every hour or more often, and propose
another shape for future slices where p99 lies outside the density. Why there is no
proposal is said on stderr.";

pub(super) const SHOW: &str = "\
Examples:
  braid tune show -n plays 1
  braid tune show -n plays 1 -o json | jq .predicted

What was seen, what is predicted, the evidence, what limited it, and after it was accepted
what came of it.";

pub(super) const SIMULATE: &str = "\
Examples:
  braid tune simulate -n plays --bucket 1d
  braid tune simulate -n plays --bucket 1h --buckets-per-id 2 -o csv
  braid tune simulate -n plays --proposal 1

Replays the recorded sizes of the namespace through a shape; what is not given is as it is
now. Changes nothing. BASIS says what a prediction rests on: `series` is measured, `scaled`
assumes an even spread inside of buckets, `keys` and `full` are upper bounds.";

pub(super) const ACCEPT: &str = "\
Examples:
  braid tune accept -n plays 1 --reason 'reads touch 1,440 partitions'
  braid tune accept -n plays 1 --etag \"$ETAG\" --validate-only

Future slices get the shape; those that exist keep theirs. Refused where what the proposal
rests on holds no more.";

pub(super) const REJECT: &str = "\
Examples:
  braid tune reject -n plays 1 --reason 'load goes away next week'

The same shape is proposed again only when sizes have doubled or halved.";

pub(super) const OBSERVE: &str = "\
Examples:
  braid tune observe -n plays
  braid tune observe -n plays --measure
  braid tune observe -n plays --validate-only          what is known, without looking

Looks at closed slices now, whatever the policy, and decides anew. On a cluster sizes come
from what its nodes know; --measure reads the newest slices whole instead.";
