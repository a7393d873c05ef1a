package dev.rejoin.sample.support

import java.io.File
import java.util.concurrent.TimeUnit
import org.json.JSONObject

/** The flaky server as a process of its own, on a network of the Android emulator's. */
class FlakyServer(arguments: List<String>) : AutoCloseable {
    constructor(script: File, network: String) : this(listOf("--script", script.path, "--network", network))

    private val process = ProcessBuilder(
        listOf(System.getProperty("rejoin.bin"), "serve-flaky") + arguments,
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

        /** All stories behind one address, as they are served to the emulator. */
        fun stories() = FlakyServer(folders.flatMap { listOf("--stories", File(root, it).path) })

        /** What the script of a story says. */
        fun script(name: String) = JSONObject(file(name).readText())

        private val folders = listOf("android-sample/stories", "src/bin/rejoin/demo")

        private fun file(name: String) = folders
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
