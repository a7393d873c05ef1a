package dev.rejoin.sample.support

import dev.rejoin.EventKind
import dev.rejoin.Policy
import dev.rejoin.Presentation
import dev.rejoin.Rejoin
import dev.rejoin.TurnRequest
import dev.rejoin.isLast
import dev.rejoin.sample.Stage
import dev.rejoin.sample.TurnReducer
import kotlin.system.exitProcess
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.runBlocking

/**
 * The app without its views, for netns.sh: Rejoin, the sample's reducer and its stage, in a network
 * namespace. Prints how much text there is, what happens to it, and how it ended.
 */
fun main(args: Array<String>) {
    val reducer = TurnReducer(Presentation.REPLACE)
    val stage = Stage(Presentation.REPLACE)
    var whole: String? = null
    runBlocking {
        Rejoin.client(baseUrl = args[0], allowPlainHttp = true, policy = Policy(idleTimeoutMs = 10_000)).start(
            TurnRequest(model = "m", prompt = "Plan me a slow Saturday in Lisbon."),
        ).use { turn ->
            turn.events().collect { event ->
                reducer.apply(event, System.nanoTime() / 1_000_000)
                val kind = event.kind
                when (kind) {
                    is EventKind.Text -> say("text ${reducer.current().transcript.answer.length}")
                    is EventKind.Dropped -> say("dropped ${kind.cause} then ${kind.decision.strategy}")
                    is EventKind.Reset -> say("reset keeps ${kind.keepUtf16}")
                    is EventKind.Completed -> whole = kind.answer.text
                    is EventKind.Failed -> say("failed ${kind.failure}")
                    else -> Unit
                }
                if (event.isLast) {
                    val attempts = reducer.current().attempts
                    say(attempts.joinToString { "${it.strategy} ${it.drop?.cause ?: "whole"}" })
                }
            }
        }
    }
    val shown = stage.next(reducer.current(), System.nanoTime() / 1_000_000).text
    val expected = args.getOrNull(1)
    val recovered = reducer.current().resets.isNotEmpty()
    val right = recovered && shown == whole && (expected == null || whole == expected)
    say(if (right) "whole: ${shown.length} characters" else "WRONG: «$shown» is not «$whole»")
    exitProcess(if (right) 0 else 1)
}

private fun say(line: String) {
    println(line)
    System.out.flush()
}
