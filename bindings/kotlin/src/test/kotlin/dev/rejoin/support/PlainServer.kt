package dev.rejoin.support

import java.io.InputStream
import java.io.OutputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread

/** A server that lets a test see its requests and when the client closes the socket. */
class PlainServer(private val respond: Connection.(request: Int) -> Unit) : AutoCloseable {
    /** One request and the socket it came on. */
    class Connection(private val socket: Socket, val head: String) {
        private val out: OutputStream = socket.getOutputStream()

        fun header(name: String): String? =
            head.lines().firstOrNull { it.startsWith("$name:", ignoreCase = true) }
                ?.substringAfter(':')?.trim()

        fun stream() = write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")

        fun status(status: Int) = write("HTTP/1.1 $status No\r\ncontent-length: 0\r\n\r\n")

        fun text(text: String) = event("""{"candidates":[{"content":{"parts":[{"text":"$text"}]}}]}""")

        fun thought(text: String) =
            event("""{"candidates":[{"content":{"parts":[{"text":"$text","thought":true}]}}]}""")

        fun stop() = event("""{"candidates":[{"finishReason":"STOP"}]}""")

        fun event(json: String) = write("data: $json\r\n\r\n")

        private fun write(text: String) {
            out.write(text.toByteArray())
            out.flush()
        }

        /** Silent until the client closes; false if it does not within [seconds]. */
        fun untilClosed(seconds: Int = 5): Boolean = try {
            socket.soTimeout = seconds * 1000
            socket.getInputStream().read() == -1
        } catch (_: java.net.SocketTimeoutException) {
            false
        } catch (_: java.io.IOException) {
            true
        }
    }

    private val listener = ServerSocket(0, 50, InetAddress.getLoopbackAddress())
    private val arrived = CountDownLatch(1)
    val requests = CopyOnWriteArrayList<Connection>()
    val url: String = "http://127.0.0.1:${listener.localPort}"

    init {
        thread(isDaemon = true) {
            while (true) {
                val socket = runCatching { listener.accept() }.getOrNull() ?: break
                thread(isDaemon = true) { socket.use { serve(it) } }
            }
        }
    }

    fun awaitRequest() = check(arrived.await(5, TimeUnit.SECONDS)) { "no request came" }

    private fun serve(socket: Socket) {
        socket.tcpNoDelay = true
        val head = readRequest(socket.getInputStream()) ?: return
        val connection = Connection(socket, head)
        val number = synchronized(requests) { requests.add(connection); requests.size }
        arrived.countDown()
        // A client that goes away in mid-write is what many tests want.
        runCatching { connection.respond(number) }
    }

    private fun readRequest(input: InputStream): String? {
        val head = StringBuilder()
        while (!head.endsWith("\r\n\r\n")) {
            val byte = input.read()
            if (byte < 0) return null
            head.append(byte.toChar())
        }
        val length = Regex("content-length: *(\\d+)", RegexOption.IGNORE_CASE).find(head)
        repeat(length?.groupValues?.get(1)?.toInt() ?: 0) { input.read() }
        return head.toString()
    }

    override fun close() = listener.close()
}
