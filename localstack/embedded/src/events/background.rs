//! Follows the stream, the bucket and the queues, and keeps the schedules, as in a deployment.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::Events;
use crate::backend::GRACE;
use crate::template::ScheduleTrigger;

/// The polling interval of the bucket, and of the stream for each mapping.
const POLL: Duration = Duration::from_millis(150);
/// The polling interval of a queue.
const POLL_QUEUE: Duration = Duration::from_millis(500);

/// Tasks that start functions. Dropping this value aborts them; [`stop`](Self::stop) waits for invocations in progress.
pub(crate) struct Background {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Background {
    pub(super) fn start(events: &Events) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        // Separate tasks, because a webhook may be slow and a conversion takes minutes.
        for place in 0..events.0.streams.len() {
            tasks.spawn(follow_stream(place, events.clone(), stopped.clone()));
        }
        for place in 0..events.0.objects.len() {
            tasks.spawn(follow_bucket(place, events.clone(), stopped.clone()));
        }
        for schedule in &events.0.schedules {
            tasks.spawn(keep_to(schedule.clone(), events.clone(), stopped.clone()));
        }
        for place in 0..events.0.queues.len() {
            tasks.spawn(follow_queue(place, events.clone(), stopped.clone()));
        }
        Self { stop, tasks }
    }

    /// Stops starting functions, and waits at most two seconds for those in progress.
    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!("a function that an event had started was still under way at the stop");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
async fn follow_stream(place: usize, events: Events, mut stopped: watch::Receiver<bool>) {
    let running = stopped.clone();
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(POLL) => {}
        }
        // Given-up records are already in the log.
        if let Err(error) = events.deliver_mapping_while(place, || !*running.borrow()).await {
            tracing::error!(%error, "the stream is behind");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
async fn follow_bucket(place: usize, events: Events, mut stopped: watch::Receiver<bool>) {
    let running = stopped.clone();
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(POLL) => {}
        }
        // Failures are already in the log.
        let _ = events.deliver_objects_while(place, || !*running.borrow()).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
async fn follow_queue(place: usize, events: Events, mut stopped: watch::Receiver<bool>) {
    let (function, queue) = &events.0.queues[place];
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(POLL_QUEUE) => {}
        }
        if let Err(error) = events.deliver_queued(function, queue).await {
            tracing::error!(function, %error, "a queue is behind");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
async fn keep_to(schedule: ScheduleTrigger, events: Events, mut stopped: watch::Receiver<bool>) {
    let mut times = tokio::time::interval_at(Instant::now() + schedule.every, schedule.every);
    times.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            _ = times.tick() => {}
        }
        if let Err(error) = events.run_schedule(&schedule).await {
            tracing::error!(schedule = schedule.name, %error, "a scheduled run failed");
        }
    }
}
