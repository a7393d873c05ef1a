import Foundation

#if canImport(Glibc)
    import Glibc
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
    import Darwin
    private let streamSocket = SOCK_STREAM
#endif

/// A server that lets a test see its requests and when the client closes the socket. On threads of
/// its own: nothing here blocks Swift's pool.
final class PlainServer: @unchecked Sendable {
    /// One request and the socket it came on.
    struct Connection: Sendable {
        let socket: Int32
        let head: String

        func header(_ name: String) -> String? {
            let line = head.components(separatedBy: "\r\n").first {
                $0.lowercased().hasPrefix("\(name):")
            }
            return line?.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
        }

        func stream() { write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n") }

        func status(_ status: Int) { write("HTTP/1.1 \(status) No\r\ncontent-length: 0\r\n\r\n") }

        func text(_ text: String) {
            event(#"{"candidates":[{"content":{"parts":[{"text":"\#(text)"}]}}]}"#)
        }

        func thought(_ text: String) {
            event(#"{"candidates":[{"content":{"parts":[{"text":"\#(text)","thought":true}]}}]}"#)
        }

        func stop() { event(#"{"candidates":[{"finishReason":"STOP"}]}"#) }

        func event(_ json: String) { write("data: \(json)\r\n\r\n") }

        private func write(_ text: String) {
            let bytes = Array(text.utf8)
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    send(socket, $0.baseAddress! + sent, bytes.count - sent, 0)
                }
                // A client that goes away in mid-write is what many tests want.
                guard count > 0 else { return }
                sent += count
            }
        }

        /// Silent until the client closes; false if it does not within five seconds.
        func untilClosed() -> Bool {
            var limit = timeval(tv_sec: 5, tv_usec: 0)
            setsockopt(
                socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, 0)
            return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        }
    }

    let url: String
    private let listener: Int32
    private let seen = Box<[Connection]>([])

    var requests: [Connection] { seen.value }

    init(_ respond: @escaping @Sendable (Connection, _ request: Int) -> Void) {
        signal(SIGPIPE, SIG_IGN)
        listener = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(listener, address, size)
                getsockname(listener, address, &size)
            }
        }
        listen(listener, 50)
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread { [seen] in
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { return }
                Thread.detachNewThread {
                    defer { close(socket) }
                    var on: Int32 = 1
                    setsockopt(
                        socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on,
                        socklen_t(MemoryLayout<Int32>.size))
                    guard let head = Self.readRequest(socket) else { return }
                    let connection = Connection(socket: socket, head: head)
                    let number = seen.with { seen in
                        seen.append(connection)
                        return seen.count
                    }
                    respond(connection, number)
                }
            }
        }
    }

    convenience init(_ respond: @escaping @Sendable (Connection) -> Void) {
        self.init { connection, _ in respond(connection) }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Waits for the first request.
    func request() async throws { try await eventually("a request") { !self.requests.isEmpty } }

    private static func readRequest(_ socket: Int32) -> String? {
        var bytes: [UInt8] = []
        func more(until done: () -> Bool) -> Bool {
            var byte: UInt8 = 0
            while !done() {
                guard recv(socket, &byte, 1, 0) == 1 else { return false }
                bytes.append(byte)
            }
            return true
        }
        guard more(until: { bytes.suffix(4) == [13, 10, 13, 10] }) else { return nil }
        let head = String(decoding: bytes, as: UTF8.self)
        let length = head.lowercased().components(separatedBy: "content-length:").dropFirst().first?
            .prefix { $0 != "\r\n" && $0 != "\r" }.trimmingCharacters(in: .whitespaces)
        let whole = bytes.count + (length.flatMap(Int.init) ?? 0)
        return more(until: { bytes.count >= whole }) ? head : nil
    }
}
