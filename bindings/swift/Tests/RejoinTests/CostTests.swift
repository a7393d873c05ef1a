import Foundation
import RejoinBindings
import Testing

@testable import Rejoin

extension All {
    /// What a turn costs at the border to Rust, at three event rates.
    @Suite(.timeLimit(.minutes(1))) struct CostTests {
        @Test(
            "at most sixty reads a second, whatever the event rate", arguments: [18, 30, 300, 3000])
        func reads(rate: Int) async throws {
            let server = PlainServer { connection in
                connection.stream()
                let began = Date()
                for number in 0..<rate {
                    connection.text("w\(number) ")
                    let due = began.addingTimeInterval(Double(number + 1) / Double(rate))
                    if due > Date() { Thread.sleep(until: due) }
                }
                connection.stop()
            }
            let source = Counting(
                try client(server.url, .patient("finish_grace_ms", 0)).start(ask()))
            var reader = PacedReader(source: source, after: 0)
            var events: [TurnEvent] = []
            let began = ContinuousClock.now
            while let batch = try await reader.next() { events += batch }
            let seconds = (.now - began).ms / 1000
            try expectWhole(events)
            let (calls, spent) = source.counted.value
            let each = spent.ms * 1000 / Double(events.count)
            print(
                "cost at \(rate) events/s: \(Int(Double(calls) / seconds)) reads/s,",
                "\(String(format: "%.1f", each)) µs per event")
            // Two more: the first read begins a frame, and the last one may cut its frame short.
            #expect(Double(calls) <= 60 * seconds + 2)
        }
    }
}

/// Counts the reads, and measures those that do not wait.
private final class Counting: TurnSource {
    let turn: Turn
    let counted = Box((calls: 0, spent: Duration.zero))

    init(_ turn: Turn) { self.turn = turn }

    var id: String { turn.source.id }
    var frame: Duration { turn.source.frame }
    var isOver: Bool { turn.source.isOver }

    func soFar(after cursor: Int64) throws -> EventBatch {
        let began = ContinuousClock.now
        let batch = try turn.source.soFar(after: cursor)
        counted.with { $0 = ($0.calls + 1, $0.spent + (.now - began)) }
        return batch
    }

    func next(after cursor: Int64) async throws -> EventBatch {
        counted.with { $0.calls += 1 }
        return try await turn.source.next(after: cursor)
    }

    func waitUntilOver() async throws { try await turn.source.waitUntilOver() }
    func lastEvent() throws -> TurnEvent? { try turn.source.lastEvent() }
    func snapshot() throws -> Snapshot { try turn.source.snapshot() }
    func dropLog() throws -> [String] { try turn.source.dropLog() }
    func recording() throws -> String? { try turn.source.recording() }
    func signal(_ signal: Signal) { turn.signal(signal) }
    func cancel() { turn.cancel() }
}
