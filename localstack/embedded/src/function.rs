//! Functions, run as Lambda does: JSON in, JSON out.

use lambda_http::{Context, LambdaEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use shared::app::App;
use shared::http::HttpService;
use shared::http::serve::event;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt, service_fn};

use crate::{Error, random};

/// A Lambda function: its event and its response are JSON.
pub type Function = BoxCloneSyncService<String, String, BoxError>;

/// Runs `service` in this process, behind the same conversions as in Lambda.
pub fn in_process(service: HttpService) -> Function {
    BoxCloneSyncService::new(service_fn(move |event: String| {
        let service = service.clone();
        async move {
            let mut context = Context::default();
            context.request_id = random::uuid();
            let answer = event::answer(service, LambdaEvent::new(serde_json::from_str(&event)?, context));
            Ok(serde_json::to_string(&answer.await?)?)
        }
    }))
}

/// Runs `handle` in this process, behind the same conversions as in Lambda.
pub fn in_process_event<E, A, F>(
    app: &App,
    handle: impl Fn(App, E) -> F + Clone + Send + Sync + 'static,
) -> Function
where
    E: DeserializeOwned + Send,
    A: Serialize,
    F: Future<Output = shared::Result<A>> + Send + 'static,
{
    let app = app.clone();
    BoxCloneSyncService::new(service_fn(move |event: String| {
        let (app, handle) = (app.clone(), handle.clone());
        async move {
            let event = serde_json::from_str(&event)?;
            // Boxed as in `shared::event`.
            let answer = Box::pin(handle(app, event)).await?;
            Ok(serde_json::to_string(&answer)?)
        }
    }))
}

/// Invokes a function in its own task: it continues if the caller stops waiting, and a panic ends only this invocation.
pub(crate) async fn invoke(function: &Function, event: &Value) -> Result<Value, Error> {
    let invocation = tokio::spawn(function.clone().oneshot(event.to_string()));
    let answer = invocation.await.map_err(Error::because("the function died"))?;
    let answer = answer.map_err(Error::because("the function failed"))?;
    serde_json::from_str(&answer).map_err(Error::because("the function's answer is not JSON"))
}
