//! Events, which no HTTP request brings: runs a handler of them as a Lambda function.

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::app::App;
use crate::error::Result;
use crate::telemetry;

/// Answers each event by `handle` until the execution environment ends.
///
/// # Errors
/// When a setting is missing, or the Lambda runtime interface fails.
pub fn serve<E, O>(handle: impl AsyncFn(&App, E) -> Result<O>) -> Outcome
where
    E: DeserializeOwned,
    O: Serialize,
{
    let app = App::from_environment()?;
    telemetry::install(app.config().metrics_namespace.as_deref());
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let service = service_fn(async |event: LambdaEvent<E>| {
            // Boxed: handlers nest so many futures that the compiler gives up on laying out one that holds them all.
            let outcome = Box::pin(handle(&app, event.payload)).await;
            outcome.map_err(|error| Diagnostic {
                error_type: error.status().as_str().to_owned(),
                error_message: error.to_string(),
            })
        });
        lambda_runtime::run(service).await
    })
}

/// An object that was put into the bucket, as EventBridge tells of it.
#[derive(Debug, Deserialize)]
pub struct ObjectCreated {
    /// The event's own identifier, the same when it comes again.
    pub id: String,
    detail: Detail,
}

#[derive(Debug, Deserialize)]
struct Detail {
    object: Object,
}

#[derive(Debug, Deserialize)]
struct Object {
    key: String,
}

impl ObjectCreated {
    /// The object's key.
    pub fn key(&self) -> &str {
        &self.detail.object.key
    }
}
