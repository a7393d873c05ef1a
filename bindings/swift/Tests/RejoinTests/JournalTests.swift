import Foundation
import Testing

@testable import Rejoin

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Turns and effects that survive the process. The process that dies is `rejoin stream`.
extension All {
    @Suite(.timeLimit(.minutes(1))) struct JournalTests {
        let hangs =
            #"{"send": ["The first sentence. ", "And a seco", {"wait_ms": 500}, {"json": {"usageMetadata": {"candidatesTokenCount": 77}}}], "end": "hang"}"#
        let rest = #"{"send": ["And a second one.", {"finish": "STOP"}]}"#

        func folder() -> String {
            FileManager.default.temporaryDirectory
                .appendingPathComponent("rejoin-\(UUID().uuidString)").path
        }

        func kept(_ folder: String, _ text: String) -> Bool {
            let file = URL(fileURLWithPath: folder).appendingPathComponent("turns.redb")
            return (try? Data(contentsOf: file))?.range(of: Data(text.utf8)) != nil
        }

        /// A turn in a process of its own that is killed when its text is in the journal: when a
        /// count that came half a second later is on the disk, the commit before is whole.
        func killedTurn(_ url: String, _ folder: String, _ more: String...)
            async throws
        {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: setting("REJOIN_BIN"))
            process.arguments =
                [
                    "stream", "--base-url", url, "--model", "m", "--prompt", "hi", "--turn-id",
                    "t-1", "--events", "jsonl", "--journal", folder,
                ] + more
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            try await eventually("on the disk", within: .seconds(10)) {
                kept(folder, "\"candidatesTokenCount\":77")
            }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        func problem(_ call: () throws -> Void) -> StorageProblem? {
            do {
                try call()
                return nil
            } catch let error as StorageError { return error.problem } catch { return nil }
        }

        @Test("a turn of a killed process goes on here") func restored() async throws {
            let server = try FlakyServer(hangs, rest)
            let folder = folder()
            try await killedTurn(
                server.url, folder, "--set", "min_continue_tokens=1")
            let config = JournalConfig(folder: folder)
            let client = try RejoinClient(baseURL: server.url, journal: config)
            let listed = try #require(try client.journaled().first)
            #expect(listed.turnId == "t-1" && listed.model == "m" && !listed.over)
            let turn = try client.restore("t-1")
            var kinds: [EventKind] = []
            for try await event in turn.events { kinds.append(event.kind) }
            #expect(kinds.first == .text(text: "The first sentence. And a seco"))
            guard case .dropped(let cause, _, _, _, _, _, let decision) = kinds[1] else {
                throw Wrong("\(kinds)")
            }
            #expect(cause == .suspended && decision.strategy == .continue)
            let answer = try await turn.answer()
            #expect(answer.text == "The first sentence. And a second one.")
            #expect(answer.attempts.map(\.attempt) == [1, 2])
            #expect(turn.journalProblem == nil)

            // Over: told again, and forgotten when the app says so.
            #expect(try await client.restore("t-1").answer() == answer)
            try client.forget("t-1")
            #expect(problem { _ = try client.restore("t-1") } == .unknownTurn)
            let second = problem { _ = try RejoinClient(baseURL: server.url, journal: config) }
            #expect(second == .locked)
        }

        @Test("without text the request is needed again") func withoutText() async throws {
            let server = try FlakyServer(hangs, #"{"send": ["Anew.", {"finish": "STOP"}]}"#)
            let folder = folder()
            try await killedTurn(server.url, folder, "--journal-without-text")
            let config = JournalConfig(folder: folder, keepText: false)
            let client = try RejoinClient(baseURL: server.url, journal: config)
            #expect(problem { _ = try client.restore("t-1") } == .requestNeeded)
            let other = TurnRequest(model: "m", prompt: "ho")
            #expect(problem { _ = try client.restore("t-1", request: other) } == .anotherRequest)
            let same = TurnRequest(model: "m", prompt: "hi")
            #expect(try await client.restore("t-1", request: same).answer().text == "Anew.")
        }

        @Test("before the app is suspended its turn is on the disk") func suspended() async throws {
            let server = try FlakyServer(#"{"send": ["And a seco"], "end": "hang"}"#, rest)
            let folder = folder()
            let client = try RejoinClient(
                baseURL: server.url, journal: JournalConfig(folder: folder))
            let device = DeviceSignals()
            let turn = try client.start(TurnRequest(model: "m", prompt: "hi"))
            device.attach(turn)
            for try await event in turn.events
            where event.kind == .text(text: "And a seco") { break }
            await device.willSuspend()
            #expect(kept(folder, "And a seco"))
            device.resumed()
            for try await event in turn.events {
                guard case .dropped(let cause, _, _, _, _, _, _) = event.kind else { continue }
                #expect(cause == .suspended)
                break
            }
        }

        @Test("a client without a journal restores nothing") func none() throws {
            let client = try RejoinClient(baseURL: "http://127.0.0.1:9")
            #expect(try client.journaled() == [])
            #expect(problem { _ = try client.restore("t-1") } == .noJournal)
            #expect(problem { _ = try RejoinClient.fake { _ in }.restore("t-1") } == .noJournal)
        }

        @Test("a fake told of its device") func device() async throws {
            let turn = try RejoinClient.fake { $0.text("a") }.start(ask())
            let device = DeviceSignals()
            device.network(nil, metered: false)
            device.attach(turn)
            device.network("wifi", metered: false)
            device.network("cell", metered: true)
            await device.willSuspend()
            device.resumed()
            #expect(try await turn.answer().text == "a")
        }
    }

    @Suite(.timeLimit(.minutes(1))) struct LedgerTests {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("rejoin-\(UUID().uuidString)").path

        /// What another life of the app left: begun, and never finished.
        func begunBefore(_ key: String) async throws {
            let ledger = try DurableLedger(folder: folder)
            #expect(try await ledger.begin(key) == .fresh)
        }

        @Test("an effect runs once, also in another life") func once() async throws {
            let ran = Box(0)
            for _ in 0..<2 {
                let ledger = try DurableLedger(folder: folder)
                for _ in 0..<2 {
                    let result = try await ledger.once("k") {
                        "paid \(ran.with { $0 += 1; return $0 })"
                    }
                    #expect(result == "paid 1")
                }
            }
            #expect(ran.value == 1)
        }

        @Test("what may have happened is left to the rule") func rules() async throws {
            let rules: [(EffectRule, String?)] = [
                (.never, nil), (.retry, "ran"), (.ask { _ in .didNotHappen }, "ran"),
                (.ask { _ in .happened("seen") }, "seen"), (.ask { _ in .stillUnknown }, nil),
            ]
            for (n, (rule, expected)) in rules.enumerated() {
                try await begunBefore("k\(n)")
                let ledger = try DurableLedger(folder: folder)
                do {
                    let result = try await ledger.run("k\(n)", rule: rule) { "ran" }
                    #expect(result == expected)
                    #expect(try await ledger.begin("k\(n)") == .done(result: result))
                } catch let refused as EffectNotRun {
                    #expect(expected == nil && refused.key == "k\(n)")
                    guard case .unknown = refused.state else { throw refused }
                }
            }
        }

        @Test("what throws may have happened, and what waits gets the result")
        func throwing() async throws {
            let ledger = try DurableLedger(folder: folder)
            await #expect(throws: Wrong.self) {
                try await ledger.once("k") { throw Wrong("the server hung up") }
            }
            await #expect(throws: EffectNotRun.self) { try await ledger.once("k") { "again" } }
            #expect(try await ledger.unknown() == ["k"])
            try await ledger.neverHappened("k")
            let ran = Box(0)
            let results = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        try await ledger.once("k") {
                            let number = ran.with { $0 += 1; return $0 }
                            try await Task.sleep(for: .milliseconds(20))
                            return "\(number)"
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results == ["1", "1", "1", "1", "1"])
        }

        @Test("a damaged ledger says so until it is set aside") func damaged() async throws {
            try await begunBefore("k")
            // Whoever can open it finds it closed by those before.
            _ = try DurableLedger(folder: folder)
            let file = URL(fileURLWithPath: folder).appendingPathComponent("effects.redb")
            try Data(contentsOf: file).prefix(5000).write(to: file)
            for _ in 0..<2 {
                do {
                    _ = try DurableLedger(folder: folder)
                    throw Wrong("it opened")
                } catch let error as StorageError { #expect(error.problem == .damaged) }
            }
            let aside = try #require(try DurableLedger.setAside(folder: folder))
            #expect(try Data(contentsOf: URL(fileURLWithPath: aside)).count == 5000)
            #expect(try await DurableLedger(folder: folder).begin("k") == .fresh)
        }
    }
}
