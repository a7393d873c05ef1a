import Foundation
import RejoinBindings

/// What a turn or a call failed with. Decide by ``kind``; ``details`` is for people who look for
/// the reason.
///
/// A stream of events does not throw it for a turn that failed: `.failed` is a value there.
/// ``Turn/answer()`` and ``RejoinClient/ask(_:)`` do, and so does whatever is given something that
/// cannot be used.
///
/// ```swift
/// do {
///     show(try await client.ask(request).text)
/// } catch let error as RejoinError where error.kind == .unreachable {
///     offerToTryAgain(error.partialText)
/// }
/// ```
public struct RejoinError: Error, Sendable, Hashable {
    /// Stable and coarse.
    public let kind: ErrorKind

    /// What happened, in English. Holds no key and no header's value.
    public let details: String

    /// What the turn's last event said, with the text that there is; absent where no turn was
    /// started.
    public let failure: Failure?

    /// The longest text shown at any time in the turn; empty where no turn was started.
    public var partialText: String { failure?.partialText ?? "" }

    /// The HTTP status of the answer that ended the turn, where it was no success.
    public var httpStatus: Int? { failure?.httpStatus.map(Int.init) }

    /// The error for the last event of a turn that failed.
    public init(_ failure: Failure) {
        let status = failure.httpStatus.map { ", HTTP \($0)" } ?? ""
        let details = failure.details.map { ": \($0)" } ?? ""
        self.init(
            kind: failure.kind, details: "\(failure.reason)\(status)\(details)", failure: failure)
    }

    init(kind: ErrorKind, details: String, failure: Failure? = nil) {
        self.kind = kind
        self.details = details
        self.failure = failure
    }

    static let broken = RejoinError(
        kind: .internal, details: "the turn ended without its last event: please report this")
}

extension RejoinError: LocalizedError, CustomStringConvertible {
    /// The kind and the details, in English: for logs.
    public var description: String { "\(kind) (\(details))" }

    /// As ``description``.
    public var errorDescription: String? { description }
}

/// A journal or an effect ledger that cannot do what was asked. Nothing was sent or begun.
public struct StorageError: Error, Sendable, Hashable {
    /// What is wrong, to decide by.
    public let problem: StorageProblem

    /// What happened, in English.
    public let details: String
}

extension StorageError: LocalizedError, CustomStringConvertible {
    /// The problem and the details, in English: for logs.
    public var description: String { "\(problem) (\(details))" }

    /// As ``description``.
    public var errorDescription: String? { description }
}

/// Runs a call of the generated code with its errors as ours.
func translating<Value>(_ call: () throws -> Value) throws -> Value {
    do {
        return try call()
    } catch let error as CallError {
        switch error {
        case .InvalidArgument(let details):
            throw RejoinError(kind: .invalidArgument, details: details)
        case .Storage(let problem, let details):
            throw StorageError(problem: problem, details: details)
        case .Internal(let details): throw RejoinError(kind: .internal, details: details)
        }
    } catch {
        throw RejoinError(kind: .internal, details: "\(error)")
    }
}
