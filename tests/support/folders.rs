//! Where test data lies: the project's own, and a shared folder that may be there.

use std::path::PathBuf;

/// A folder below the shared one (`$REJOIN_SHARED`, else `../shared`); says so where it is absent.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REJOIN_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = root.join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// A path below `tests`.
pub fn own(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}
