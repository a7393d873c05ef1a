package dev.rejoin.sample.support

import java.io.InputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.concurrent.thread
import org.json.JSONArray
import org.json.JSONObject

/**
 * A Gemini server over real sockets that does nothing by itself: the test says each piece, sees it
 * on the screen, and then breaks the connection. So no machine is too slow for a test.
 */
class ToldServer : AutoCloseable {
    /** One request, and the way to answer it. */
    class Request(private val socket: Socket, val path: String, val body: JSONObject) {
        private val out = socket.getOutputStream()
        private var begun = false

        fun text(text: String, tokens: Int? = null) = part(JSONObject().put("text", text), tokens)

        /** So many events, written at once. */
        fun texts(texts: List<String>) = write(
            texts.joinToString("") { text ->
                val part = JSONArray().put(JSONObject().put("text", text))
                chunk(JSONObject().put("content", JSONObject().put("role", "model").put("parts", part)), null)
            },
        )

        fun thought(text: String) = part(JSONObject().put("text", text).put("thought", true), null)

        fun call(name: String, args: JSONObject, id: String) = part(
            JSONObject().put(
                "functionCall",
                JSONObject().put("name", name).put("args", args).put("id", id),
            ),
            null,
        )

        fun part(part: JSONObject, tokens: Int?) {
            val content = JSONObject().put("role", "model").put("parts", JSONArray().put(part))
            event(JSONObject().put("content", content), tokens)
        }

        /** The answer is whole. */
        fun stop(tokens: Int = 100) {
            event(JSONObject().put("finishReason", "STOP"), tokens)
            write("0\r\n\r\n")
            socket.shutdownOutput()
        }

        /** The whole answer in one piece, for a request that is no stream. */
        fun whole(text: String, tokens: Int) {
            val part = JSONArray().put(JSONObject().put("text", text))
            val candidate = JSONObject().put("finishReason", "STOP")
                .put("content", JSONObject().put("role", "model").put("parts", part))
            val body = response(candidate, tokens).toString()
            write("HTTP/1.1 200 OK\r\n$JSON_HEAD${body.toByteArray().size}\r\n\r\n$body")
        }

        /** No, before any content. */
        fun refuse(status: Int, error: JSONObject) {
            val body = JSONObject().put("error", error).toString()
            write("HTTP/1.1 $status No\r\n$JSON_HEAD${body.toByteArray().size}\r\n\r\n$body")
        }

        /** The connection is torn down with an RST. */
        fun reset() {
            socket.setSoLinger(true, 0)
            socket.close()
        }

        /** Whether the client has closed; waits for it. */
        fun closedByClient(): Boolean = try {
            socket.soTimeout = 10_000
            socket.getInputStream().read() == -1
        } catch (_: java.net.SocketTimeoutException) {
            false
        } catch (_: java.io.IOException) {
            true
        }

        private fun event(candidate: JSONObject, tokens: Int?) = write(chunk(candidate, tokens))

        private fun chunk(candidate: JSONObject, tokens: Int?): String {
            if (!begun) write(STREAM_HEAD)
            begun = true
            val event = "data: ${response(candidate, tokens)}\r\n\r\n"
            return "${event.toByteArray().size.toString(16)}\r\n$event\r\n"
        }

        private fun response(candidate: JSONObject, tokens: Int?): JSONObject {
            val response = JSONObject().put("candidates", JSONArray().put(candidate.put("index", 0)))
            if (tokens == null) return response
            val usage = JSONObject().put("promptTokenCount", PROMPT)
                .put("candidatesTokenCount", tokens).put("totalTokenCount", PROMPT + tokens)
            return response.put("usageMetadata", usage)
        }

        private fun write(text: String) {
            out.write(text.toByteArray())
            out.flush()
        }
    }

    private val listener = ServerSocket(0, 50, InetAddress.getLoopbackAddress())
    val url: String = "http://127.0.0.1:${listener.localPort}"

    /** All requests so far. */
    val requests = CopyOnWriteArrayList<Request>()

    init {
        thread(isDaemon = true) {
            while (true) {
                val socket = runCatching { listener.accept() }.getOrNull() ?: break
                thread(isDaemon = true) { runCatching { read(socket) } }
            }
        }
    }

    /** Waits, with the phone's clock going, for the request with this number, from 1. */
    fun request(number: Int, phone: Phone): Request {
        phone.until("request $number") { requests.size >= number }
        return requests[number - 1]
    }

    /** One request per connection: each response says that it closes. */
    private fun read(socket: Socket) {
        socket.tcpNoDelay = true
        val input = socket.getInputStream()
        val head = head(input) ?: return
        val length = Regex("content-length: *(\\d+)", RegexOption.IGNORE_CASE).find(head)
        val body = input.readNBytes(length?.groupValues?.get(1)?.toInt() ?: 0)
        val path = head.substringAfter(' ').substringBefore(' ')
        requests += Request(socket, path, JSONObject(String(body)))
    }

    private fun head(input: InputStream): String? {
        val head = StringBuilder()
        while (!head.endsWith("\r\n\r\n")) {
            val byte = input.read()
            if (byte < 0) return null
            head.append(byte.toChar())
        }
        return head.toString()
    }

    override fun close() = listener.close()

    private companion object {
        const val PROMPT = 9
        const val STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" +
            "connection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        const val JSON_HEAD = "connection: close\r\ncontent-type: application/json\r\ncontent-length: "
    }
}
