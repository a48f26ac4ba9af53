//! What operators ask of splits: lists by pages, single partitions and splits by their ids, the widest partitions.

use ::split::{SplitId, State, TargetLayout};
use engine::{Error, Reason, Result, SplitFilter, SplitPage, SplitSummary};
use model::{NamespaceName, PartitionKey, SeriesId};

use super::namespace::namespace_name;
use super::split::{split_to_wire, summary};
use crate::admin::v1;
use crate::clip::clip;

/// Splits on a page.
const PAGE_DEFAULT: usize = 100;
const PAGE_MAX: usize = 200;
/// States that a request may name.
pub(crate) const STATES_MAX: usize = State::ALL.len();
/// Bytes of the id of a split and of a page token: a series, and what stands before it.
const ID_BYTES_MAX: usize = 2 << 10;
/// Wide partitions in one answer.
const WIDE_DEFAULT: usize = 20;
const WIDE_MAX: usize = 1_000;
/// What a message quotes of an unknown name.
const QUOTE_CHARS_MAX: usize = 64;

/// A page of splits that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitsAsked {
    /// Of which namespace.
    pub namespace: NamespaceName,
    /// Which of them.
    pub filter: SplitFilter,
    /// Where the page begins.
    pub after: Option<String>,
    /// How many.
    pub splits_max: usize,
}

/// The page that a request asks for.
pub fn splits_request(wire: v1::ListSplitsRequest) -> Result<SplitsAsked> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    let states = wire.states.iter().map(|name| state(name)).collect::<Result<_>>()?;
    let series = given(wire.time_series_id).map(|id| series(&id)).transpose()?;
    let filter = SplitFilter { states, series, table: given(wire.time_slice) };
    let splits_max = page_size(wire.page_size, PAGE_DEFAULT, PAGE_MAX)?;
    let after = split_token(&namespace, wire.page_token)?;
    Ok(SplitsAsked { namespace, filter, after, splits_max })
}

/// Where a page of splits begins: a token is the id of the last split of the page before.
pub(super) fn split_token(namespace: &NamespaceName, token: String) -> Result<Option<String>> {
    let is_token = |token: &str| token.len() <= ID_BYTES_MAX && SplitId::parse(namespace, 0, token).is_some();
    if !token.is_empty() && !is_token(&token) {
        let message = "page_token: is not one of this call; send the one from the page before, or none";
        return Err(Error::new(Reason::PageTokenInvalid, message));
    }
    Ok(given(token))
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn state(name: &str) -> Result<State> {
    let found = State::ALL.into_iter().find(|state| state.as_str() == name);
    found.ok_or_else(|| {
        let asked = clip(name, QUOTE_CHARS_MAX);
        let known = State::ALL.map(State::as_str).join(", ");
        Error::field("states", format!("`{asked}` is not a state; choose of {known}"))
    })
}

fn series(id: &str) -> Result<SeriesId> {
    SeriesId::new(id).map_err(|error| Error::field("time_series_id", error))
}

pub(super) fn page_size(asked: i32, default: usize, max: usize) -> Result<usize> {
    match usize::try_from(asked) {
        Ok(0) => Ok(default),
        Ok(size) if size <= max => Ok(size),
        _ => {
            let message = format!("page_size: is {asked}; send 1 to {max}, or 0 for the default");
            Err(Error::new(Reason::RangeTooWide, message))
        }
    }
}

/// A page of splits and what all of them came to.
pub fn splits_response(page: SplitPage, all: &SplitSummary) -> v1::ListSplitsResponse {
    v1::ListSplitsResponse {
        splits: page.splits.into_iter().map(split_to_wire).collect(),
        next_page_token: page.next.unwrap_or_default(),
        summary: Some(summary(all)),
    }
}

/// The namespace and the split that a request names. The engine says whether there is one.
pub fn split_named<'a>(namespace: &str, id: &'a str) -> Result<(NamespaceName, &'a str)> {
    let namespace = namespace_name("namespace", namespace)?;
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        let problem = if id.is_empty() { "is empty" } else { "is too long" };
        let cure = "send one as ListSplits gives it, such as data_20260328/7/2/profileId:123";
        return Err(Error::field("id", format!("{problem}; {cure}")));
    }
    Ok((namespace, id))
}

/// How a request wants targets to keep events; none where it does not say.
pub fn layout_asked(layout: &str) -> Result<Option<TargetLayout>> {
    match layout {
        "" => Ok(None),
        "rows" => Ok(Some(TargetLayout::Rows)),
        "packed" => Ok(Some(TargetLayout::Packed)),
        other => {
            Err(Error::field("layout", format!("is `{other}`; choose rows or packed, or leave it empty")))
        }
    }
}

/// The partition that a request wants split: namespace, table, partition. The engine says whether there is one.
pub fn new_split(wire: v1::CreateSplitRequest) -> Result<(NamespaceName, String, PartitionKey)> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    if wire.time_slice.is_empty() {
        let problem = "is empty; send the table of a slice as ListSlices gives it, such as data_20260328";
        return Err(Error::field("time_slice", problem));
    }
    let series = series(&wire.time_series_id)?;
    let (time_bucket, event_bucket) = (wire.time_bucket, wire.event_bucket);
    Ok((namespace, wire.time_slice, PartitionKey { series, time_bucket, event_bucket }))
}

/// Which wide partitions are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideAsked {
    /// Of which namespace.
    pub namespace: NamespaceName,
    /// Of which slice.
    pub table: Option<String>,
    /// Whether to read all of it.
    pub measure: bool,
    /// How many.
    pub partitions_max: usize,
}

