//! Generates the Kotlin and Swift bindings from a built library: `make bindings`.
//!
//! A binary of this crate, so that generator and scaffolding are always of the same version.

fn main() {
    uniffi::uniffi_bindgen_main();
}
