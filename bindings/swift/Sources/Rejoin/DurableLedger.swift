import Dispatch
import RejoinBindings

/// What to do with an effect that was begun and never finished: perhaps it has happened.
public enum EffectRule: Sendable {
    /// Never run it again: ``EffectNotRun`` is thrown. For what must not happen twice.
    case never
    /// Run it again. For what does no harm twice, or whose server knows effect keys.
    case retry
    /// Find out: ask a server, or the user.
    case ask(@Sendable (_ key: String) async throws -> Finding)

    /// What the app found out.
    public enum Finding: Sendable, Hashable {
        /// It has happened, with this result: it is recorded, and not run.
        case happened(String)
        /// It has not happened: it is run.
        case didNotHappen
        /// That cannot be found out: ``EffectNotRun`` is thrown.
        case stillUnknown
    }
}

/// An effect was not run, because it may have happened already.
public struct EffectNotRun: Error, Sendable, Hashable {
    /// Its effect key.
    public let key: String

    /// How the ledger knows it: `.unknown`, or `.inFlight` where somebody else runs it.
    public let state: EffectState
}

/// A ledger that survives the process: that an effect is begun is on the disk before its tool runs.
/// Keep one for the app. Safe to use from any thread; files are read and written off Swift's own
/// threads.
public final class DurableLedger: EffectLedger {
    private let native: NativeLedger
    private let rule: EffectRule
    private let running = Locked<[String: Waiters]>([:])

    /// Opens the ledger of a folder, or begins one. Reads a file.
    ///
    /// - Parameters:
    ///   - folder: one of the app alone, in Application Support; not in an app group, whose locks
    ///     get a suspended app killed.
    ///   - rule: what ``once(_:_:)`` does with an effect of which nobody knows whether it happened.
    /// - Throws: ``StorageError`` if it cannot be opened. One that is `.damaged` is left as it is:
    ///   see ``setAside(folder:)``.
    public init(folder: String, rule: EffectRule = .never) throws {
        native = try translating { try NativeLedger.open(folder: folder) }
        self.rule = rule
    }

    /// Renames the ledger of a folder that is `.damaged`, so that the next one begins empty, and
    /// gives the new name; nil where there was none. Effects of before look fresh then: keep old
    /// turns from running theirs.
    ///
    /// - Throws: ``StorageError`` with `.locked` while somebody has it open.
    public static func setAside(folder: String) throws -> String? {
        try translating { try setLedgerAside(folder: folder) }
    }

    /// As ``EffectLedger/once(_:_:)``, also across deaths of the process: an effect that was begun
    /// in another life and never finished is left to the rule.
    ///
    /// - Throws: ``EffectNotRun`` where it may have happened, and the rule does not allow to run it;
    ///   ``StorageError`` where it cannot be recorded: it was not run.
    public func once(_ key: String, _ effect: @Sendable () async throws -> String) async throws
        -> String
    {
        try await run(key, rule: rule, effect)
    }

    /// ``once(_:_:)`` for a call of a tool, with a rule for that tool.
    public func run(
        _ call: ToolCall, rule: EffectRule, _ effect: @Sendable () async throws -> String
    ) async throws -> String {
        try await run(call.effectKey, rule: rule, effect)
    }

    /// ``once(_:_:)`` with a rule of its own. What `effect` throws makes the effect unknown, since it
    /// may have happened before.
    public func run(
        _ key: String, rule: EffectRule, _ effect: @Sendable () async throws -> String
    ) async throws -> String {
        try await takeTurn(key)
        defer { running.with { $0.removeValue(forKey: key) }?.wake() }
        let state = try await begin(key)
        switch state {
        case .fresh: return try await perform(key, effect)
        case .done(let result): return result
        case .inFlight: throw EffectNotRun(key: key, state: state)
        case .unknown: break
        }
        switch rule {
        case .never: throw EffectNotRun(key: key, state: state)
        case .retry: break
        case .ask(let find):
            switch try await find(key) {
            case .didNotHappen: break
            case .stillUnknown: throw EffectNotRun(key: key, state: state)
            case .happened(let result):
                try await done(key, result)
                return result
            }
        }
        try await beginAgain(key)
        return try await perform(key, effect)
    }

    /// Of callers with one key, one at a time.
    private func takeTurn(_ key: String) async throws {
        while true {
            let (line, mine) = running.with { running in
                if let line = running[key] { return (line, false) }
                let line = Waiters()
                running[key] = line
                return (line, true)
            }
            if mine { return }
            await line.wait { [running] in running.with { $0[key] === line } }
            try Task.checkCancellation()
        }
    }

    private func perform(_ key: String, _ effect: @Sendable () async throws -> String) async throws
        -> String
    {
        let result: String
        do {
            result = try await effect()
        } catch {
            try translating { try native.giveUp(key: key) }
            throw error
        }
        try await done(key, result)
        return result
    }

    /// Asks for an effect before its tool runs. Only `.fresh` is a leave to run it; an error is none.
    /// ``run(_:rule:_:)-(String,_,_)`` does all of this.
    public func begin(_ key: String) async throws -> EffectState {
        try await onDisk { try $0.begin(key: key) }
    }

    /// Records that an effect has happened, also one in an unknown state.
    public func done(_ key: String, _ result: String) async throws {
        try await onDisk { try $0.done(key: key, result: result) }
    }

    /// Leave to run an effect in an unknown state once more.
    public func beginAgain(_ key: String) async throws {
        try await onDisk { try $0.beginAgain(key: key) }
    }

    /// The app knows that the effect has not happened: it is fresh again.
    public func neverHappened(_ key: String) async throws {
        try await onDisk { try $0.neverHappened(key: key) }
    }

    /// The keys of all effects in an unknown state.
    public func unknown() async throws -> [String] {
        try await onDisk { try $0.unknown() }
    }

    /// Forgets effects that are done and were begun longer ago than `ageMs` milliseconds, and gives
    /// their number. Choose an age beyond which no turn is restored.
    @discardableResult
    public func forgetDone(ageMs: Int64) async throws -> Int {
        Int(try await onDisk { try $0.forgetDone(ageMs: ageMs) })
    }

    /// Swift's own threads are few and must not wait for a disk. What was begun there is finished
    /// there, whether the task is cancelled or not.
    private func onDisk<Value: Sendable>(
        _ call: @escaping @Sendable (NativeLedger) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [native] in
                continuation.resume(with: Result { try translating { try call(native) } })
            }
        }
    }
}

extension Answer {
    /// ``runTools(ledger:_:)`` with a rule per call for effects of which nobody knows whether they
    /// happened.
    ///
    /// - Throws: ``EffectNotRun`` where a rule does not allow to run one. Results up to there are in
    ///   the ledger, so that running again repeats none of them.
    public func runTools(
        ledger: DurableLedger, rule: @escaping @Sendable (ToolCall) -> EffectRule,
        _ run: @escaping @Sendable (ToolCall) async throws -> String
    ) async throws -> ToolRun {
        let byKey = Dictionary(toolCalls.map { ($0.effectKey, $0) }) { first, _ in first }
        let ruled = RuledLedger(ledger: ledger) { key in byKey[key].map(rule) ?? .never }
        return try await runTools(ledger: ruled, run)
    }
}

private struct RuledLedger: EffectLedger {
    let ledger: DurableLedger
    let rule: @Sendable (String) -> EffectRule

    func once(_ key: String, _ effect: @Sendable () async throws -> String) async throws -> String {
        try await ledger.run(key, rule: rule(key), effect)
    }
}
