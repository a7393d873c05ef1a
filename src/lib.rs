pub mod client;
pub mod effect;
#[cfg(feature = "ffi")]
pub mod ffi;
pub mod gemini;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod text;
pub mod turn;

#[cfg(feature = "ffi")]
uniffi::setup_scaffolding!();
