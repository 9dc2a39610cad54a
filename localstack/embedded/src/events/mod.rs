//! Starts functions as a deployment's stream, schedules and event bus do, according to the template.
//!
//! [`Events`] starts them on demand, for tests; its [`Background`] starts them continuously.

mod background;
mod bus;
mod delivery;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use shared::app::App;
use tokio::sync::Mutex;

pub(crate) use background::Background;

use crate::backend::{CreatedObjects, EventQueue};
use crate::function::invoke;
use crate::state::StateFile;
use crate::template::{RuleTrigger, ScheduleTrigger, StreamTrigger};
use crate::{Backend, Error, Function, StreamReader, Template};
use delivery::{deliver, sequence_number};

/// The functions' responses by logical id.
pub type Answers = BTreeMap<String, Result<Value, Error>>;

/// The maximum number of stream records per read.
const PAGE: usize = 1000;

/// The functions that events start, with their triggers. Clones share everything.
#[derive(Clone)]
pub struct Events(Arc<Inner>);

struct Inner {
    app: App,
    functions: HashMap<String, Function>,
    streams: Vec<Mutex<Mapping>>,
    schedules: Vec<ScheduleTrigger>,
    rules: Vec<RuleTrigger>,
    /// The functions started by the bucket's events, each with its undelivered events.
    objects: Vec<(String, Mutex<CreatedObjects>)>,
    /// The queues of external rules, with the functions that receive their events.
    queues: Vec<(String, EventQueue)>,
}

/// A stream, and the function that receives its records.
struct Mapping {
    trigger: StreamTrigger,
    reader: StreamReader,
    /// The file that stores the position with the data.
    file: Option<StateFile>,
}

impl Events {
    /// Connects the triggers of `template` to `functions`, by logical id. Reads the stream of the application's table
    /// from the position stored in the data folder, and uses the application's clock.
    ///
    /// # Errors
    /// If the template has an unsupported trigger or one of a missing function, or if the table has no stream.
    pub fn new(
        template: &Template,
        functions: &HashMap<String, Function>,
        backend: &Backend,
        app: &App,
    ) -> Result<Self, Error> {
        let triggers = template.triggers()?;
        let started = (triggers.streams.iter().map(|stream| &stream.function))
            .chain(triggers.schedules.iter().map(|schedule| &schedule.function))
            .chain(triggers.rules.iter().map(|rule| &rule.function));
        let functions = started.map(|name| {
            let missing = || Error::new(format!("a trigger has no function {name}"));
            Ok((name.clone(), functions.get(name).ok_or_else(missing)?.clone()))
        });
        let functions = functions.collect::<Result<_, Error>>()?;
        let streams = triggers.streams.into_iter().map(|trigger| {
            let mut reader = backend.stream(&app.config().table)?;
            let file = backend.kept(&format!("{}.json", trigger.name)).map(|path| StateFile::new(&path));
            if let Some(position) = file.as_ref().map(StateFile::load::<String>).transpose()?.flatten() {
                reader.advance_to(&position);
            }
            Ok(Mutex::new(Mapping { trigger, reader, file }))
        });
        let streams = streams.collect::<Result<_, Error>>()?;
        let (schedules, rules) = (triggers.schedules, triggers.rules);
        let bucket = app.config().bucket.as_deref();
        let bucket = bucket.ok_or_else(|| Error::new("the functions know no bucket"))?;
        let takers: BTreeSet<_> = rules.iter().map(|rule| rule.function.clone()).collect();
        let objects = takers.into_iter().map(|name| (name, Mutex::new(backend.created_objects(bucket))));
        let objects = objects.collect();
        let queues = Vec::new();
        Ok(Self(Arc::new(Inner { app: app.clone(), functions, streams, schedules, rules, objects, queues })))
    }

    /// Adds the functions of the rules that LocalStack runs for this table.
    ///
    /// # Errors
    /// If the data stack does not exist.
    pub(crate) fn with_queues(self, backend: &Backend) -> Result<Self, Error> {
        let (Some(services), Some(mut inner)) = (backend.services(), Arc::into_inner(self.0)) else {
            return Err(Error::new("only external services deliver events through queues"));
        };
        let functions: BTreeSet<_> = inner.rules.iter().map(|rule| rule.function.clone()).collect();
        let queues = functions.into_iter().map(|function| {
            let queue = EventQueue::find(services, &format!("{}-{function}", inner.app.config().table))?;
            Ok((function, queue))
        });
        inner.queues = queues.collect::<Result<_, Error>>()?;
        Ok(Self(Arc::new(inner)))
    }

    /// Invokes a function with each event in its queue. Failed events become visible again.
    async fn deliver_queued(&self, function: &str, queue: &EventQueue) -> Result<(), Error> {
        for queued in queue.receive()? {
            let settled = match invoke(self.function(function)?, &queued.event).await {
                Ok(_) => queue.done_with(&queued),
                Err(error) => {
                    tracing::error!(function, %error, "an event was given back");
                    queue.give_back(&queued)
                }
            };
            // Log the error only: the other events must not wait for the visibility timeout.
            if let Err(error) = settled {
                tracing::error!(function, %error, "the queue was not told what became of an event");
            }
        }
        Ok(())
    }

    /// Delivers new stream records to their functions until none is left, including records that the functions cause.
    /// Returns the number of deliveries: filtered records do not count, and a record that several functions receive
    /// counts for each.
    ///
    /// # Errors
    /// If records were given up after the template's retries, after delivering the others; or if the stream cannot be
    /// read.
    pub async fn deliver_stream(&self) -> Result<usize, Error> {
        let (mut delivered, mut given_up) = (0, None);
        loop {
            let before = delivered;
            for place in 0..self.0.streams.len() {
                let (count, failure) = self.deliver_mapping_while(place, || true).await?;
                delivered += count;
                given_up = given_up.or(failure);
            }
            if delivered == before {
                return given_up.map_or(Ok(delivered), Err);
            }
        }
    }

