//! How many reads of a namespace run at a time, and what its reads have taught.
//!
//! A read beyond the limit waits; where too many wait already it is refused at once, in place of an answer that would come too late.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use env::Clock;
use model::NamespaceName;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ahead::Density;
use crate::{Error, Reason, Result};

/// Limits on the reads of one namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Reads that run at the same time.
    pub running: usize,
    /// Reads that wait for one of those to end; further ones are refused.
    pub waiting: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { running: 64, waiting: 256 }
    }
}

/// Where all reads come in.
pub(crate) struct Desk {
    limits: ReadLimits,
    /// Of namespaces that exist, or did when they were last read.
    by_namespace: RwLock<BTreeMap<NamespaceName, Arc<Window>>>,
}

/// Where those of one namespace do.
pub(crate) struct Window {
    limits: ReadLimits,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    learned: Mutex<Option<Density>>,
}

/// A place among the reads that run, until it is dropped.
pub(crate) struct Place {
    window: Arc<Window>,
    _permit: OwnedSemaphorePermit,
}

impl Desk {
    pub(crate) fn new(limits: ReadLimits) -> Self {
        Self { limits, by_namespace: RwLock::default() }
    }

    /// The window of a namespace that exists.
    pub(crate) fn window(&self, name: &NamespaceName) -> Arc<Window> {
        let known = self.by_namespace.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(window) = known.get(name) {
            return Arc::clone(window);
        }
        drop(known);
        let mut known = self.by_namespace.write().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            Arc::new(Window {
                limits: self.limits,
                places: Arc::new(Semaphore::new(self.limits.running)),
                waiting: AtomicUsize::new(0),
                learned: Mutex::default(),
            })
        };
        Arc::clone(known.entry(name.clone()).or_insert_with(make))
    }

    /// Forgets a namespace that was deleted.
    pub(crate) fn forget(&self, name: &NamespaceName) {
        self.by_namespace.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

/// One that waits, as long as it does.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Window {
    /// A place among the reads that run; refused where too many wait for one, or none was free for so long.
    pub(crate) async fn enter(self: Arc<Self>, clock: &dyn Clock, patience: Duration) -> Result<Place> {
        let permit = self.permit(clock, patience).await?;
        Ok(Place { window: self, _permit: permit })
    }

    async fn permit(&self, clock: &dyn Clock, patience: Duration) -> Result<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(permit);
        }
        let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if ahead >= self.limits.waiting {
            return Err(self.refused(ahead));
        }
        tokio::select! {
            biased;
            permit = Arc::clone(&self.places).acquire_owned() => permit.map_err(|_| self.refused(ahead)),
            () = clock.sleep(patience) => Err(self.refused(ahead)),
        }
    }

    fn refused(&self, waiting: usize) -> Error {
        let message = format!(
            "{} reads of this namespace are running and {waiting} more wait; send it again a moment later, and fewer at a time",
            self.limits.running
        );
        Error::new(Reason::RateLimited, message)
    }
}

impl Place {
    /// What groups of the namespace have given so far.
    pub(crate) fn learned(&self) -> Option<Density> {
        *self.window.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what is known after one more page. Of two pages that end together one is forgotten, which does no harm.
    pub(crate) fn learn(&self, known: Option<Density>) {
        if known.is_some() {
            *self.window.learned.lock().unwrap_or_else(PoisonError::into_inner) = known;
        }
    }
}

#[cfg(test)]
mod tests {
    use env::ManualClock;

    use super::*;

    fn window(running: usize, waiting: usize) -> Arc<Window> {
        Desk::new(ReadLimits { running, waiting }).window(&NamespaceName::new("n").unwrap())
    }

    #[tokio::test]
    async fn a_read_waits_for_its_place_and_one_too_many_is_refused_at_once() {
        let (window, clock) = (window(1, 1), ManualClock::default());
        let wait = Duration::from_secs(1);
        let enter = || Arc::clone(&window).enter(&clock, wait);
        let first = enter().await.unwrap();
        let mut second = Box::pin(enter());
        assert!(futures::poll!(&mut second).is_pending());
        let error = enter().await.err().unwrap();
        assert_eq!(error.reason(), Reason::RateLimited);
        assert!(
            error.to_string().contains("1 reads of this namespace are running and 1 more wait"),
            "{error}"
        );
        drop(first);
        let second = second.await.unwrap();
        drop(second);
        assert!(enter().await.is_ok());
    }

    #[tokio::test]
    async fn whoever_waited_in_vain_or_gave_up_leaves_its_place_to_others() {
        let (window, clock) = (window(1, 1), ManualClock::default());
        let enter = || Arc::clone(&window).enter(&clock, Duration::from_secs(1));
        let _first = enter().await.unwrap();
        let mut second = Box::pin(enter());
        assert!(futures::poll!(&mut second).is_pending());
        drop(second);
        let mut third = Box::pin(enter());
        assert!(futures::poll!(&mut third).is_pending());
        clock.advance(Duration::from_secs(1));
        assert_eq!(third.await.err().unwrap().reason(), Reason::RateLimited);
        assert_eq!(window.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn what_was_learned_is_kept_until_the_namespace_is_forgotten() {
        let (desk, name) = (Desk::new(ReadLimits::default()), NamespaceName::new("n").unwrap());
        let clock = ManualClock::default();
        let enter = || desk.window(&name).enter(&clock, Duration::from_secs(1));
        enter().await.unwrap().learn(Density::of(2, 10, 100));
        enter().await.unwrap().learn(None);
        assert_eq!(enter().await.unwrap().learned(), Some(Density { rows: 5.0, bytes: 50.0 }));
        desk.forget(&name);
        assert_eq!(enter().await.unwrap().learned(), None);
    }
}
