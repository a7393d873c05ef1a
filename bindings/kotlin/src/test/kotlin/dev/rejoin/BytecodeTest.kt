package dev.rejoin

import java.io.DataInputStream
import java.io.File
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** Android takes Java 8 bytecode at every API level. */
class BytecodeTest {
    @Test
    fun `every class is Java 8 bytecode`() {
        val root = File(NativeTurn::class.java.protectionDomain.codeSource.location.toURI())
        val classes = root.walk().filter { it.extension == "class" }.toList()
        assertTrue(classes.size > 200, "$root has ${classes.size} classes")
        val newer = classes.filter { file ->
            DataInputStream(file.inputStream()).use { it.skipBytes(6); it.readUnsignedShort() > 52 }
        }
        assertEquals(emptyList(), newer)
        println("${classes.size} classes, all of Java 8 bytecode (major version 52 at most)")
    }
}
