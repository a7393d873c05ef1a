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
    ImageIO.write(sheet, "png", File(args[0]))
}
