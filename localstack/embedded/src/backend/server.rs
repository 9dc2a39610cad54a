//! A server on the loopback interface with its own thread and runtime.
//!
//! It has its own, because SQLite blocks its thread and a test's runtime ends with the test.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::Error;

/// How long requests in progress may take after a stop.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// A running server. Dropping it stops the server and waits for its end.
pub(crate) struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Resolves when the server must stop.
#[derive(Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    pub(crate) async fn requested(mut self) {
        // An error means that the sender was dropped, which also stops the server.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

impl Server {
    /// Runs `serve` on `port`, or on a free port if that one is 0 or taken. The port accepts connections at once, even
    /// before `serve` runs.
    pub(crate) fn start<F>(
        name: &'static str,
        workers: usize,
        port: u16,
        serve: impl FnOnce(TcpListener, Stop) -> F + Send + 'static,
    ) -> Result<Self, Error>
    where
        F: Future<Output = ()>,
    {
        let failed = || format!("cannot start {name}");
        let bind = |port| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = bind(port).or_else(|_| bind(0)).map_err(Error::because(failed()))?;
        listener.set_nonblocking(true).map_err(Error::because(failed()))?;
        let address = listener.local_addr().map_err(Error::because(failed()))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .thread_name(name)
            .enable_all()
            .build()
            .map_err(Error::because(failed()))?;
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener).map_err(Error::because(failed()))?
        };
        let (stop, stopped) = watch::channel(false);
        let work = move || {
            runtime.block_on(async {
                let stopped = Stop(stopped);
                let overdue = async {
                    stopped.clone().requested().await;
                    #[expect(clippy::disallowed_methods, reason = "a limit of the stop, in real time")]
                    tokio::time::sleep(GRACE).await;
                };
                tokio::select! {
                    () = serve(listener, stopped.clone()) => {}
                    () = overdue => {}
                }
            });
            runtime.shutdown_timeout(GRACE);
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        Ok(Self { address, stop, thread: Some(thread.map_err(Error::because(failed()))?) })
    }

    /// The server's port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of the server, such as `http://127.0.0.1:40123`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(address = %self.address, "a server of the back end panicked");
        }
    }
}