    /// Delivers the new records of one mapping while `go_on` returns true. Returns their number, and the first error if
    /// records were given up.
    async fn deliver_mapping_while(
        &self,
        place: usize,
        go_on: impl Fn() -> bool,
    ) -> Result<(usize, Option<Error>), Error> {
        let (mut delivered, mut given_up) = (0, None);
        let mut mapping = self.0.streams[place].lock().await;
        let function = self.function(&mapping.trigger.function)?;
        while go_on() {
            let records = mapping.reader.read(PAGE)?;
            let Some(last) = records.last().map(sequence_number) else { break };
            let last = last.to_owned();
            let wanted: Vec<_> = records.into_iter().filter(|record| mapping.wants(record)).collect();
            for batch in wanted.chunks(mapping.trigger.batch_size) {
                if !go_on() {
                    return Ok((delivered, given_up));
                }
                if let Err(error) = deliver(&self.0.app, function, &mapping.trigger, batch).await {
                    tracing::error!(mapping = mapping.trigger.name, %error, "records were given up");
                    given_up.get_or_insert(error);
                }
                delivered += batch.len();
                if let Some(record) = batch.last() {
                    mapping.done_with(sequence_number(record))?;
                }
            }
            mapping.done_with(&last)?;
        }
        Ok((delivered, given_up))
    }

    /// Runs every scheduled function, in the order of their names, and returns the responses.
    pub async fn run_schedules(&self) -> Answers {
        let mut schedules: Vec<_> = self.0.schedules.iter().collect();
        schedules.sort_unstable_by_key(|schedule| &schedule.function);
        schedules.dedup_by_key(|schedule| &schedule.function);
        let mut answers = Answers::new();
        for schedule in schedules {
            answers.insert(schedule.function.clone(), self.run_schedule(schedule).await);
        }
        answers
    }

    async fn run_schedule(&self, schedule: &ScheduleTrigger) -> Result<Value, Error> {
        let event = bus::scheduled(&schedule.name, self.0.app.now());
        invoke(self.function(&schedule.function)?, &event).await
    }

    /// Puts an event on the bus, and returns the responses of the functions that its rules start. An event needs
    /// `source`, `detail-type` and `detail`; other fields have defaults. Failed functions are not retried.
    ///
    /// # Errors
    /// If the event is malformed, or no rule matches it.
    pub async fn put_event(&self, event: Value) -> Result<Answers, Error> {
        let event = bus::completed(event, self.0.app.now())?;
        let answers = self.dispatch(&event).await?;
        if answers.is_empty() {
            return Err(Error::new(format!(
                "no rule takes events of source {} and detail-type {}",
                event["source"], event["detail-type"]
            )));
        }
        Ok(answers)
    }

    /// Delivers the events about new objects in the bucket to their functions. Returns the number of events. Failed
    /// functions are not retried.
    ///
    /// # Errors
    /// The first error, after delivering all events.
    pub async fn deliver_objects(&self) -> Result<usize, Error> {
        let (mut delivered, mut failed) = (0, None);
        for place in 0..self.0.objects.len() {
            match self.deliver_objects_while(place, || true).await {
                Ok(taken) => delivered += taken,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(delivered), Err)
    }

    /// Delivers the events of one function while `go_on` returns true.
    async fn deliver_objects_while(&self, place: usize, go_on: impl Fn() -> bool) -> Result<usize, Error> {
        let (function, objects) = &self.0.objects[place];
        let mut objects = objects.lock().await;
        let (mut delivered, mut failed) = (0, None);
        while go_on()
            && let Some(event) = objects.take()
        {
            let event = bus::completed(event, self.0.app.now())?;
            if !self.takers_of(&event).contains(function) {
                continue;
            }
            delivered += 1;
            if let Err(error) = invoke(self.function(function)?, &event).await {
                tracing::error!(function, %error, "an event about an object was given up");
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(delivered), Err)
    }

    /// Invokes the functions of all rules that match the event.
    async fn dispatch(&self, event: &Value) -> Result<Answers, Error> {
        let mut answers = Answers::new();
        for name in self.takers_of(event) {
            answers.insert(name.clone(), invoke(self.function(name)?, event).await);
        }
        Ok(answers)
    }

    /// The functions of all rules that match the event.
    fn takers_of(&self, event: &Value) -> BTreeSet<&String> {
        let rules = self.0.rules.iter().filter(|rule| rule.pattern.matches(event));
        rules.map(|rule| &rule.function).collect()
    }

    /// Starts functions continuously until the returned value is dropped.
    pub(crate) fn in_background(&self) -> Background {
        Background::start(self)
    }

    fn function(&self, name: &str) -> Result<&Function, Error> {
        self.0.functions.get(name).ok_or_else(|| Error::new(format!("there is no function {name}")))
    }
}

impl Mapping {
    fn wants(&self, record: &Value) -> bool {
        let filters = &self.trigger.filters;
        filters.is_empty() || filters.iter().any(|filter| filter.matches(record))
    }

    fn done_with(&mut self, sequence_number: &str) -> Result<(), Error> {
        self.reader.advance_to(sequence_number);
        self.file.as_ref().map_or(Ok(()), |file| file.store(&sequence_number))
    }
}

#[cfg(test)]
mod tests;
