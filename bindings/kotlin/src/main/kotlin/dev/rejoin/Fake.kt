package dev.rejoin

import java.util.UUID
import kotlin.time.Duration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.withTimeoutOrNull

/**
 * What a fake turn does, step by step: the events come as the real client would send them, with
 * numbers, attempts and resets in place. A script without an end [completes][complete] by itself.
 *
 * @property request what the app asked.
 */
class FakeScript internal constructor(val request: TurnRequest, private val turnId: String) {
    internal class Step(val pause: Duration, val event: TurnEvent)

    private val steps = mutableListOf<Step>()
    private val text = StringBuilder()
    private val calls = mutableListOf<ToolCall>()
    private val attempts = mutableListOf<AttemptReport>()
    private var pause = Duration.ZERO
    private var attempt = 1
    private var strategy = Strategy.INITIAL
    private var longest = ""
    private var over = false

    init {
        event(EventKind.AttemptStarted(Strategy.INITIAL))
    }

    /** Lets time pass before the next step: a coroutine delay. */
    fun pause(duration: Duration) {
        pause += duration
    }

    /** A piece of the answer. */
    fun text(piece: String) {
        text.append(piece)
        if (text.length > longest.length) longest = text.toString()
        event(EventKind.Text(piece))
    }

    /** A piece of the thinking summary. */
    fun thought(piece: String) = event(EventKind.Thought(piece))

    /** Any other part, a JSON object. */
    fun part(json: String) = event(EventKind.Part(json))

    /** A tool call: seen now, to be run when the turn completes. Its effect key is made up. */
    fun tool(name: String, args: String = "{}", providerId: String? = null) {
        val ordinal = calls.count { it.name == name && it.args == args }
        val readOnly = request.tools.any { it.name == name && it.readOnly }
        val key = "fake-$turnId-$name-${args.hashCode()}-$ordinal"
        calls += ToolCall(name, args, key, ordinal, request.step, providerId, readOnly)
        event(EventKind.ToolSeen(name))
    }

    /**
     * The connection drops, and the next attempt begins with [keep] of the text, which has to be
     * a prefix of what is shown. By default nothing stays.
     */
    fun drop(
        cause: Cause = Cause.RESET,
        keep: String = "",
        strategy: Strategy = if (keep.isEmpty()) Strategy.RESTART else Strategy.CONTINUE,
    ) {
        require(text.startsWith(keep)) { "«$keep» is not what is shown: «$text»" }
        val reason =
            if (keep.isEmpty()) Reason.BELOW_THRESHOLD else Reason.FREE_TEXT_ABOVE_THRESHOLD
        dropped(cause, Decision(strategy, listOf(reason)))
        attempt += 1
        this.strategy = strategy
        text.setLength(keep.length)
        calls.clear()
        val bytes = keep.toByteArray().size.toLong()
        val kept = keep.length.toLong()
        event(EventKind.Reset(kept, bytes, 0, 0, 0, ResetReason.Dropped(cause)))
        event(EventKind.AttemptStarted(strategy))
    }

    /** The turn pauses: tells of a wait and, unless [duration] is null, lets it pass. */
    fun waiting(why: WaitReason, duration: Duration?) {
        event(EventKind.Waiting(attempt + 1, duration?.inWholeMilliseconds, why))
        if (duration != null) pause(duration)
    }

    /** The turn is over and whole. */
    fun complete(finish: FinishClass = FinishClass.COMPLETE, reason: String = "STOP") {
        report(Outcome.COMPLETED, null)
        val parts = listOf("""{"text":${jsonString(text.toString())}}""") + calls.map { call ->
            """{"functionCall":{"name":${jsonString(call.name)},"args":${call.args}}}"""
        }
        val history = listOf("""{"role":"model","parts":[${parts.joinToString(",")}]}""")
        val toRun = if (finish == FinishClass.COMPLETE) calls.toList() else emptyList()
        val end = Finish(finish, reason)
        event(EventKind.Completed(Answer(text.toString(), end, toRun, history, attempts.toList())))
        over = true
    }

    /** The turn is over and not whole. */
    fun fail(kind: ErrorKind, details: String? = null, httpStatus: Int? = null) {
        report(Outcome.FAILED, null)
        event(EventKind.Failed(failure(kind, details, httpStatus)))
        over = true
    }

