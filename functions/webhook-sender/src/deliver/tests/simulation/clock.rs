//! A virtual clock, which advances only while all futures wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use chrono::{DateTime, TimeDelta, Utc};

#[derive(Clone, Default)]
pub(super) struct VirtualClock(Arc<Mutex<Timers>>);

#[derive(Default)]
struct Timers {
    now: DateTime<Utc>,
    count: usize,
    waiting: BinaryHeap<Reverse<(DateTime<Utc>, usize)>>,
    wakers: std::collections::HashMap<usize, Waker>,
}

impl VirtualClock {
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.0.lock().unwrap().now
    }

    pub(super) fn advance_to(&self, moment: DateTime<Utc>) {
        let mut timers = self.0.lock().unwrap();
        timers.now = timers.now.max(moment);
    }

    pub(super) fn wait(&self, time: TimeDelta) -> Wait {
        Wait { clock: self.clone(), until: self.now() + time }
    }

    /// Runs a future to its end. Whenever it waits, the clock advances to the next moment that it waits for.
    pub(super) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            let waker = {
                let mut timers = self.0.lock().unwrap();
                let Reverse((at, number)) = timers.waiting.pop().expect("something to wait for");
                timers.now = timers.now.max(at);
                timers.wakers.remove(&number)
            };
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

pub(super) struct Wait {
    clock: VirtualClock,
    until: DateTime<Utc>,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.clock.0.lock().unwrap();
        if timers.now >= self.until {
            return Poll::Ready(());
        }
        timers.count += 1;
        let number = timers.count;
        timers.waiting.push(Reverse((self.until, number)));
        timers.wakers.insert(number, context.waker().clone());
        Poll::Pending
    }
}
