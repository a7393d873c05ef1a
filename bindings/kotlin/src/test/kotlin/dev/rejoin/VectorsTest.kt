package dev.rejoin

import com.google.gson.JsonElement
import com.google.gson.JsonNull
import com.google.gson.JsonObject
import com.google.gson.JsonParser
import dev.rejoin.support.repositoryFile
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** The vectors that Rust, Kotlin and Swift share: tests/vectors. */
class VectorsTest {
    private fun cases(name: String): List<JsonObject> {
        val text = repositoryFile("tests/vectors/$name.json").readText()
        val cases = JsonParser.parseString(text).asJsonObject.getAsJsonArray("cases")
        assertTrue(cases.size() > 0)
        return cases.map { it.asJsonObject }
    }

    @Test
    fun `effect keys`() {
        for (case in cases("effect_key")) {
            val key = Rejoin.effectKey(
                case.text("turn")!!,
                case.text("name")!!,
                case.text("args")!!,
                case["ordinal"].asInt,
                case.text("step"),
                case.texts("key_fields"),
            )
            assertEquals(case.text("key"), key, case.text("about"))
        }
    }

    @Test
    fun `committed text`() {
        for (case in cases("committed_text")) {
            val text = case.text("text")!!
            val committed = Rejoin.committedText(text)
            assertEquals(case.text("committed"), committed.committed, case.text("name"))
            assertEquals(case["committed_utf16"].asLong, committed.committedUtf16)
            val prefix = text.substring(0, committed.committedUtf16.toInt())
            assertEquals(committed.committed.orEmpty(), prefix)
        }
    }

    @Test
    fun `estimated tokens`() {
        for (case in cases("estimate_tokens")) {
            assertEquals(case["tokens"].asLong, Rejoin.estimateTokens(case.text("text")!!))
        }
    }

    @Test
    fun decisions() {
        for (case in cases("decide")) {
            val decision = Rejoin.decide(evidence(case.obj("evidence")), policy(case["policy"]?.asJsonObject))
            assertEquals(case.text("strategy"), decision.strategy?.wire ?: "fail", "$case")
            assertEquals(case.texts("reasons"), decision.reasons.map { it.wire }, "$case")
        }
    }

    @Test
    fun transcripts() {
        for (case in cases("transcript")) {
            val events = case.getAsJsonArray("events").map { event(it.asJsonObject) }
            for (check in case.getAsJsonArray("checks").map { it.asJsonObject }) {
                val presentation = enumOf<Presentation>(check.text("presentation")!!)
                val reducer = TranscriptReducer(presentation)
                events.take(check["after"].asInt).forEach(reducer::apply)
                val where = "${case.text("name")} after ${check["after"]}, $presentation"
                assertEquals(check.obj("expect"), reducer.current().json(), where)
            }
        }
    }

    private fun evidence(json: JsonObject) = Evidence(
        cancelled = json.flag("cancelled"),
        notRetryable = json.flag("not_retryable"),
        modelFaultRepeated = json.flag("model_fault_repeated"),
        attempts = json["attempts"].asInt,
        unsent = json["unsent"]?.asInt ?: 0,
        wasUnsent = json.flag("was_unsent"),
        spentTokens = json["spent_tokens"]?.asLong ?: 0,
        streamDrops = json["stream_drops"]?.asInt ?: 0,
        fellBack = json.flag("fell_back"),
        hasToken = json.flag("has_token"),
        resumeRefused = json.flag("resume_refused"),
        schema = json.flag("schema"),
        toolSeen = json.flag("tool_seen"),
        codeSeen = json.flag("code_seen"),
        mediaSeen = json.flag("media_seen"),
        groundingSeen = json.flag("grounding_seen"),
        forcedTools = json.flag("forced_tools"),
        deepThinking = json.flag("deep_thinking"),
        modelFault = json.flag("model_fault"),
        continuationRefused = json.flag("continuation_refused"),
        continuationEmpty = json.flag("continuation_empty"),
        hasCommitted = json.flag("has_committed"),
        committedTokens = json["committed_tokens"]?.asLong ?: 0,
    )

    private fun policy(json: JsonObject?) = json?.let {
        Policy(
            minContinueTokens = it["min_continue_tokens"]?.asLong,
            maxAttempts = it["max_attempts"]?.asInt,
            maxOutputSpendTokens = it["max_output_spend_tokens"]?.asLong,
        )
    }
}

internal fun JsonObject.text(name: String): String? = this[name]?.takeUnless { it.isJsonNull }?.asString

