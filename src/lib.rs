pub mod client;
pub mod effect;
pub mod gemini;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod text;
pub mod turn;
