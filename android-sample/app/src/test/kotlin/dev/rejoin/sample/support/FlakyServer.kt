package dev.rejoin.sample.support

import java.io.File
import java.util.concurrent.TimeUnit
import org.json.JSONObject

/** The flaky server as a process of its own, on a network of the Android emulator's. */
class FlakyServer(script: File, network: String = "full") : AutoCloseable {
    private val process = ProcessBuilder(
        System.getProperty("rejoin.bin"), "serve-flaky", "--script", script.path, "--network", network,
    ).redirectError(ProcessBuilder.Redirect.INHERIT).start()

    val url: String = process.inputStream.bufferedReader().readLine().orEmpty()
        .removePrefix("listening on ")
        .also { check(it.startsWith("http://")) { "serve-flaky said «$it»" } }

    override fun close() {
        process.destroy()
        process.waitFor(5, TimeUnit.SECONDS)
    }

    companion object {
        private val root = File(System.getProperty("rejoin.root"))

        /** A story of the sample's or of `rejoin demo`. */
        fun story(name: String, network: String = "full") = FlakyServer(file(name), network)

        /** What the script of a story says. */
        fun script(name: String) = JSONObject(file(name).readText())

        private fun file(name: String) = listOf("android-sample/stories", "src/bin/rejoin/demo")
            .map { File(root, "$it/$name.json") }.first { it.exists() }

        /** Responses written in the test. */
        fun of(vararg responses: String, network: String = "full"): FlakyServer {
            val file = File.createTempFile("sample", ".json")
            file.deleteOnExit()
            file.writeText(
                """{"name":"${file.nameWithoutExtension}","request":{"prompt":"x"},""" +
                    """"server":[${responses.joinToString(",")}]}""",
            )
            return FlakyServer(file, network)
        }
    }
}
