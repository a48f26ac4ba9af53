//! What a write asks, without the write: for measuring what that costs. Nothing here decides; the path of a durable write
//! asks through the same functions, in the same order.

use std::time::Duration;

use env::Clock;
use model::{NamespaceName, Timestamp};

use super::accept::Accepting;
use super::place::PlacedEvent;
use super::prepare::{enter, wait_until_open};
use super::window::Window;
use crate::Result;
use crate::catalog::Catalog;

/// What is asked before the store calls, then what is asked behind them; how many events of these times would be
/// acknowledged.
pub(crate) async fn ask_as_write(
    catalog: &Catalog,
    clock: &dyn Clock,
    name: &NamespaceName,
    times: &[Timestamp],
) -> Result<usize> {
    let (dataset, standing) = enter(catalog, name).await?;
    let window = Window::of(&dataset, standing, clock.wall()).narrowed(Duration::ZERO);
    times.iter().try_for_each(|time| window.check(*time))?;
    wait_until_open(catalog, &dataset, times.iter().copied()).await?;
    let accepting = Accepting::at(catalog, name, dataset.namespace.incarnation, clock.wall())?;
    let events = times.iter().enumerate().map(|(index, time)| PlacedEvent { index, time: *time }).collect();
    Ok(accepting.part(events).0.len())
}
