package dev.rejoin.sample

import android.net.Network
import android.os.Bundle
import android.widget.EditText
import dev.rejoin.sample.support.LISBON
import dev.rejoin.sample.support.PHONE
import dev.rejoin.sample.support.Phone
import dev.rejoin.sample.support.ToldServer
import dev.rejoin.sample.support.show
import dev.rejoin.sample.support.told
import dev.rejoin.sample.support.untilDone
import org.json.JSONObject
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotSame
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowNetwork

/** What the user and the system do to a running answer. */
@RunWith(RobolectricTestRunner::class)
@Config(qualifiers = PHONE)
class ControlTest {
    @Test
    fun `a stopped answer keeps its text and its connection is closed`() = told { server, phone ->
        val request = server.request(1, phone)
        request.show(phone, "Mostly because they", 4)
        assertEquals("Stop the answer", phone.view(R.id.send)?.contentDescription)
        phone.click(R.id.send)
        phone.until("the end") { phone.text(R.id.headline) == "Stopped." }
        assertTrue(request.closedByClient())
        assertEquals("Mostly because they", phone.answer)
        assertEquals("What came so far stays.", phone.text(R.id.detail))
        phone.until("the arrow") { phone.view(R.id.send)?.contentDescription == "Send" }
        phone.click(R.id.timeline_toggle)
        assertTrue(phone.texts().any { it.startsWith("stopped by you\n") })
        phone.shot("stopped")
    }

    @Test
    fun `turning the phone in mid-answer loses nothing`() = told("tunnel") { server, phone ->
        val request = server.request(1, phone)
        request.show(phone, LISBON, 40)
        val before = phone.activity
        phone.frames.clear()
        phone.turn()
        assertNotSame(before, phone.activity)
        request.show(phone, "Around eleven, let the yellow tram do the climbing.", 60)
        request.stop(60)
        phone.untilDone()
        assertTrue(phone.answer.startsWith("Start early"))
        assertTrue(phone.answer.endsWith("climbing."))
        // The new screen begins with all that the old one had, and the turn was asked once.
        assertTrue(phone.frames.first { it.answer.isNotEmpty() }.answer.contains("across the river."))
        assertEquals(1, server.requests.size)
        phone.shot("turned")
    }

    @Test
    fun `after the death of the process the text is there and can be asked for again`() {
        ToldServer().use { server ->
            val phone = Phone.asking(server.url, "tunnel")
            server.request(1, phone).show(phone, LISBON, 40)
            val again = phone.killAndReturn()
            again.use {
                assertTrue(again.answer.contains("across the river."))
                assertEquals("The app was closed while the answer came.", again.text(R.id.headline))
                again.shot("process-gone")
                again.click(R.id.ask_again)
                server.request(2, again).apply { show(again, "Start late.", 4); stop(4) }
                again.untilDone()
                assertEquals("Start late.", again.answer)
            }
        }
    }

    @Test
    fun `the key is in no saved state`() = told { server, phone ->
        server.request(1, phone)
        val conversation = phone.activity.conversation
        conversation.settings = conversation.settings.copy(apiKey = ApiKey("AIza-secret"))
        val saved = Bundle()
        SavedScreen.save(conversation, saved)
        @Suppress("DEPRECATION")
        assertTrue(saved.keySet().none { "${saved.get(it)}".contains("AIza") })
        assertFalse("${conversation.settings}".contains("AIza"))
        assertEquals(Settings.GEMINI, conversation.settings.baseUrl("t"))
    }

    @Test
    fun `offline it waits without a request, and goes on with the network`() = told { server, phone ->
        val first = server.request(1, phone)
        first.show(phone, "Mostly because they", 4)
        val network: Network = ShadowNetwork.newInstance(7)
        phone.network { it.onLost(network) }
        first.reset()
        phone.until("it waits") {
            phone.text(R.id.headline) ==
                "The connection broke. No network. It goes on by itself when there is one."
        }
        assertFalse(phone.shown(R.id.countdown))
        phone.shot("offline")
        phone.advance(20_000)
        assertEquals(1, server.requests.size)
        phone.network { it.onAvailable(network) }
        server.request(2, phone).apply { show(phone, "Because they are content.", 6); stop(6) }
        phone.untilDone()
        assertEquals("Because they are content.", phone.answer)
    }

