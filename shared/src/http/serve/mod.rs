//! Runs a group of routes as a Lambda function.

pub mod event;
pub mod mounts;
pub(super) mod origin;
pub(super) mod request;
pub(crate) mod routes;
pub(crate) mod unread;

use lambda_runtime::service_fn;

use super::HttpService;
use crate::LambdaResult;
use crate::app::App;
use crate::store::Store;
use crate::telemetry;

/// Makes the HTTP service of a group of routes.
// A function instead of a route table: the table is generic, so each program that uses it would compile all handlers again.
pub type MakeService = fn(App) -> HttpService;

/// Answers API Gateway events with a group's service until the execution environment ends. Fails if a setting is
/// missing or the Lambda runtime API fails.
pub fn serve(make_service: MakeService) -> LambdaResult {
    run(make_service, Store::warm_up)
}

/// Answers API Gateway events like [`serve`], for routes that do not use DynamoDB.
pub fn serve_without_table(make_service: MakeService) -> LambdaResult {
    run(make_service, async |_: &App| ())
}

fn run(make_service: MakeService, prepare: impl AsyncFnOnce(&App)) -> LambdaResult {
    let app = App::from_environment()?;
    telemetry::install(app.config());
    // One thread is enough: an execution environment handles one request at a time, and a multi-threaded runtime nearly
    // doubles the CPU time of a warm request.
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        // Prepare the clients now, so that the first request need not wait for them.
        prepare(&app).await;
        let service = make_service(app);
        lambda_runtime::run(service_fn(|event| event::answer(service.clone(), event))).await
    })
}
