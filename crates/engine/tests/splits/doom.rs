//! A layer that stops a worker for ever at one of its calls of the store, or fails the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use env::BoxFuture;
use store::ErrorKind;
use store::layer::{Call, Layer, Outcome};
use tokio::sync::Notify;

/// Where in a call a worker dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Before the store hears of it.
    Before,
    /// After the store has done it.
    After,
    /// It does not die: the store refuses this one call.
    Refused,
    /// It does not die: the store does it and is not heard.
    Unheard,
}

/// Lets so many calls through; the next never returns, or fails.
#[derive(Clone)]
pub(crate) struct Doom {
    left: Arc<AtomicUsize>,
    when: When,
    /// Told when it has happened.
    pub(crate) happened: Arc<Notify>,
}

impl Doom {
    pub(crate) fn after(calls: usize, when: When) -> Self {
        Self { left: Arc::new(AtomicUsize::new(calls)), when, happened: Arc::default() }
    }

    /// Lets so many more through.
    pub(crate) fn allow(&self, calls: usize) {
        self.left.store(calls, Ordering::Relaxed);
    }

    async fn for_ever(&self) {
        self.happened.notify_one();
        std::future::pending::<()>().await;
    }
}

impl Layer for Doom {
    async fn around<T: Outcome>(
        &self,
        _call: Call,
        next: BoxFuture<'static, store::Result<T>>,
    ) -> store::Result<T> {
        let is_last =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err();
        if !is_last {
            return next.await;
        }
        if matches!(self.when, When::After | When::Unheard) {
            let _unheard = next.await;
        }
        let kind = match self.when {
            When::Before | When::After => {
                self.for_ever().await;
                unreachable!("it never returns")
            }
            When::Refused => ErrorKind::Unavailable,
            When::Unheard => ErrorKind::Unknown,
        };
        self.allow(usize::MAX);
        self.happened.notify_one();
        Err(store::Error::new(kind, "not enough replicas answered"))
    }
}
