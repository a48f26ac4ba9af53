//! What operators do to splits by hand.

use model::{NamespaceName, PartitionKey};
use split::{Origin, Record, SplitId, State, Why};

use super::detect::is_closed;
use super::held::{Held, Stop};
use super::list::{no_slice, shown};
use super::records::{Stored, changed};
use super::splits::{Splits, layout_of};
use crate::catalog::{Dataset, Known, SplitsChange};
use crate::request::{Split, SplitAsk};
use crate::view::Cause;
use crate::{Error, Reason, Result};

impl Splits {
    /// One split.
    pub(crate) async fn get(&self, name: &NamespaceName, id: &str) -> Result<Split> {
        let dataset = self.catalog.find_or_look(name).await?;
        Ok(shown(self.stored(&dataset, id).await?.1))
    }

    async fn stored(&self, dataset: &Dataset, text: &str) -> Result<(SplitId, Stored)> {
        let id = self.id(dataset, text)?;
        let found = self.catalog.split_record(&id).await?;
        let stored = found.ok_or_else(|| {
            let name = dataset.namespace.name.as_str();
            let message = format!("namespace `{name}` has no split `{id}`; see `braid split list -n {name}`");
            Error::new(Reason::SplitNotFound, message)
        })?;
        Ok((id, stored))
    }

    /// Asks for a partition to be split.
    pub(crate) async fn create(
        &self,
        name: &NamespaceName,
        (table, partition): (&str, &PartitionKey),
        asked: SplitAsk,
        cause: &Cause,
    ) -> Result<Split> {
        let dataset = self.catalog.find_or_look(name).await?;
        let layout = layout_of(&dataset, table).ok_or_else(|| no_slice(&dataset, table))?;
        let (time_buckets, event_buckets) =
            (layout.shape.time_buckets(layout.slice), u32::from(layout.shape.buckets_per_id));
        if partition.time_bucket >= time_buckets || partition.event_bucket >= event_buckets {
            let problem =
                format!("the slice has {time_buckets} time buckets and {event_buckets} event buckets");
            return Err(Error::field("partition", problem));
        }
        if !is_closed(&dataset, &layout, partition.time_bucket, self.env.clock.wall()) {
            let message = "events of this partition's time may still be accepted; split it when they are not, or \
                           wait: a read that finds it wide makes it a candidate for then";
            return Err(Error::new(Reason::SplitNotImmutable, message));
        }
        let incarnation = dataset.namespace.incarnation;
        let id = SplitId {
            namespace: name.clone(),
            incarnation,
            time_slice: table.to_owned(),
            partition: partition.clone(),
        };
        let server = self.catalog.me.id();
        let at = self.moment(&server);
        match self.catalog.split_record(&id).await? {
            Some(stored) => self.want_again(&id, stored, asked, cause).await,
            None => {
                let end = layout.bucket_interval(partition.time_bucket).end();
                let origin = Origin { id: id.clone(), end, bytes_read: None };
                let fresh = Record::candidate(origin, true, Some(by_hand(cause)), at);
                let fresh = Record { asked_layout: asked.layout, ..fresh };
                if asked.validate_only {
                    return Ok(shown(Stored { record: fresh, version: store::MetaVersion(0) }));
                }
                let made = self.catalog.make_split(&id, fresh).await?;
                self.work.notify_one();
                Ok(shown(made))
            }
        }
    }

    /// Tries again what failed, was rejected or retired; makes a completed one anew where a layout is asked for.
    pub(crate) async fn retry(
        &self,
        name: &NamespaceName,
        id: &str,
        asked: SplitAsk,
        cause: &Cause,
    ) -> Result<Split> {
        let dataset = self.catalog.find_or_look(name).await?;
        let (id, stored) = self.stored(&dataset, id).await?;
        self.want_again(&id, stored, asked, cause).await
    }

    async fn want_again(
        &self,
        id: &SplitId,
        stored: Stored,
        asked: SplitAsk,
        cause: &Cause,
    ) -> Result<Split> {
        let server = self.catalog.me.id();
        let at = self.moment(&server);
        if stored.record.state == State::Completed && asked.layout.is_some() {
            let anew = stored.record.retiring_to_begin_again(asked.layout, by_hand(cause), at);
            return self.take_out_of_use(id, (stored, anew), asked.validate_only, cause).await;
        }
        let again = stored.record.wanted_again(asked.layout, by_hand(cause), at);
        let Some(again) = again else { return Err(refused(id, stored.record.state)) };
        self.change(id, stored, again, asked.validate_only).await
    }

    async fn change(&self, id: &SplitId, stored: Stored, next: Record, validate_only: bool) -> Result<Split> {
        let version = if validate_only {
            Some(stored.version)
        } else {
            self.catalog.put_split(id, Some(&stored), &next).await?
        };
        let version = version.ok_or_else(|| changed(id))?;
        self.work.notify_one();
        Ok(shown(Stored { record: next, version }))
    }

