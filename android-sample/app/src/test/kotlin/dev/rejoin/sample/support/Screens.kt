package dev.rejoin.sample.support

/** The phone that most tests hold: a middling one, 1080 by 2400 at 420 dpi, drawn at 320 dpi. */
const val PHONE = "w411dp-h860dp-xhdpi"

const val LISBON =
    "Start early, before the heat, at a kiosk on one of the hills. Order a coffee and a custard " +
        "tart, and watch the ferries draw white lines across the river.\n\n"

/** A server that the test leads, and a phone with the app that has asked it. */
fun told(story: String? = null, test: (ToldServer, Phone) -> Unit) {
    ToldServer().use { server ->
        Phone.asking(server.url, story).use { phone -> test(server, phone) }
    }
}

/** Says [text], and waits until it can be read. */
fun ToldServer.Request.show(phone: Phone, text: String, tokens: Int? = null) {
    text(text, tokens)
    // Marks are drawn, not shown: a bullet, a fence.
    val line = text.lines().last { line -> line.any { it.isLetter() } }
    val words = line.substring(line.indexOfFirst { it.isLetter() }).takeLast(20).trim()
    phone.until("«$words»") { phone.answer.contains(words) }
}

/** Waits for the end of the turn, and of what still moves. */
fun Phone.untilDone() {
    until("the end") { text(dev.rejoin.sample.R.id.headline).startsWith("Done") }
    until("nothing is struck any more") { spanned<dev.rejoin.sample.StruckSpan>().isEmpty() }
}
