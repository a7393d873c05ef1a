package dev.rejoin.sample

import dev.rejoin.sample.support.FlakyServer
import dev.rejoin.sample.support.Phone
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config

/** An answer comes in, drops, and is whole in the end: what the user sees of it. */
@RunWith(RobolectricTestRunner::class)
@Config(qualifiers = "w411dp-h914dp-xhdpi")
class StreamingTest {
    @Test
    fun `a long answer goes on where it broke off`() {
        FlakyServer.story("tunnel", "edge").use { server ->
            Phone.asking(server.url, "tunnel").use { phone ->
                phone.until("the first words") { phone.answer.startsWith("Start early") }
                phone.shot("tunnel-streaming")
                phone.until("struck text") { phone.spanned<StruckSpan>().isNotEmpty() }
                assertEquals("Find a low wall by the wa", phone.spanned<StruckSpan>().trim())
                phone.shot("tunnel-struck")
                phone.until("the end") { phone.text(R.id.headline).startsWith("Done") }
                phone.until("the struck text is gone") { phone.answer.endsWith("come back.") }
                phone.shot("tunnel-done")
                // What is kept does not flicker: every frame begins with it.
                val kept = phone.frames.dropWhile { !it.answer.contains("gold at once.") }
                assertTrue(kept.all { it.answer.contains("turns gold at once.") })
                assertTrue(kept.none { it.answer.contains("waFind") })
            }
        }
    }
}
