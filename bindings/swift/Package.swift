// swift-tools-version: 6.0
import PackageDescription

// Where the Rust library comes from: REJOIN_NATIVE.
//
//   (unset)      the released XCFramework. What an app gets.
//   xcframework  the one that ./xcframework.sh built, in build/.
//   host         a library for this machine in REJOIN_LIB_DIR. What ./test.sh uses.
let native = Context.environment["REJOIN_NATIVE"] ?? "released"

// Filled in by the release: the placeholder keeps an unreleased checkout from fetching anything.
let releaseURL = "https://example.invalid/rejoin/RejoinFFI.xcframework.zip"
let releaseChecksum = "0000000000000000000000000000000000000000000000000000000000000000"

let ffi: Target
var linking: [LinkerSetting] = []
switch native {
case "host":
    // The C header alone: the library itself is linked from the folder that Cargo built it into.
    ffi = .target(name: "RejoinFFI")
    let folder =
        Context.environment["REJOIN_LIB_DIR"] ?? "\(Context.packageDirectory)/../../target/debug"
    // Found at run time by LD_LIBRARY_PATH on Linux, by this path on a Mac.
    let runPath = ["-Xlinker", "-rpath", "-Xlinker", folder]
    linking = [
        .unsafeFlags(["-L\(folder)"]), .unsafeFlags(runPath, .when(platforms: [.macOS])),
        .linkedLibrary("rejoin"),
    ]
case "xcframework":
    ffi = .binaryTarget(name: "RejoinFFI", path: "build/RejoinFFI.xcframework")
case "released":
    ffi = .binaryTarget(name: "RejoinFFI", url: releaseURL, checksum: releaseChecksum)
default:
    fatalError("REJOIN_NATIVE is «\(native)»: leave it unset, or say host or xcframework")
}

let package = Package(
    name: "Rejoin",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [.library(name: "Rejoin", targets: ["Rejoin"])],
    targets: [
        ffi,
        // Generated: not clean in Swift 6 mode, so it keeps to 5.
        .target(
            name: "RejoinBindings",
            dependencies: ["RejoinFFI"],
            swiftSettings: [.swiftLanguageMode(.v5)],
            linkerSettings: linking
        ),
        .target(name: "Rejoin", dependencies: ["RejoinBindings"]),
        .testTarget(name: "RejoinTests", dependencies: ["Rejoin", "RejoinBindings"]),
    ],
    swiftLanguageModes: [.v6]
)
