package dev.rejoin.sample.support

import java.awt.Color
import java.awt.Image
import java.awt.image.BufferedImage
import java.io.File
import javax.imageio.ImageIO

/** Puts screenshots side by side, for the documentation: OUT WIDTH_OF_EACH FILE... */
fun main(args: Array<String>) {
    System.setProperty("java.awt.headless", "true")
    val width = args[1].toInt()
    val gap = width / 20
    val shots = args.drop(2).map { ImageIO.read(File(it)) }
    val height = shots.maxOf { it.height * width / it.width }
    val sheet = BufferedImage((width + gap) * shots.size + gap, height + 2 * gap, BufferedImage.TYPE_INT_RGB)
    val canvas = sheet.createGraphics()
    canvas.color = Color(0xC9C6BC)
    canvas.fillRect(0, 0, sheet.width, sheet.height)
    shots.forEachIndexed { index, shot ->
        val scaled = shot.getScaledInstance(width, -1, Image.SCALE_AREA_AVERAGING)
        canvas.drawImage(scaled, gap + index * (width + gap), gap, null)
    }
    // With a palette: a third of the size, and the screens have few colours.
    val small = BufferedImage(sheet.width, sheet.height, BufferedImage.TYPE_BYTE_INDEXED, palette(sheet))
    small.createGraphics().drawImage(sheet, 0, 0, null)
    ImageIO.write(small, "png", File(args[0]))
}

/** The colours that are used most. */
private fun palette(image: BufferedImage): java.awt.image.IndexColorModel {
    val counts = HashMap<Int, Int>()
    for (y in 0 until image.height) for (x in 0 until image.width) {
        counts.merge(image.getRGB(x, y) and 0xF8F8F8 or 0x040404, 1, Int::plus)
    }
    val exact = HashMap<Int, Int>()
    for (y in 0 until image.height) for (x in 0 until image.width) exact.merge(image.getRGB(x, y) and 0xFFFFFF, 1, Int::plus)
    val flat = exact.entries.sortedByDescending { it.value }.take(24).map { it.key }
    val rest = counts.entries.sortedByDescending { it.value }.map { it.key }
    val colors = (flat + rest).distinct().take(256)
    fun channel(shift: Int) = ByteArray(colors.size) { (colors[it] shr shift).toByte() }
    return java.awt.image.IndexColorModel(8, colors.size, channel(16), channel(8), channel(0))
}
