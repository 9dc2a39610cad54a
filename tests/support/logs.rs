//! The log of this process. Each line is kept until a test reads it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use shared::telemetry;

use crate::caller::PASSWORD;

/// The log line of one request.
#[derive(Debug, Clone, Deserialize)]
pub struct RequestLog {
    pub method: String,
    /// The route with its parameters' names, or `unknown`.
    pub route: String,
    /// The status of the response.
    pub status: u16,
    /// DynamoDB calls, including retries.
    pub dynamodb_calls: u32,
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// The caller's company; empty without a caller.
    pub company: String,
    /// The caller; empty without one.
    pub caller: String,
    /// The customer who acts on behalf of the caller.
    pub on_behalf_by: Option<String>,
    /// The candidate or customer in the path.
    pub person: Option<String>,
    /// The cause of a server error.
    pub cause: Option<String>,
}

static LINES: LazyLock<Mutex<HashMap<String, Value>>> = LazyLock::new(|| {
    telemetry::install_to(|| Writer);
    Mutex::default()
});

thread_local! {
    /// The lines that this thread has logged, except those of requests. A single-threaded test finds only its own
    /// lines.
    static OTHERS: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// Makes this process log to memory.
pub fn install() {
    LazyLock::force(&LINES);
}

/// Records everything that this process logs until it is dropped.
pub struct Recording {
    from: usize,
}

/// The lines logged while at least one recording is active.
struct Tape {
    recordings: usize,
    text: String,
}

static TAPE: Mutex<Tape> = Mutex::new(Tape { recordings: 0, text: String::new() });

fn tape() -> MutexGuard<'static, Tape> {
    TAPE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    /// Starts to record.
    pub fn start() -> Self {
        install();
        let mut tape = tape();
        tape.recordings += 1;
        Self { from: tape.text.len() }
    }

    /// The lines logged since the start, including those of concurrent tests.
    pub fn text(&self) -> String {
        tape().text[self.from..].to_owned()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let mut tape = tape();
        tape.recordings -= 1;
        if tape.recordings == 0 {
            tape.text = String::new();
        }
    }
}

/// Finds a secret in a line by the prefixes of secrets, or the password of all users in tests.
fn leak(line: &str) -> Option<&str> {
    let known = ["ivt_", "ivs_", "ivk_", "ivo_", "ivn_", "ivg_", "whsec_", "$argon2", PASSWORD];
    let found = known.iter().find_map(|secret| line.find(secret))?;
    Some(&line[found..])
}

/// The log line of the request with this identifier.
///
/// # Panics
/// If there is none, or it lacks a required field.
#[track_caller]
pub fn line_of(request_id: &str) -> RequestLog {
    let line = lines().get(request_id).cloned();
    let line = line.unwrap_or_else(|| panic!("no log line of request {request_id}"));
    serde_json::from_value(line.clone()).unwrap_or_else(|error| panic!("{error} in log line {line}"))
}

/// Takes the lines that this thread has logged about `target` since the last call. Only for single-threaded tests.
pub fn take_lines(target: &str) -> Vec<Value> {
    OTHERS.with_borrow_mut(|lines| lines.extract_if(.., |line| line["target"] == target).collect())
}

fn lines() -> MutexGuard<'static, HashMap<String, Value>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The subscriber writes whole lines.
        let text = String::from_utf8_lossy(line);
        if let Some(leak) = leak(&text) {
            panic!("the log tells a secret: {leak}");
        }
        {
            let mut tape = tape();
            if tape.recordings > 0 {
                tape.text.push_str(&text);
            }
        }
        let event: Value = serde_json::from_slice(line)?;
        match event["request_id"].as_str() {
            Some(id) => {
                let id = id.to_owned();
                lines().insert(id, event);
            }
            None => {
                if event["level"] != "INFO" {
                    // The test runner shows this if the test fails.
                    eprint!("{}", String::from_utf8_lossy(line));
                }
                OTHERS.with_borrow_mut(|lines| lines.push(event));
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
