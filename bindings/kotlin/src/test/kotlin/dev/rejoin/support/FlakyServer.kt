package dev.rejoin.support

import java.io.File
import java.util.concurrent.TimeUnit

/**
 * The flaky server as a process of its own (`rejoin serve-flaky`): the library that an app ships
 * need not carry it, and nothing is shared with the client under test.
 */
class FlakyServer(script: File) : AutoCloseable {
    private val process = ProcessBuilder(System.getProperty("rejoin.bin"), "serve-flaky", "--script", script.path)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start()

    val url: String = process.inputStream.bufferedReader().readLine().orEmpty()
        .removePrefix("listening on ")
        .also { check(it.startsWith("http://")) { "serve-flaky said «$it»" } }

    override fun close() {
        process.destroy()
        process.waitFor(5, TimeUnit.SECONDS)
    }
}

/** A server for responses written in the test. */
fun flaky(vararg responses: String): FlakyServer {
    val file = File.createTempFile("rejoin", ".json")
    file.writeText(
        """{"name":"${file.nameWithoutExtension}","about":"","request":{"prompt":"x"},""" +
            """"server":[${responses.joinToString(",")}],"expect":{"end":"completed"}}""",
    )
    file.deleteOnExit()
    return FlakyServer(file)
}

fun repositoryFile(path: String) = File(System.getProperty("rejoin.root"), path)