    @Test
    fun `drop now closes the connection, and the answer recovers`() = told { server, phone ->
        val first = server.request(1, phone)
        first.show(phone, "Mostly because they", 4)
        phone.click(R.id.drop_now)
        assertTrue(first.closedByClient())
        server.request(2, phone).apply { show(phone, "Because they are content.", 6); stop(6) }
        phone.untilDone()
        assertTrue(phone.spoken().contains("The network changed. Starting over."))
        assertEquals("Because they are content.", phone.answer)
    }

    @Test
    fun `a refund that two attempts ask for is paid once`() = told("refund-twice") { server, phone ->
        val args = JSONObject().put("order", "T-318").put("cents", 3450)
        server.request(1, phone).apply {
            show(phone, "I am sorry to hear that.", 12)
            call("issue_refund", args, "c1")
            phone.until("a held call") { phone.text(R.id.tool_name) == "issue_refund: held until the answer is whole" }
            assertEquals(0, phone.activity.conversation.desk.paid)
            phone.shot("refund-1-held")
            reset()
        }
        phone.until("the call is gone") { !phone.shown(R.id.tool_name) }
        server.request(2, phone).apply {
            show(phone, "What a pity about that teapot!", 15)
            call("issue_refund", JSONObject().put("cents", 3450).put("order", "T-318"), "c7")
            phone.until("held again") { phone.shown(R.id.tool_name) }
            assertEquals(0, phone.activity.conversation.desk.paid)
            stop(29)
        }
        phone.until("paid") { phone.text(R.id.tool_count) == "1 refund paid" }
        assertEquals("issue_refund: run once", phone.text(R.id.tool_name))
        assertEquals(1, phone.activity.conversation.desk.paid)
        val key = phone.activity.conversation.exchanges.last().paid.single().call.effectKey
        assertEquals("Effect key ${key.take(8)}…", phone.text(R.id.tool_key))
        phone.shot("refund-2-paid")
    }

    @Test
    fun `a refund stays one when the process dies and the turn is asked again`() {
        ToldServer().use { server ->
            val args = JSONObject().put("order", "T-318").put("cents", 3450)
            val phone = Phone.asking(server.url, "refund-twice")
            val first = server.request(1, phone)
            first.show(phone, "I am sorry to hear that.", 12)
            // It is paid while the user is elsewhere; what was saved on leaving does not know.
            val back = phone.killAndReturn {
                first.call("issue_refund", args, "c1")
                first.stop(20)
                phone.until("paid") { phone.activity.conversation.exchanges.last().paid.size == 1 }
                assertEquals(1, phone.activity.conversation.desk.paid)
            }
            back.use {
                back.click(R.id.ask_again)
                server.request(2, back).apply { call("issue_refund", args, "c9"); text("Done.", 9); stop(9) }
                back.until("its result is known") { back.text(R.id.tool_name) == "issue_refund: run once" }
                assertEquals("No refund paid yet", back.text(R.id.tool_count))
                assertEquals(0, back.activity.conversation.desk.paid)
            }
        }
    }

    @Test
    fun `a typed question is asked, with what was said before`() = told { server, phone ->
        server.request(1, phone).apply { show(phone, "Because they are content.", 6); stop(6) }
        phone.untilDone()
        phone.activity.findViewById<EditText>(R.id.question).setText("And lions?")
        phone.click(R.id.send)
        val second = server.request(2, phone)
        val contents = second.body.getJSONArray("contents")
        assertEquals(3, contents.length())
        assertTrue(contents.getJSONObject(1).toString().contains("Because they are content."))
        second.apply { show(phone, "They roar.", 3); stop(3) }
        phone.until("the answer") { phone.answer == "They roar." }
        assertTrue(phone.texts().contains("Because they are content."))
    }
}
