//! A partition as it is typed: slice, time bucket, event bucket and series, as the ID of its split.

use api::admin::v1::CreateSplitRequest;

/// A partition to be split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    time_slice: String,
    time_bucket: u32,
    event_bucket: u32,
    series: String,
}

impl Origin {
    /// The request to split it.
    pub(super) fn request(
        self,
        namespace: String,
        reason: String,
        validate_only: bool,
    ) -> CreateSplitRequest {
        let Self { time_slice, time_bucket, event_bucket, series } = self;
        CreateSplitRequest {
            namespace,
            time_slice,
            time_series_id: series,
            time_bucket,
            event_bucket,
            validate_only,
            reason,
            layout: String::new(),
        }
    }
}

/// Reads an ID. A series may have slashes of its own.
pub(super) fn parse_origin(text: &str) -> Result<Origin, String> {
    let wrong = || {
        format!(
            "`{text}` is not a partition; write slice/time bucket/event bucket/series, as in data_20260328/7/2/user:7"
        )
    };
    let mut parts = text.splitn(4, '/');
    let mut part = || parts.next().filter(|part| !part.is_empty()).ok_or_else(wrong);
    let (time_slice, time_bucket, event_bucket, series) = (part()?, part()?, part()?, part()?);
    let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
    Ok(Origin {
        time_slice: time_slice.to_owned(),
        time_bucket: number(time_bucket)?,
        event_bucket: number(event_bucket)?,
        series: series.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_typed_as_its_split_is_listed() {
        let origin = parse_origin("data_20260328/7/2/a/b").unwrap();
        let request = origin.request("plays".to_owned(), "why".to_owned(), true);
        let expect = CreateSplitRequest {
            namespace: "plays".to_owned(),
            time_slice: "data_20260328".to_owned(),
            time_series_id: "a/b".to_owned(),
            time_bucket: 7,
            event_bucket: 2,
            validate_only: true,
            reason: "why".to_owned(),
            layout: String::new(),
        };
        assert_eq!(request, expect);
        for wrong in ["", "data", "data/1/2", "data/1/2/", "data/x/2/s", "data/1/-2/s", "/1/2/s"] {
            assert!(parse_origin(wrong).unwrap_err().contains("as in data_20260328/7/2/user:7"), "{wrong}");
        }
    }
}
