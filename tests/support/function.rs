//! Runs a function's real binary as a process, and sends it events as Lambda would.

use std::ffi::OsStr;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tokio::process::{Child, Command};

use crate::runtime_api::{FunctionError, RuntimeApi};

/// The polling interval while a program runs.
const LOOK: Duration = Duration::from_millis(20);
/// The resolution of the processor times that Linux reports.
const TICKS_PER_SECOND: f64 = 100.0;

/// An execution environment of a function. Dropping it kills the process.
pub struct Function {
    api: RuntimeApi,
    process: Child,
    started: Stopwatch,
}

impl Function {
    /// Starts a command with these environment variables and those that Lambda always sets, but none of this process.
    /// Discards its standard output; its standard error is that of this process.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub async fn start<K: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut command: Command,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> io::Result<Self> {
        let api = RuntimeApi::start().await?;
        command
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", api.address().to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", "local")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_LOG_GROUP_NAME", "local")
            .env("AWS_LAMBDA_LOG_STREAM_NAME", "local")
            .env("AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "true")
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        let started = Stopwatch::start();
        let process = command.spawn()?;
        Ok(Self { api, process, started })
    }

    /// The time since the process was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns once the function requests its first event.
    ///
    /// # Errors
    /// If the process ends before, or reports that its initialisation failed.
    pub async fn ready(&mut self) -> Result<(), FunctionError> {
        tokio::select! {
            ready = self.api.first_poll() => ready,
            ended = self.process.wait() => Err(exited(ended)),
        }
    }

    /// Invokes the function and returns its response.
    ///
    /// # Errors
    /// If the function reports an error, takes longer than 30 seconds, or ends.
    pub async fn invoke(&mut self, event: &Value) -> Result<Value, FunctionError> {
        tokio::select! {
            answer = self.api.invoke(event) => answer,
            ended = self.process.wait() => Err(exited(ended)),
        }
    }

    /// Invokes the function and returns its response, which may take until `limit`.
    ///
    /// # Errors
    /// If the function reports an error, takes longer, or ends.
    pub async fn invoke_within(&mut self, event: &Value, limit: Duration) -> Result<Value, FunctionError> {
        tokio::select! {
            answer = self.api.invoke_within(event, limit) => answer,
            ended = self.process.wait() => Err(exited(ended)),
        }
    }

    /// Stops the process once it requests its next event, as Lambda does.
    ///
    /// # Errors
    /// If the process cannot be signalled.
    pub async fn freeze(&self) -> io::Result<()> {
        self.api.next_poll().await;
        if let Some(id) = self.process.id() {
            Command::new("sh").args(["-c", "kill -STOP \"$0\""]).arg(id.to_string()).status().await?;
        }
        Ok(())
    }

    /// The process's identifier; `None` once it has ended.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// The peak memory of the process in kilobytes.
    pub fn peak_kilobytes(&self) -> u64 {
        self.process.id().map(peak_kilobytes).unwrap_or_default()
    }

    /// The processor time of all threads of the process so far.
    pub fn processor_time(&self) -> Duration {
        self.process.id().map(processor_time).unwrap_or_default()
    }

    /// Kills the process and waits for its end.
    ///
    /// # Errors
    /// If the process cannot be signalled.
    pub async fn kill(mut self) -> io::Result<()> {
        self.process.kill().await
    }

    /// Ends the process with SIGTERM, as Lambda does, and waits for its end.
    ///
    /// # Errors
    /// If the process cannot be signalled.
    pub async fn terminate(mut self) -> io::Result<ExitStatus> {
        if let Some(id) = self.process.id() {
            Command::new("sh").args(["-c", "kill \"$0\""]).arg(id.to_string()).status().await?;
        }
        self.process.wait().await
    }
}

/// Waits until a program ends. Returns its processor time in seconds and its peak memory in kilobytes.
///
/// # Errors
/// If waiting fails.
pub async fn watch(run: &mut std::process::Child) -> io::Result<(f64, u64)> {
    let (mut ticks, mut peak) = (0.0, 0);
    while run.try_wait()?.is_none() {
        peak = peak.max(peak_kilobytes(run.id()));
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", run.id())).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let both: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
        ticks = both.max(ticks);
        #[expect(clippy::disallowed_methods, reason = "another process goes on in real time")]
        tokio::time::sleep(LOOK).await;
    }
    Ok((ticks / TICKS_PER_SECOND, peak))
}

/// The peak memory of a process in kilobytes; 0 once it has ended.
pub fn peak_kilobytes(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The processor time of all threads of a process so far; 0 once it has ended.
fn processor_time(id: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let statistics = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        statistics.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

fn exited(status: io::Result<ExitStatus>) -> FunctionError {
    match status {
        Ok(status) => FunctionError::new("Runtime.ExitError", status),
        Err(error) => FunctionError::new("Runtime.ExitError", error),
    }
}

/// A queue event with one message.
pub fn queue_event(body: &Value) -> Value {
    json!({ "Records": [{ "messageId": "local", "body": body.to_string(), "eventSource": "aws:sqs" }] })
}

/// An API Gateway event in payload format 2.0, from the `$default` route, without a body.
pub fn http_event(method: &str, path: &str, headers: Value) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": "hr.example",
            "domainPrefix": "hr",
            "http": {
                "method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "test",
            },
            "requestId": "local",
            "routeKey": "$default",
            "stage": "$default",
            "time": "08/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1_794_139_200_000_u64,
        },
        "isBase64Encoded": false,
    })
}
