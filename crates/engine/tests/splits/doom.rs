//! A layer that stops a worker for ever at one of its calls of the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use env::BoxFuture;
use store::layer::{Call, Layer, Outcome};
use tokio::sync::Notify;

/// Where in a call a worker dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Before the store hears of it.
    Before,
    /// After the store has done it.
    After,
}

/// Lets so many calls through; the next never returns.
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
        if self.when == When::After {
            let _unheard = next.await;
        }
        self.for_ever().await;
        unreachable!("it never returns")
    }
}
