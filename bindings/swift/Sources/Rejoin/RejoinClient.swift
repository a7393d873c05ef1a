import RejoinBindings

/// Starts turns. Keep one for the app: its turns share connections. Safe to use from any thread.
///
/// ```swift
/// let client = try RejoinClient(apiKey: key)
/// let request = TurnRequest(model: "gemini-2.5-flash", prompt: "Why is the sky blue?")
/// for try await event in client.stream(request) {
///     print(event)
/// }
/// ```
public struct RejoinClient: Sendable {
    private let starting: @Sendable (TurnRequest) throws -> any TurnSource
    private let spending: @Sendable () throws -> Spend
    /// Absent for fakes, which keep no journal.
    private let native: NativeClient?

    init(
        native: NativeClient? = nil,
        starting: @escaping @Sendable (TurnRequest) throws -> any TurnSource,
        spending: @escaping @Sendable () throws -> Spend
    ) {
        self.native = native
        self.starting = starting
        self.spending = spending
    }

    /// A client over the native library. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - apiKey: sent as `x-goog-api-key`; appears in no event, no error and no log.
    ///   - baseURL: where requests go; Google's endpoint by default. `/v1beta` is added unless
    ///     the URL has a version in its path.
    ///   - headers: for every attempt. Their values count as secrets.
    ///   - headerProvider: asked before **each attempt**, with its number from 1: App Check and
    ///     OAuth tokens expire between attempts. It may block, is never called on the main thread,
    ///     and what it throws makes the attempt count as not sent: it is tried again by the policy.
    ///   - extraRootPEMs: root certificates (PEM) beside the built-in ones.
    ///   - policy: the numbers that steer all turns; what is left out keeps its default.
    ///   - budget: what all turns together may cost; looked at before each attempt. Once it is
    ///     used up, a turn fails as `.spendUsedUp` with what it has, and a new one sends nothing.
    ///   - allowPlainHTTP: lets requests go to another machine without TLS. Whoever is on the way
    ///     can read the key then. Loopback needs no permission.
    ///   - journal: where turns are kept so that they survive the process: opening it takes some
    ///     milliseconds. One client of one process at a time; a file that cannot be read is put
    ///     aside.
    /// - Throws: ``RejoinError`` of kind `.invalidArgument` for settings that cannot be used;
    ///   ``StorageError`` if the journal cannot be opened.
    public init(
        apiKey: String? = nil,
        baseURL: String? = nil,
        headers: [String: String] = [:],
        headerProvider: (@Sendable (_ attempt: Int) throws -> [String: String])? = nil,
        extraRootPEMs: [String] = [],
        policy: Policy? = nil,
        budget: Budget? = nil,
        allowPlainHTTP: Bool = false,
        journal: JournalConfig? = nil
    ) throws {
        let settings = ClientSettings(
            baseUrl: baseURL, apiKey: apiKey, headers: headers, extraRootPems: extraRootPEMs,
            policy: policy, budget: budget, allowPlainHttp: allowPlainHTTP, journal: journal)
        let provider = headerProvider.map(ProviderAdapter.init)
        let native = try translating { try NativeClient(settings: settings, headers: provider) }
        self.init(
            native: native,
            starting: { request in
                try NativeTurnSource(translating { try native.start(request: request) })
            },
            spending: { try translating { try native.spent() } })
    }

    /// What the attempts of all turns of this client have cost so far, as far as anybody can know:
    /// `lowerBound` says whether a broken attempt may have cost more than it told.
    ///
    /// - Throws: ``RejoinError`` of kind `.internal` for a bug of the library.
    public func spent() throws -> Spend { try spending() }

    /// One answer as a cold sequence: each iteration is a turn of its own.
    ///
    /// The sequence ends after `.completed` or `.failed`, which are values, not errors. When its
    /// reader goes away earlier, the turn is cancelled and its connection closed: at once if the
    /// task is cancelled while it waits for an event, and as soon as the loop is left (`break`,
    /// `throw`) or asks for the next event otherwise. To keep it instead, ``start(_:)`` a turn and
    /// read ``Turn/events``.
    ///
    /// Throws, on iteration, `CancellationError` if the task is cancelled and ``RejoinError`` of
    /// kind `.invalidArgument` if the request cannot be used.
    public func stream(_ request: TurnRequest) -> TurnEvents {
        TurnEvents(batches: EventBatches(client: self, request: request))
    }

    /// Starts a turn and returns at once. The turn belongs to the caller: it runs on while nobody
    /// reads, until it is over, cancelled, or no longer held.
    ///
    /// - Throws: ``RejoinError`` of kind `.invalidArgument` if the request cannot be used;
    ///   nothing is sent.
    public func start(_ request: TurnRequest) throws -> Turn { Turn(try starting(request)) }

    /// Goes on with a turn that another process began and this client's journal kept: what was there
    /// comes at once, then a `.dropped` with `.suspended`, and the turn goes on as after any drop.
    /// Attempts and drops of before count. A turn that was over tells its end again, and nothing is
    /// sent. Reads a file for some milliseconds: not for the main actor.
    ///
    /// - Parameters:
    ///   - turnId: the turn.
    ///   - request: needed where the journal keeps no text; also says which tools are read only.
    /// - Throws: ``StorageError`` if it cannot be restored; nothing is sent.
    public func restore(_ turnId: String, request: TurnRequest? = nil) throws -> Turn {
        guard let native else {
            throw StorageError(problem: .noJournal, details: "a fake has no journal")
        }
        let source = try translating { try native.restore(turnId: turnId, request: request) }
        return Turn(try NativeTurnSource(source))
    }

    /// The turns of the journal, the one written last first: after a start of the app, those that
    /// are not over can be restored. Empty without a journal. Reads a file.
    ///
    /// - Throws: ``StorageError`` if it cannot be read.
    public func journaled() throws -> [JournaledTurn] {
        try translating { try native?.journaled() ?? [] }
    }

    /// Forgets a turn of the journal. Writes a file.
    ///
    /// - Throws: ``StorageError`` if that cannot be recorded.
    public func forget(_ turnId: String) throws {
        try translating { try native?.forget(turnId: turnId) }
    }

    /// The whole answer of a turn of its own. When the calling task is cancelled, the turn is
    /// cancelled and its connection closed at once.
    ///
    /// - Throws: ``RejoinError`` if the turn fails, with the text that there is;
    ///   `CancellationError` if the calling task was cancelled.
    public func ask(_ request: TurnRequest) async throws -> Answer {
        try Task.checkCancellation()
        let turn = try start(request)
        return try await withTaskCancellationHandler {
            do {
                return try await turn.answer()
            } catch let error as RejoinError where error.kind == .cancelled {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            turn.cancel()
        }
    }
}

/// The app's closure as the object that the generated code calls.
private final class ProviderAdapter: HeaderProvider {
    private let provide: @Sendable (Int) throws -> [String: String]

    init(_ provide: @escaping @Sendable (Int) throws -> [String: String]) { self.provide = provide }

    func headers(attempt: Int32) throws -> [String: String] {
        do {
            return try provide(Int(attempt))
        } catch {
            throw HeaderError.Unavailable(details: "\(error)")
        }
    }
}
