pub mod effect;
pub mod gemini;
