//! Runs a handler of events as a Lambda function.

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::app::App;
use crate::error::Result;
use crate::telemetry;

/// Handles events until the execution environment ends. Fails if a setting is missing, or if the Lambda runtime API
/// does.
pub fn serve<E, O>(handle: impl AsyncFn(&App, E) -> Result<O>) -> Outcome
where
    E: DeserializeOwned,
    O: Serialize,
{
    let app = App::from_environment()?;
    telemetry::install(app.config().metrics_namespace.as_deref());
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let service = service_fn(async |event: LambdaEvent<E>| {
            // Boxed: the compiler cannot lay out a future that holds all futures nested in a handler.
            let outcome = Box::pin(handle(&app, event.payload)).await;
            outcome.map_err(|error| Diagnostic {
                error_type: error.status().as_str().to_owned(),
                error_message: error.to_string(),
            })
        });
        lambda_runtime::run(service).await
    })
}

/// EventBridge's event about a new object in the bucket.
#[derive(Debug, Deserialize)]
pub struct ObjectCreated {
    /// The event's identifier, the same for each redelivery.
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
