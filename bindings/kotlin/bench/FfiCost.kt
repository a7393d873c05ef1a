package dev.rejoin.bench

import dev.rejoin.EventBatch
import dev.rejoin.EventLog
import dev.rejoin.NativeClient
import dev.rejoin.NativeLog
import dev.rejoin.ClientSettings
import dev.rejoin.TurnRequest
import dev.rejoin.isLast
import dev.rejoin.pacedBatches
import dev.rejoin.support.PlainServer
import java.lang.management.ManagementFactory
import java.util.concurrent.Executors
import kotlin.system.exitProcess
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.runBlocking

/*
 * What the border costs: reads per second and microseconds per event at several event rates.
 *
 * `make kotlin-bench`, or: FfiCostKt [SECONDS_PER_RATE]. Fails if any second has more than 60 reads.
 */

private const val FRAMES = 60

/** Processor time, which other processes of the machine do not disturb much. */
private fun cpu(): Long = ManagementFactory.getThreadMXBean().currentThreadCpuTime

private class Counting(private val log: EventLog) : EventLog {
    val reads = mutableListOf<Long>()
    var waiting = 0
    var plain = 0
    var plainNanos = 0L

    override suspend fun after(cursor: Long, max: Int): EventBatch {
        reads += System.nanoTime()
        waiting += 1
        return log.after(cursor, max)
    }

    override fun soFar(cursor: Long, max: Int): EventBatch {
        reads += System.nanoTime()
        plain += 1
        val began = cpu()
        return log.soFar(cursor, max).also { plainNanos += cpu() - began }
    }

    override suspend fun untilOver() {
        reads += System.nanoTime()
        waiting += 1
        log.untilOver()
    }

    /** The most reads in any second. */
    fun worstSecond(): Int {
        var from = 0
        return reads.indices.maxOf { to ->
            while (reads[to] - reads[from] >= 1_000_000_000) from += 1
            to - from + 1
        }
    }
}

fun main(args: Array<String>) {
    val seconds = args.firstOrNull()?.toInt() ?: 5
    run(3000, 3, report = false)
    run(300, 3, report = false)
    println("events/s    events   reads/s  most in 1 s  JNA calls/s  µs/event  µs/read  % of a core")
    val worst = listOf(30, 300, 3000).maxOf { run(it, seconds, report = true) }
    println("One plain read of nothing in a tight loop: %.1f µs (three calls through JNA).".format(tightLoop()))
    check(worst <= FRAMES) { "$worst reads in one second" }
    println("At most one read per frame ($FRAMES a second) at every rate.")
    exitProcess(0)
}

private fun tightLoop(): Double {
    val turn = NativeClient(ClientSettings(baseUrl = "http://127.0.0.1:1")).start(TurnRequest("m", "x"))
    val log = NativeLog(turn)
    repeat(20_000) { log.soFar(1_000_000, 1) }
    val began = cpu()
    repeat(20_000) { log.soFar(1_000_000, 1) }
    return ((cpu() - began) / 1e3 / 20_000).also { turn.cancel() }
}

private fun run(rate: Int, seconds: Int, report: Boolean): Int {
    val total = rate * seconds
    val server = PlainServer {
        stream()
        val began = System.nanoTime()
        repeat(total) {
            val due = began + it * 1_000_000_000L / rate
            while (true) {
                val rest = due - System.nanoTime()
                if (rest <= 0) break
                Thread.sleep(rest / 1_000_000, (rest % 1_000_000).toInt())
            }
            text("word $it ")
        }
        stop()
    }
    val client = NativeClient(ClientSettings(baseUrl = server.url))
    // One thread, so that its processor time is the cost of reading: calls, decoding, the flow.
    val executor = Executors.newSingleThreadExecutor()
    return runBlocking(executor.asCoroutineDispatcher()) {
        val turn = client.start(TurnRequest("m", "Go on."))
        val log = Counting(NativeLog(turn))
        val (wall, busy) = System.nanoTime() to cpu()
        var events = 0
        pacedBatches(log, 0).collect { batch ->
            events += batch.size
            check(!batch.last().isLast || events == total + 2) { "$events of ${total + 2} events" }
        }
        val took = (System.nanoTime() - wall) / 1e9
        val micros = (cpu() - busy) / 1e3
        // A plain read is three calls through JNA (the handle, the read, the buffer back), a waiting one about seven.
        val jna = (3 * log.plain + 7 * log.waiting) / took
        val perRead = log.plainNanos / 1e3 / maxOf(1, log.plain)
        if (report) {
            println(
                "%8d  %8d  %8.1f  %11d  %11.0f  %8.1f  %7.1f  %11.2f".format(
                    rate, events, log.reads.size / took, log.worstSecond(), jna, micros / events, perRead,
                    micros / took / 1e4,
                ),
            )
        }
        log.worstSecond()
    }.also { executor.shutdown(); server.close() }
}
