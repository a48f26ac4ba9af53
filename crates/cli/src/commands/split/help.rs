//! What `braid split` says of itself.

pub(super) const LIST: &str = "\
Examples:
  braid split list -n plays
  braid split list -n plays --state FAILED --state REJECTED
  braid split list -n plays --series profileId:123 -o json | jq .splits[].transitions

A wide partition is copied into small ones, its targets, and is COMPLETED when both
were proven equal. ID names it by slice, time bucket, event bucket and series. BYTES is
the size of the origin, with >= as far as a read has seen it; AGE is for how long it has been
in its state. stderr gets a line about all splits of the namespace.";

pub(super) const SHOW: &str = "\
Examples:
  braid split show -n plays data_20260328/7/2/profileId:123
  braid split show -n plays data_20260328/7/2/profileId:123 -o json | jq .post_split_data

Shows the origin, the plan, the digests of both sides, every target, the states it went
through with how long each took, and the comparisons since. Equal digests mean equal rows.";

pub(super) const WATCH: &str = "\
Examples:
  braid split watch -n plays
  braid split watch -n plays data_20260328/7/2/profileId:123
  braid split watch -n plays data_20260328/7/2/profileId:123 -o ndjson | jq .checkpoint

Without an ID it follows all that are under way or wait for a worker. Looks twice a second and
ends when they have ended: exit 0 when COMPLETED, 8 when the copies were found to differ, 5
when it FAILED otherwise, was REJECTED or its slice is gone. JSON comes as one split a line,
one a change.";

pub(super) const CREATE: &str = "\
Examples:
  braid split create -n plays data_20260328/7/2/profileId:123 --reason 'slow reads'
  braid split create -n plays data_20260328/7/2/profileId:123 --validate-only
  braid split create -n plays data_20260328/7/2/profileId:123 --layout packed   also if not wide
  braid partitions top -n plays                     where such IDs come from

Whatever the policy of the namespace. Refused with SPLIT_NOT_IMMUTABLE while events of the
partition's time may still come. Whether it is wide, and how it is cut, a worker finds out;
follow it with `braid split watch`.";

pub(super) const RETRY: &str = "\
Examples:
  braid split retry -n plays data_20260328/7/2/profileId:123 --reason 'disk was full'
  braid split retry -n plays data_20260328/7/2/profileId:123 --layout rows     roll back to rows
  braid split retry -n plays data_20260328/7/2/profileId:123 --layout packed   pack it again

For one that is FAILED, REJECTED or RETIRED. It begins anew, with targets of its own. One
that is FAILED is tried again by itself a few times, then parked until somebody asks.
With --layout a COMPLETED one is taken out of use and made anew in that layout; until then
reads come from the origin.";

pub(super) const VERIFY: &str = "\
Examples:
  braid split verify -n plays data_20260328/7/2/profileId:123
  braid split verify -n plays data_20260328/7/2/profileId:123 && echo still equal

Reads the origin and all targets of a COMPLETED split now and compares them. Exit 8 when
they are not equal; the split is then taken out of use, and the origin is read as before.";

pub(super) const RETIRE: &str = "\
Examples:
  braid split retire -n plays data_20260328/7/2/profileId:123 --reason 'not needed'

The origin was never changed and stays. The targets are deleted when no server reads them
any more and some time has passed. It is not split again by itself; `braid split retry`
asks for that.";

pub(super) const PAUSE: &str = "\
Examples:
  braid split pause -n plays --reason 'busy evening'
  braid split pause --all

Workers stop at their next checkpoint and keep what they have. Completed splits stay in use,
and wide partitions are still found. `braid split list` says that a namespace is paused.";

pub(super) const RESUME: &str = "\
Examples:
  braid split resume -n plays
  braid split resume --all

Workers go on where they stopped.";
