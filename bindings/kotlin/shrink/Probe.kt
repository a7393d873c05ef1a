package app.probe

import dev.rejoin.EventKind
import dev.rejoin.Rejoin
import dev.rejoin.RejoinException
import dev.rejoin.Tool
import dev.rejoin.TurnRequest
import dev.rejoin.ask
import dev.rejoin.transcript
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.runBlocking

/*
 * What an app does with Rejoin, small enough to be shrunk by R8 and then run: see check-r8.sh.
 * Not in the package of the library, whose rules keep all of theirs.
 */

/** Streams, asks, fails and is called back; says each on a line. */
fun main(arguments: Array<String>) = runBlocking {
    val (answering, refusing) = arguments
    val client = Rejoin.client(
        baseUrl = answering,
        headerProvider = { attempt -> mapOf("authorization" to "Bearer $attempt") },
    )
    val request = TurnRequest("m", "Go on.", tools = listOf(Tool("look", parameters = """{"type":"object"}""")))

    val kinds = mutableListOf<String>()
    client.stream(request).collect { event ->
        kinds += when (event.kind) {
            is EventKind.AttemptStarted -> "started"
            is EventKind.Text -> "text"
            is EventKind.Dropped -> "dropped"
            is EventKind.Reset -> "reset"
            is EventKind.Completed -> "completed"
            else -> "other"
        }
    }
    println("events: ${kinds.distinct()}")
    println("transcript: ${client.stream(request).transcript().last().text}")
    try {
        Rejoin.client(baseUrl = refusing).ask(request)
    } catch (e: RejoinException) {
        println("error: ${e.kind}")
    }
    println("key: ${Rejoin.effectKey("t", "f", "{}").length}")
}
