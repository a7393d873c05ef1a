pub mod effect;
pub mod gemini;
pub mod text;
pub mod turn;
