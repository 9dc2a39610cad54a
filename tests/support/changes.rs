//! The changes of a table, from its stream.

use embedded::StreamReader;
use serde_json::Value;

use crate::app::TestApp;

/// Reads the changes of a test's table in order, except those of sessions, which come and go with callers.
pub struct TableChanges(StreamReader);

impl TableChanges {
    pub(crate) fn of(app: &TestApp) -> Self {
        Self(app.backend().stream(&app.app().config().table).expect("a stream"))
    }

    /// The changes since the last call, as records of the stream.
    ///
    /// # Panics
    /// If the back end fails.
    pub fn take(&mut self) -> Vec<Value> {
        let mut changes = Vec::new();
        loop {
            let records = self.0.read(1000).expect("records");
            let Some(last) = records.last() else { return changes };
            self.0.advance_to(last["dynamodb"]["SequenceNumber"].as_str().expect("a number"));
            changes.extend(records.into_iter().filter(|record| !is_of_session(record)));
        }
    }
}

fn is_of_session(record: &Value) -> bool {
    record["dynamodb"]["Keys"]["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("SESSION#"))
}
