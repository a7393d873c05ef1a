//! `--help` names what can be given.

use super::support::rejoin;

#[test]
fn each_subcommand_explains_its_options() {
    for (args, options) in [
        (
            &["--help"][..],
            &["demo", "stream", "serve-flaky", "advise", "replay", "checkpoint", "Exit status"][..],
        ),
        (&["demo", "--help"], &["--scenario", "--list", "--speed"]),
        (
            &["stream", "--help"],
            &[
                "--base-url",
                "--model",
                "--prompt",
                "--request",
                "--system",
                "--api-key-env",
                "GEMINI_API_KEY",
                "--header",
                "--turn-id",
                "--events",
                "jsonl",
                "--set",
                "--policy",
                "--control",
                "network_lost",
                "min_continue_tokens 200",
                "Exit status",
            ],
        ),
        (&["serve-flaky", "--help"], &["--script", "--listen", "--network"]),
        (
            &["advise", "--help"],
            &[
                "--input-price",
                "--output-price",
                "--seam-price",
                "--threshold",
                "--simulate",
                "--html",
            ],
        ),
        (&["checkpoint", "--help"], &["committed_utf16"]),
    ] {
        let ran = rejoin(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        for option in options {
            assert!(ran.out.contains(option), "{args:?} says nothing of {option}");
        }
    }
    assert_eq!(rejoin(&["--version"]).out, concat!("rejoin ", env!("CARGO_PKG_VERSION"), "\n"));
}
