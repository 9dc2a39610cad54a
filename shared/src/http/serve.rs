//! Runs a group of routes as a Lambda function.

use lambda_runtime::service_fn;

use super::{Routes, event};
use crate::Outcome;
use crate::app::App;
use crate::store::Store;
use crate::telemetry;

/// Answers API Gateway events with `routes` until the execution environment ends.
///
/// # Errors
/// When a setting is missing, or the Lambda runtime interface fails.
pub fn serve(routes: Routes) -> Outcome {
    run(routes, Store::warm_up)
}

/// The same for routes that do not use the table.
///
/// # Errors
/// When a setting is missing, or the Lambda runtime interface fails.
pub fn serve_without_table(routes: Routes) -> Outcome {
    run(routes, async |_: &App| ())
}

/// One thread is enough: an execution environment handles one request at a time, and a multi-threaded runtime nearly
/// doubles the CPU time of a warm request.
fn run(routes: Routes, prepare: impl AsyncFnOnce(&App)) -> Outcome {
    let app = App::from_environment()?;
    telemetry::install(app.config().metrics_namespace.as_deref());
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        prepare(&app).await;
        let service = routes.into_service(app);
        lambda_runtime::run(service_fn(|event| event::answer(service.clone(), event))).await
    })
}