    /** Any event, for what the steps above do not cover. */
    fun event(kind: EventKind) {
        check(!over) { "nothing can follow the end of the turn" }
        steps += Step(pause, TurnEvent(turnId, steps.size + 1L, attempt, kind))
        pause = Duration.ZERO
    }

    internal fun steps(): List<Step> {
        if (!over) complete()
        return steps
    }

    private fun failure(kind: ErrorKind, details: String?, httpStatus: Int?) =
        Failure(kind, kind.name.lowercase(), httpStatus, details, longest, attempts.toList())

    private fun dropped(cause: Cause, decision: Decision) {
        report(Outcome.DROPPED, cause)
        event(EventKind.Dropped(cause, null, null, 0, 0, false, decision))
    }

    private fun report(outcome: Outcome, cause: Cause?) {
        val usage = Usage(Billing.UNKNOWN, null, null, null, null, null, null)
        attempts += AttemptReport(attempt, strategy, outcome, cause, null, 0, usage, 0, 0)
    }
}

internal class FakeClient(private val script: FakeScript.() -> Unit) : RejoinClient {
    override fun start(request: TurnRequest): Turn {
        val id = request.turnId ?: "fake-${UUID.randomUUID()}"
        return FakeTurn(id, FakeScript(request, id).apply(script).steps())
    }

    override fun spent() = Spend(0, 0, 0, null, false)

    override fun stream(request: TurnRequest): Flow<TurnEvent> = flow {
        start(request).use { emitAll(it.events()) }
    }
}

/** Plays steps. Whoever reads first lets their time pass; all readers see one log. */
private class FakeTurn(override val id: String, steps: List<FakeScript.Step>) : Turn {
    private val lock = Any()
    private val log = mutableListOf<TurnEvent>()
    private val coming = ArrayDeque(steps)
    private val over = CompletableDeferred<Unit>()

    override fun events(after: Long): Flow<TurnEvent> = flow {
        var read = after.toInt()
        while (true) {
            val next = synchronized(lock) { log.getOrNull(read) }
            if (next != null) {
                read += 1
                emit(next)
                if (next.isLast) return@flow
            } else if (!reveal()) {
                return@flow
            }
        }
    }

    /** Waits for the next step and puts it into the log; false if none is left. */
    private suspend fun reveal(): Boolean {
        val (step, seen) = synchronized(lock) { coming.firstOrNull() to log.size }
        if (step == null) return synchronized(lock) { log.size > seen }
        if (step.pause.isPositive()) withTimeoutOrNull(step.pause) { over.await() }
        synchronized(lock) {
            if (coming.firstOrNull() === step) {
                coming.removeFirst()
                push(step.event)
            }
        }
        return true
    }

    private fun push(event: TurnEvent) {
        log += event
        if (event.isLast) over.complete(Unit)
    }

    override suspend fun await(): Answer =
        when (val last = events().last().kind) {
            is EventKind.Completed -> last.answer
            is EventKind.Failed -> throw RejoinException.of(last.failure)
            else -> throw broken()
        }

    override fun cancel() = synchronized(lock) { if (!over.isCompleted) end() }

    private fun end() {
        val shown = TranscriptReducer().also { log.forEach(it::apply) }.current()
        val failure =
            Failure(ErrorKind.CANCELLED, "cancelled", null, null, shown.text, emptyList())
        coming.clear()
        val attempt = log.lastOrNull()?.attempt ?: 1
        push(TurnEvent(id, log.size + 1L, attempt, EventKind.Failed(failure)))
    }

    override fun signal(signal: Signal) = Unit

    override fun snapshot(): Snapshot = synchronized(lock) {
        val shown = TranscriptReducer().also { log.forEach(it::apply) }.current()
        val strategy = log.mapNotNull { (it.kind as? EventKind.AttemptStarted)?.strategy }
        Snapshot(
            turn = id,
            cursor = log.size.toLong(),
            attempt = shown.attempt,
            strategy = strategy.lastOrNull(),
            text = shown.answer,
            thoughts = shown.thoughts,
            toolsSeen = shown.pendingTools,
            parts = shown.parts,
            lastReset = shown.lastReset?.let {
                SnapshotReset(it.attempt, it.atUtf16.toLong(), it.reason)
            },
            lastEvent = log.lastOrNull(),
            finished = over.isCompleted,
        )
    }
}
