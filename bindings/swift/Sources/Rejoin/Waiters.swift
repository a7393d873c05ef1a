import Foundation

/// A value behind a lock. iOS 16 has no `Mutex` yet.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// Tasks that wait for something. A cancelled task stops waiting at once: `Task.cancel` does not
/// reach Rust, so nobody awaits a call of the library directly where it could take long.
final class Waiters: Sendable {
    private struct State {
        var next: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<UInt64> = []
    }

    private let state = Locked(State())

    /// Waits for ``wake()``. `stillWanted` is asked after the place in the line is taken under the
    /// same lock as `wake()` takes, so that what it looks at cannot change unnoticed in between.
    func wait(while stillWanted: @Sendable () -> Bool) async {
        let id = state.with { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.with { state in
                    guard !state.cancelled.contains(id), stillWanted() else { return false }
                    state.waiting[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.with { state in
                state.cancelled.insert(id)
                return state.waiting.removeValue(forKey: id)
            }
            continuation?.resume()
        }
        _ = state.with { $0.cancelled.remove(id) }
    }

    func wake() {
        let woken = state.with { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        woken.forEach { $0.resume() }
    }
}
