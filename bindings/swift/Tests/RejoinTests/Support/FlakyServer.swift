import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The flaky server as a process of its own (`rejoin serve-flaky`): the library that an app ships
/// need not carry it, and nothing is shared with the client under test.
final class FlakyServer: @unchecked Sendable {
    let url: String
    private let process = Process()

    init(script: URL) throws {
        process.executableURL = URL(fileURLWithPath: setting("REJOIN_BIN"))
        process.arguments = ["serve-flaky", "--script", script.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = ""
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first,
            byte != UInt8(ascii: "\n")
        {
            line.append(Character(UnicodeScalar(byte)))
        }
        guard line.hasPrefix("listening on http://") else {
            throw Wrong("serve-flaky said «\(line)»")
        }
        url = String(line.dropFirst("listening on ".count))
    }

    /// A server for responses written in the test.
    convenience init(_ responses: String...) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "rejoin-\(UUID().uuidString).json")
        let script = """
            {"name":"\(file.deletingPathExtension().lastPathComponent)","about":"","request":{"prompt":"x"},
             "server":[\(responses.joined(separator: ","))],"expect":{"end":"completed"}}
            """
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try self.init(script: file)
    }

    /// By SIGKILL: a process started from a thread of Swift's pool has inherited that thread's
    /// blocked signals, and SIGTERM (`terminate()`) never reaches it.
    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
