//! The one runtime on which all turns run, whatever runtime (or none) the caller has.

use std::sync::LazyLock;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Result<Runtime, String>> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        // Turns wait for the network nearly all of the time; two threads keep a slow one from
        // holding up another.
        .worker_threads(2)
        .thread_name("rejoin")
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
});

pub(super) fn runtime() -> Result<&'static Runtime, String> {
    RUNTIME.as_ref().map_err(Clone::clone)
}
