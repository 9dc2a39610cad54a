//! A clock that can be advanced, to see a deadline pass without waiting.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use shared::clock::{Clock, SystemClock};

use crate::Error;
use crate::state::StateFile;

/// The clock stops here, so that the years of all derived times have four digits.
const END: DateTime<Utc> = match DateTime::from_timestamp(32_503_680_000, 0) {
    Some(year_3000) => year_3000,
    None => DateTime::<Utc>::MAX_UTC,
};

/// The system's clock plus an offset that only grows. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct OffsetClock(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    ahead: Mutex<Duration>,
    file: Option<StateFile>,
}

impl OffsetClock {
    /// Opens a clock with the offset stored in the file, by default zero. Later moves are stored in the file.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = StateFile::new(path);
        let ahead = Mutex::new(Duration::from_secs(file.load()?.unwrap_or(0)));
        Ok(Self(Arc::new(Inner { ahead, file: Some(file) })))
    }

    /// Moves the clock ahead by whole seconds and returns the new time.
    ///
    /// # Errors
    /// If the time would be after the year 2999, or the file cannot be written. The clock then stays unchanged.
    pub fn advance(&self, by: Duration) -> Result<DateTime<Utc>, Error> {
        let mut ahead = self.ahead();
        let moved = Duration::from_secs(ahead.as_secs().saturating_add(by.as_secs()));
        let now = at(moved).filter(|now| *now < END);
        let now = now.ok_or_else(|| Error::new("the clock does not go beyond the year 2999"))?;
        if let Some(file) = &self.0.file {
            file.store(&moved.as_secs())?;
        }
        *ahead = moved;
        Ok(now)
    }

    /// The offset from the system's clock.
    pub fn offset(&self) -> Duration {
        *self.ahead()
    }

    fn ahead(&self) -> MutexGuard<'_, Duration> {
        self.0.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for OffsetClock {
    fn now(&self) -> DateTime<Utc> {
        at(self.offset()).unwrap_or(END)
    }
}

/// The time of a clock with this offset.
fn at(ahead: Duration) -> Option<DateTime<Utc>> {
    SystemClock.now().checked_add_signed(TimeDelta::from_std(ahead).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Folder;

    const DAY: Duration = Duration::from_secs(86400);

    #[test]
    fn a_moved_clock_is_kept_for_the_next_run() {
        let folder = Folder::temporary().unwrap();
        let path = folder.path().join("clock.json");
        let clock = OffsetClock::open(&path).unwrap();
        assert!((clock.now() - SystemClock.now()).abs() < TimeDelta::minutes(1));
        clock.advance(DAY).unwrap();
        let now = clock.clone().advance(2 * DAY).unwrap();
        assert!((now - SystemClock.now() - TimeDelta::days(3)).abs() < TimeDelta::minutes(1));
        assert!(OffsetClock::open(&path).unwrap().now() >= now);
        assert_eq!(OffsetClock::open(&path).unwrap().offset(), 3 * DAY);
    }

    #[test]
    fn the_clock_stops_before_five_digit_years() {
        let clock = OffsetClock::default();
        let refusal = clock.advance(DAY * 365 * 1000).unwrap_err().to_string();
        assert!(refusal.contains("2999"), "{refusal}");
        assert!(clock.advance(Duration::MAX).is_err());
        assert_eq!(clock.offset(), Duration::ZERO);
    }

    #[test]
    fn a_file_that_would_move_it_back_is_named() {
        let folder = Folder::temporary().unwrap();
        let path = folder.path().join("clock.json");
        std::fs::write(&path, "-60").unwrap();
        let refusal = OffsetClock::open(&path).unwrap_err().to_string();
        assert!(refusal.contains("clock.json"), "{refusal}");
    }
}
