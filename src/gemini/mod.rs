//! The wire: what Gemini's streaming endpoints send and want, and nothing about turns.
//!
//! Bytes go in, responses and errors come out. Nothing here knows of attempts, retries or
//! sentences, does I/O or reads a clock.

mod bare;
mod error;
mod finish;
mod frame;
mod gzip;
mod part;
mod request;
mod response;
mod streamed_args;
mod usage;

pub use error::{ApiError, Refusal, RefusalKind};
pub use finish::{FinishClass, FinishReason, Verdict};
pub use frame::{FrameDecoder, FrameError, Tail};
pub use gzip::{Encoding, EncodingError};
pub use part::{CallFragment, Part, PartKind};
pub use request::{Body, BodyError, Continuation};
pub use response::{Malformed, Message, Response, read_messages};
pub use streamed_args::{ArgsError, StreamedArgs};
pub use usage::Usage;
