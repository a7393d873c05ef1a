package dev.rejoin

import kotlinx.coroutines.flow.last
import kotlinx.coroutines.runBlocking

/** An app's unit test in a JVM without the native library; FakeTest starts it. */
fun main() = runBlocking {
    val client = Rejoin.fake { text("a wo"); drop(); text("a word") }
    val shown = client.stream(TurnRequest("m", "x")).transcript(Presentation.HOLD).last()
    client.ask(TurnRequest("m", "x")).runTools(MemoryLedger()) { "" }
    val native = runCatching { Rejoin.estimateTokens("x") }.isSuccess ||
        runCatching { NativeClient(ClientSettings()) }.isSuccess
    println("${shown.text}; native: $native")
}