internal fun JsonObject.obj(name: String): JsonObject = getAsJsonObject(name)

internal fun JsonObject.texts(name: String): List<String> = this[name]?.asJsonArray?.map { it.asString }.orEmpty()

internal fun JsonObject.flag(name: String): Boolean = this[name]?.asBoolean ?: false

internal inline fun <reified E : Enum<E>> enumOf(wire: String): E = enumValueOf(wire.uppercase())

internal val Enum<*>.wire: String get() = name.lowercase()

/** An event of EVENTS.md as the surface's value. */
internal fun event(json: JsonObject): TurnEvent {
    val kind = when (val type = json.text("type")) {
        "attempt_started" -> EventKind.AttemptStarted(enumOf(json.text("strategy")!!))
        "text" -> EventKind.Text(json.text("text")!!)
        "thought" -> EventKind.Thought(json.text("text")!!)
        "tool_seen" -> EventKind.ToolSeen(json.text("name")!!)
        "part" -> EventKind.Part(json["part"].toString())
        "dropped" -> EventKind.Dropped(
            enumOf(json.text("cause")!!), json.text("detail"), json["http_status"]?.asInt,
            json["received_tokens"].asLong, json["committed_tokens"].asLong, json["exact"].asBoolean,
            json.obj("decision").let { decision ->
                val strategy = decision.text("strategy")!!.takeUnless { it == "fail" }
                Decision(strategy?.let { enumOf<Strategy>(it) }, decision.texts("reasons").map { enumOf(it) })
            },
        )
        "waiting" -> EventKind.Waiting(json["next_attempt"].asInt, json["for_ms"]?.asLong, enumOf(json.text("why")!!))
        "reset" -> EventKind.Reset(
            json["keep_utf16"].asLong, json["keep_text_bytes"].asLong, json["keep_thought_utf16"].asLong,
            json["keep_tools"].asInt, json["keep_parts"].asInt,
            when (val reason = json.text("reason")!!) {
                "continuation" -> ResetReason.Continuation
                "answer_restarted" -> ResetReason.AnswerRestarted
                else -> ResetReason.Dropped(enumOf(reason))
            },
        )
        "completed" -> EventKind.Completed(
            Answer(
                json.text("text")!!,
                json.obj("finish").let { Finish(enumOf(it.text("class")!!), it.text("reason")!!) },
                json.getAsJsonArray("tool_calls").map { it.asJsonObject }.map {
                    ToolCall(
                        it.text("name")!!, it["args"].toString(), it.text("effect_key")!!, it["ordinal"].asInt,
                        it.text("step"), it.text("provider_id"), false,
                    )
                },
                json.getAsJsonArray("history").map { it.toString() },
                emptyList(),
            ),
        )
        "failed" -> EventKind.Failed(
            json.obj("error").let {
                Failure(
                    enumOf(it.text("kind")!!), it.text("reason")!!, it["http_status"]?.asInt, it.text("details"),
                    json.text("partial_text")!!, emptyList(),
                )
            },
        )
        else -> error("no event is of type $type")
    }
    return TurnEvent(json.text("turn")!!, json["seq"].asLong, json["attempt"].asInt, kind)
}

/** A screen state in the form of the vectors. */
internal fun Transcript.json() = JsonObject().apply {
    fun list(items: List<JsonElement>) = com.google.gson.JsonArray().also { array -> items.forEach(array::add) }
    fun string(text: String): JsonElement = com.google.gson.JsonPrimitive(text)
    addProperty("text", text)
    addProperty("answer", answer)
    addProperty("holding", holding)
    addProperty("thoughts", thoughts)
    add("pending_tools", list(pendingTools.map(::string)))
    add("parts", list(parts.map(JsonParser::parseString)))
    addProperty("status", status.wire)
    add("status_line", statusLine?.let(::string) ?: JsonNull.INSTANCE)
    add("last_reset", lastReset?.json() ?: JsonNull.INSTANCE)
    add("notes", list(notes.map { it.json() }))
    addProperty("attempt", attempt)
    addProperty("cursor", cursor)
    addProperty("finished", finished)
}

private fun ResetNote.json() = JsonObject().apply {
    addProperty("attempt", attempt)
    addProperty("at_utf16", atUtf16)
    addProperty("dropped", dropped)
    addProperty(
        "reason",
        when (val reason = reason) {
            is ResetReason.Dropped -> reason.cause.wire
            ResetReason.Continuation -> "continuation"
            ResetReason.AnswerRestarted -> "answer_restarted"
        },
    )
}
