//! The smallest function over HTTP: what the start of the others is compared with.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}

async fn hello(_: Request) -> Result<Response<Body>, Error> {
    Ok(Response::builder()
        .header("content-type", "application/json")
        .body(r#"{"message":"hello"}"#.into())?)
}