/// The wide partitions that a request asks for.
pub fn wide_request(wire: v1::ListWidePartitionsRequest) -> Result<WideAsked> {
    let namespace = namespace_name("namespace", &wire.namespace)?;
    let (table, measure) = (given(wire.time_slice), wire.measure);
    if measure && table.is_none() {
        let problem = "reads all of a slice; name it in time_slice, such as data_20260328";
        return Err(Error::field("measure", problem));
    }
    let partitions_max = page_size(wire.page_size, WIDE_DEFAULT, WIDE_MAX)?;
    Ok(WideAsked { namespace, table, measure, partitions_max })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(change: fn(&mut v1::ListSplitsRequest)) -> std::result::Result<SplitsAsked, String> {
        let mut wire = v1::ListSplitsRequest { namespace: "plays".to_owned(), ..Default::default() };
        change(&mut wire);
        splits_request(wire).map_err(|error| format!("{} {error}", error.reason().as_str()))
    }

    #[test]
    fn a_list_is_asked_for_with_what_it_is_limited_to() {
        let bare = listed(|_| ()).unwrap();
        assert_eq!((&bare.filter, &bare.after, bare.splits_max), (&SplitFilter::default(), &None, 100));
        let asked = listed(|wire| {
            wire.states = vec!["FAILED".to_owned(), "COMPLETED".to_owned()];
            wire.time_series_id = "profileId:123".to_owned();
            wire.time_slice = "data_20260328".to_owned();
            wire.page_size = 7;
            wire.page_token = "data_20260328/7/2/s".to_owned();
        });
        let filter = SplitFilter {
            states: vec![State::Failed, State::Completed],
            series: Some(SeriesId::new("profileId:123").unwrap()),
            table: Some("data_20260328".to_owned()),
        };
        let after = Some("data_20260328/7/2/s".to_owned());
        assert_eq!(asked.unwrap(), SplitsAsked { filter, after, splits_max: 7, ..bare });
    }

    #[test]
    fn what_cannot_be_listed_is_refused_with_what_can() {
        assert_eq!(
            listed(|wire| wire.states = vec!["failed".to_owned()]).unwrap_err(),
            "FIELD_INVALID states: `failed` is not a state; choose of CANDIDATE, PLANNING, PLANNED, COPYING, \
             VERIFYING, COMPLETED, RETIRING, RETIRED, FAILED, REJECTED, EXPIRED"
        );
        let size = "RANGE_TOO_WIDE page_size: is 201; send 1 to 200, or 0 for the default";
        assert_eq!(listed(|wire| wire.page_size = 201).unwrap_err(), size);
        assert!(listed(|wire| wire.page_size = -1).unwrap_err().contains("is -1; send 1 to 200"));
        let long =
            listed(|wire| wire.page_token = format!("data_1/0/0/{}", "x".repeat(ID_BYTES_MAX))).unwrap_err();
        assert!(long.starts_with("PAGE_TOKEN_INVALID page_token: "), "{long}");
        assert_eq!(listed(|wire| wire.page_token = "forged".to_owned()).unwrap_err(), long);
        let series = listed(|wire| wire.time_series_id = "x".repeat(513)).unwrap_err();
        assert!(series.starts_with("FIELD_INVALID time_series_id: "), "{series}");
    }

    #[test]
    fn a_split_is_named_by_its_id_and_a_new_one_by_its_partition() {
        let (name, id) = split_named("plays", "data_1/0/0/s").unwrap();
        assert_eq!((name.as_str(), id), ("plays", "data_1/0/0/s"));
        let refusal = |id: &str| split_named("plays", id).unwrap_err().to_string();
        assert!(refusal("").starts_with("id: is empty; send one as ListSplits gives it"));
        assert!(refusal(&"x".repeat(ID_BYTES_MAX + 1)).starts_with("id: is too long; "));
        let wire = v1::CreateSplitRequest {
            namespace: "plays".to_owned(),
            time_slice: "data_20260328".to_owned(),
            time_series_id: "profileId:123".to_owned(),
            time_bucket: 7,
            event_bucket: 2,
            ..Default::default()
        };
        let (name, table, partition) = new_split(wire.clone()).unwrap();
        assert_eq!((name.as_str(), table.as_str()), ("plays", "data_20260328"));
        let series = SeriesId::new("profileId:123").unwrap();
        assert_eq!(partition, PartitionKey { series, time_bucket: 7, event_bucket: 2 });
        let refusal = |wire| new_split(wire).unwrap_err().to_string();
        assert!(
            refusal(v1::CreateSplitRequest { time_slice: String::new(), ..wire.clone() })
                .starts_with("time_slice: is empty")
        );
        let nobody = v1::CreateSplitRequest { time_series_id: String::new(), ..wire };
        assert!(refusal(nobody).starts_with("time_series_id: "));
    }

    #[test]
    fn measuring_needs_a_slice() {
        let asked = |time_slice: &str, measure, page_size| {
            let (namespace, time_slice) = ("plays".to_owned(), time_slice.to_owned());
            let wire = v1::ListWidePartitionsRequest { namespace, time_slice, measure, page_size };
            wide_request(wire).map_err(|error| error.to_string())
        };
        let all = asked("", false, 0).unwrap();
        assert_eq!((all.table, all.measure, all.partitions_max), (None, false, 20));
        let one = asked("data_20260328", true, 1_000).unwrap();
        assert_eq!(
            (one.table.as_deref(), one.measure, one.partitions_max),
            (Some("data_20260328"), true, 1_000)
        );
        let refused = "measure: reads all of a slice; name it in time_slice, such as data_20260328";
        assert_eq!(asked("", true, 0), Err(refused.to_owned()));
        assert!(asked("", false, 1_001).unwrap_err().contains("send 1 to 1000"));
    }
}
