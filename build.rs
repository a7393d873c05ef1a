//! Android 15 loads native libraries on devices with pages of 16 KB only if their segments are
//! aligned to that; NDKs before 28 align to 4 KB.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("android") {
        println!("cargo::rustc-link-arg=-Wl,-z,max-page-size=16384");
    }
}
