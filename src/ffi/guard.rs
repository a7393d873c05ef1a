//! A panic must not cross into Kotlin or Swift as anything but a typed error.

use super::error::CallError;
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a call. The core is left as it was before the call or the turn is over: neither can be
/// seen half-done from here, so that going on after a panic is sound.
pub(super) fn guard<T>(call: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// The same for an async call: each poll is guarded.
pub(super) async fn guard_async<T>(
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let mut call = std::pin::pin!(call);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)))
            .unwrap_or_else(|panic| std::task::Poll::Ready(Err(panicked(&*panic))))
    })
    .await
}

fn panicked(panic: &(dyn Any + Send)) -> CallError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned());
    CallError::Internal { details: format!("a bug in Rejoin, please report it: {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_typed_error_in_sync_and_async_calls() {
        let sync: Result<(), _> = guard(|| panic!("sync {}", 1));
        let Err(CallError::Internal { details }) = sync else { panic!("{sync:?}") };
        assert!(details.ends_with("sync 1"), "{details}");

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let in_async: Result<(), _> = runtime.block_on(guard_async(async {
            tokio::task::yield_now().await;
            panic!("async")
        }));
        let Err(CallError::Internal { details }) = in_async else { panic!("{in_async:?}") };
        assert!(details.ends_with("async"), "{details}");
    }
}
