//! `braid readmode compare`: some splits a call, until all were read both ways.

use std::io::IsTerminal;

use api::admin::v1::{CompareReadModeRequest, CompareReadModeResponse};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::failure::{FINDINGS, Failure, talk};
use crate::output::{CompareRecord, Format, missing, quoted, value};
use crate::session::Session;

/// What `compare` takes.
#[derive(Debug, clap::Args)]
pub(super) struct Asked {
    /// Splits that one call compares
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i32).range(1..=100))]
    at_once: i32,
    /// Go on behind this split, where a comparison ended early
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

/// Compares all splits of a namespace.
pub(super) async fn run(mut session: Session, namespace: String, asked: Asked) -> Result<(), Failure> {
    let mut request = CompareReadModeRequest {
        namespace,
        page_size: asked.at_once,
        page_token: asked.after.unwrap_or_default(),
    };
    let progress = Progress::new();
    let mut whole = CompareReadModeResponse::default();
    loop {
        let page = match session.client.compare_read_mode(request.clone()).await {
            Ok(page) => page,
            Err(error) => {
                progress.end();
                talk(&went_as_far_as(&request, &whole));
                return Err(error.into());
            }
        };
        add(&mut whole, &page);
        progress.show(&whole);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    progress.end();
    if session.stdout.format() == Format::Table {
        talk(&summed_up(&request.namespace, &whole));
        talk(&missing(&session.client.get_read_mode(&request.namespace).await?));
    }
    session.stdout.list(&[CompareRecord(&whole)], &whole)?;
    verdict(&whole)
}

/// Whatever differs is a finding.
fn verdict(whole: &CompareReadModeResponse) -> Result<(), Failure> {
    if whole.differ > 0 { Err(Failure::Told(FINDINGS)) } else { Ok(()) }
}

/// Adds what a further call has come to.
fn add(whole: &mut CompareReadModeResponse, page: &CompareReadModeResponse) {
    whole.splits = whole.splits.saturating_add(page.splits);
    whole.pages = whole.pages.saturating_add(page.pages);
    whole.records = whole.records.saturating_add(page.records);
    whole.bytes = whole.bytes.saturating_add(page.bytes);
    whole.differ = whole.differ.saturating_add(page.differ);
    whole.differ_bytes = whole.differ_bytes.saturating_add(page.differ_bytes);
}

fn so_far(whole: &CompareReadModeResponse) -> String {
    let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
    let (splits, events) =
        (value::count(unsigned(whole.splits), "split"), value::count(unsigned(whole.records), "event"));
    format!("{splits} compared, {events} of {} the same", value::size(unsigned(whole.bytes)))
}

/// What it came to, and what to do.
fn summed_up(namespace: &str, whole: &CompareReadModeResponse) -> String {
    if whole.splits == 0 {
        return "there is no completed split to compare\n".to_owned();
    }
    if whole.differ == 0 {
        return format!("{}\n", so_far(whole));
    }
    let bytes = value::size(u64::try_from(whole.differ_bytes).unwrap_or(0));
    let found = match whole.differ {
        1 => format!("1 split differs in {bytes} and is out of use now"),
        differ => format!("{differ} splits differ in {bytes} and are out of use now"),
    };
    let look = format!("braid readmode mismatches -n {}", quoted(namespace));
    format!("{}; {found}; look at what differs with: {look}\n", so_far(whole))
}

/// What was compared before a call failed, and how to go on.
fn went_as_far_as(request: &CompareReadModeRequest, whole: &CompareReadModeResponse) -> String {
    if whole.splits == 0 {
        return String::new();
    }
    let (name, after) = (quoted(&request.namespace), quoted(&request.page_token));
    format!("{}; go on with: braid readmode compare -n {name} --after {after}\n", so_far(whole))
}

/// A line that moves, where somebody looks at a terminal; nothing elsewhere.
struct Progress(Option<ProgressBar>);

impl Progress {
    fn new() -> Self {
        let seen = std::io::stderr().is_terminal();
        Self(seen.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())))
    }

    fn show(&self, whole: &CompareReadModeResponse) {
        if let Some(bar) = &self.0 {
            bar.set_message(so_far(whole));
            bar.tick();
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> CompareReadModeResponse {
        CompareReadModeResponse {
            splits: 2,
            pages: 3,
            records: 100,
            bytes: 2_048,
            differ: 0,
            differ_bytes: 0,
            next_page_token: "data_20260328/7/2/s".to_owned(),
        }
    }

    #[test]
    fn pages_add_up_and_the_sum_leads_nowhere() {
        let mut whole = CompareReadModeResponse::default();
        add(&mut whole, &page());
        add(&mut whole, &CompareReadModeResponse { differ: 1, differ_bytes: 9, ..page() });
        let expect = CompareReadModeResponse {
            splits: 4,
            pages: 6,
            records: 200,
            bytes: 4_096,
            differ: 1,
            differ_bytes: 9,
            next_page_token: String::new(),
        };
        assert_eq!(whole, expect);
        assert_eq!(verdict(&whole).map_err(|failure| failure.exit_code()), Err(8));
        assert!(verdict(&page()).is_ok());
    }

    #[test]
    fn people_are_told_what_it_came_to_and_how_to_go_on() {
        assert_eq!(
            summed_up("plays", &CompareReadModeResponse::default()),
            "there is no completed split to compare\n"
        );
        assert_eq!(summed_up("plays", &page()), "2 splits compared, 100 events of 2.0 KiB the same\n");
        let differs = CompareReadModeResponse { differ: 1, differ_bytes: 1_024, ..page() };
        assert_eq!(
            summed_up("plays", &differs),
            "2 splits compared, 100 events of 2.0 KiB the same; 1 split differs in 1.0 KiB and is out of use now; \
             look at what differs with: braid readmode mismatches -n plays\n"
        );
        let request = CompareReadModeRequest {
            namespace: "plays".to_owned(),
            page_size: 10,
            page_token: page().next_page_token,
        };
        assert_eq!(went_as_far_as(&request, &CompareReadModeResponse::default()), "");
        assert_eq!(
            went_as_far_as(&request, &page()),
            "2 splits compared, 100 events of 2.0 KiB the same; go on with: \
             braid readmode compare -n plays --after data_20260328/7/2/s\n"
        );
    }
}
