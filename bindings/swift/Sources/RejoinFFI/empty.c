// SwiftPM wants a C target to have a source file; the code is in the Rust library.
#include "RejoinFFI.h"
