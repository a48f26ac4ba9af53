//! `braid split watch`: looks at splits again and again, and shows each change, until they have ended.

use std::collections::BTreeMap;
use std::time::Duration;

use api::admin::v1::{ListSplitsRequest, Split};
use rpc::client::CallError;

use super::PAGE_MAX;
use crate::failure::{Failure, talk};
use crate::output::{Bars, Format, Listing, ProgressRecord, split_ended};
use crate::session::{Session, wire_time};

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(500);
/// What is under way, or waits to be.
const UNDER_WAY: [&str; 6] = ["CANDIDATE", "PLANNING", "PLANNED", "COPYING", "VERIFYING", "RETIRING"];
/// Splits that are followed at once: each costs a call every time.
const FOLLOWED_MAX: usize = 50;

/// Follows one split, or all that are under way.
pub(super) async fn run(mut session: Session, id: Option<String>) -> Result<(), Failure> {
    let namespace = session.namespace()?;
    let ids = match id {
        Some(id) => vec![id],
        None => under_way(&session, &namespace).await?,
    };
    if ids.is_empty() {
        talk("nothing is being split\n");
        return Ok(());
    }
    // An endless list has no closing bracket, so JSON comes in lines.
    let format = match session.stdout.format() {
        Format::Json => Format::Ndjson,
        other => other,
    };
    let mut view = View {
        listing: Listing::new(format, session.stdout.width())?,
        bars: Bars::new(format == Format::Table),
        seen: BTreeMap::new(),
    };
    let mut following = ids;
    let (mut worst, mut failing) = (0, false);
    loop {
        match look(&mut session, &namespace, &following, &mut view).await {
            Ok(ended) => {
                failing = false;
                worst = ended.iter().map(|(_, exit)| *exit).fold(worst, u8::max);
                following.retain(|id| ended.iter().all(|(over, _)| over != id));
            }
            Err(Failure::Call(CallError { message, retry_after: Some(_), .. })) => {
                if !failing {
                    view.bars.beside(|| {
                        talk(&format!("braid: {message}\nbraid: trying again until it answers\n"))
                    });
                }
                failing = true;
            }
            Err(failure) => return Err(failure),
        }
        if following.is_empty() {
            break;
        }
        session.env.clock.sleep(INTERVAL).await;
    }
    view.bars.end();
    if worst == 0 { Ok(()) } else { Err(Failure::Told(worst)) }
}

/// The ids of all splits that have not ended.
async fn under_way(session: &Session, namespace: &str) -> Result<Vec<String>, Failure> {
    let mut request = ListSplitsRequest {
        namespace: namespace.to_owned(),
        states: UNDER_WAY.map(str::to_owned).to_vec(),
        page_size: i32::try_from(PAGE_MAX).unwrap_or(0),
        ..ListSplitsRequest::default()
    };
    let mut ids = Vec::new();
    loop {
        let page = session.client.list_splits(request.clone()).await?;
        ids.extend(page.splits.into_iter().map(|split| split.id));
        if page.next_page_token.is_empty() || ids.len() > FOLLOWED_MAX {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if ids.len() > FOLLOWED_MAX {
        talk(&format!("more than {FOLLOWED_MAX} are under way; these are the first\n"));
        ids.truncate(FOLLOWED_MAX);
    }
    Ok(ids)
}

/// What is on the screen.
struct View {
    listing: Listing,
    bars: Bars,
    /// What was last shown of each.
    seen: BTreeMap<String, Seen>,
}

/// What has to differ to be worth a line: with bars the state and its reason, else also how far it is.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    state: String,
    attempt: u32,
    reached: Option<(String, u32, i64)>,
    reason: Option<String>,
}

impl Seen {
    fn of(split: &Split, bars: bool) -> Self {
        let checkpoint = split.checkpoint.as_ref().filter(|_| !bars);
        let reached = checkpoint.map(|found| (found.phase.clone(), found.target, found.bytes));
        let reason = split.reason.as_ref().map(|reason| reason.code.clone());
        Self { state: split.state.clone(), attempt: split.attempt, reached, reason }
    }
}

/// Looks once at each and shows what changed; gives back those that have ended, and with what.
async fn look(
    session: &mut Session,
    namespace: &str,
    ids: &[String],
    view: &mut View,
) -> Result<Vec<(String, u8)>, Failure> {
    let mut ended = Vec::new();
    for id in ids {
        let split = session.client.get_split(namespace, id).await?;
        let now = Seen::of(&split, view.bars.are_shown());
        view.bars.show(&split);
        if view.seen.get(id) != Some(&now) {
            let record = ProgressRecord { split: &split, time: wire_time(session.now()) };
            let text = view.listing.batch(&[record])?;
            let stdout = &mut session.stdout;
            view.bars.beside(|| stdout.write(&text).and_then(|()| stdout.flush()))?;
            view.seen.insert(id.clone(), now);
        }
        if let Some(exit) = split_ended(&split) {
            ended.push((id.clone(), exit));
        }
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use api::admin::v1::SplitCheckpoint;

    use super::*;

    #[test]
    fn a_line_is_worth_a_change_of_state_and_without_bars_of_progress() {
        let at = |state: &str, bytes| Split {
            state: state.to_owned(),
            checkpoint: Some(SplitCheckpoint {
                phase: "COPY".to_owned(),
                bytes,
                ..SplitCheckpoint::default()
            }),
            ..Split::default()
        };
        let differ = |one: &Split, other: &Split, bars| Seen::of(one, bars) != Seen::of(other, bars);
        let (one, further, next) = (at("COPYING", 1), at("COPYING", 2), at("VERIFYING", 2));
        assert!(differ(&one, &further, false) && !differ(&one, &further, true));
        assert!(differ(&further, &next, false) && differ(&further, &next, true));
        assert!(!differ(&one, &one.clone(), false));
        assert!(differ(&one, &Split { attempt: 2, ..one.clone() }, true));
    }
}