    /// Takes a completed split out of use.
    pub(crate) async fn retire(
        &self,
        name: &NamespaceName,
        id: &str,
        validate_only: bool,
        cause: &Cause,
    ) -> Result<Split> {
        let dataset = self.catalog.find_or_look(name).await?;
        let (id, stored) = self.stored(&dataset, id).await?;
        if stored.record.state != State::Completed {
            return Err(refused(&id, stored.record.state));
        }
        let server = self.catalog.me.id();
        let retiring = stored.record.retiring(by_hand(cause), self.moment(&server));
        self.take_out_of_use(&id, (stored, retiring), validate_only, cause).await
    }

    async fn take_out_of_use(
        &self,
        id: &SplitId,
        (stored, retiring): (Stored, Record),
        validate_only: bool,
        cause: &Cause,
    ) -> Result<Split> {
        let split = self.change(id, stored, retiring, validate_only).await?;
        if !validate_only {
            // Audited, and known by all; a worker does the rest.
            self.publish(&id.namespace, id.incarnation, false, Some(cause)).await?;
        }
        Ok(split)
    }

    /// Compares a completed split with its origin, now.
    pub(crate) async fn verify(&self, name: &NamespaceName, id: &str) -> Result<Split> {
        let dataset = self.catalog.find_or_look(name).await?;
        let (id, stored) = self.stored(&dataset, id).await?;
        if stored.record.state != State::Completed {
            return Err(refused(&id, stored.record.state));
        }
        let Some(_running) = self.take(&id) else { return Err(changed(&id)) };
        let mut held = Held::new(self, id.clone(), stored);
        match Box::pin(self.recheck(&mut held)).await {
            Ok(_) => Ok(shown(held.into_stored())),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Failed(why) | Stop::Rejected(why)) => {
                Err(Error::new(Reason::SplitRefused, format!("{id} could not be compared: {}", why.message)))
            }
            Err(Stop::Lost) => Err(changed(&id)),
            Err(Stop::Left) => {
                let message =
                    "splits of the namespace are paused; go on with `braid split resume`, then compare";
                Err(Error::new(Reason::SplitRefused, message))
            }
        }
    }

    /// Compares a split again because a read found a difference; whether it is still in use. Differences take it out of use.
    pub(crate) async fn look_again(&self, id: &SplitId) -> Result<bool> {
        let Some(stored) = self.catalog.split_record(id).await? else { return Ok(false) };
        if stored.record.state != State::Completed {
            return Ok(false);
        }
        let Some(_running) = self.take(id) else { return Ok(true) };
        let mut held = Held::new(self, id.clone(), stored);
        match Box::pin(self.recheck(&mut held)).await {
            Ok(equal) => Ok(equal),
            Err(Stop::Error(error)) => Err(error),
            Err(_) => Ok(held.record().state == State::Completed),
        }
    }

    /// Takes a split out of use because reads of its targets differ from those of its origin, though what is stored may not.
    pub(crate) async fn condemn(&self, id: &SplitId, message: String) -> Result<()> {
        let stored = self.catalog.split_record(id).await?;
        let Some(stored) = stored.filter(|stored| stored.record.state == State::Completed) else {
            return Ok(());
        };
        self.metrics.mismatched();
        let server = self.catalog.me.id();
        let why = Why::new(split::Reason::Mismatch, message);
        let retiring = stored.record.retiring(why, self.moment(&server));
        if self.catalog.put_split(id, Some(&stored), &retiring).await?.is_some() {
            self.work.notify_one();
        }
        self.publish(&id.namespace, id.incarnation, true, None).await?;
        Ok(())
    }

    /// Makes workers leave namespaces alone, or go on.
    pub(crate) async fn set_paused(
        &self,
        name: Option<&NamespaceName>,
        paused: bool,
        cause: &Cause,
    ) -> Result<Vec<NamespaceName>> {
        let names = match name {
            Some(name) => vec![self.catalog.find_or_look(name).await?.namespace.name.clone()],
            None => self.catalog.all().iter().map(|dataset| dataset.namespace.name.clone()).collect(),
        };
        for name in &names {
            let decide =
                |known: &Known, epoch| known.find(name)?.change_splits(SplitsChange::Paused(paused), epoch);
            self.catalog.change(Some(cause), decide).await?;
        }
        Ok(names)
    }
}

fn by_hand(cause: &Cause) -> Why {
    let message = match (cause.author.as_str(), cause.reason.as_str()) {
        ("", "") => "asked for by hand".to_owned(),
        ("", reason) => format!("asked for by hand: {reason}"),
        (author, "") => format!("asked for by {author}"),
        (author, reason) => format!("asked for by {author}: {reason}"),
    };
    Why::new(split::Reason::ByHand, message)
}

fn refused(id: &SplitId, state: State) -> Error {
    let message = match state {
        State::Completed => {
            format!("{id} is completed; ask for a layout to make it anew, or retire it first")
        }
        State::Expired => format!("the slice of {id} was dropped; there is nothing left to split"),
        state if state.is_attempt() => format!("{id} is being split; see `braid split watch`"),
        state => format!("{id} is {}; only a completed split can be compared or retired", state.as_str()),
    };
    Error::new(Reason::SplitRefused, message)
}
