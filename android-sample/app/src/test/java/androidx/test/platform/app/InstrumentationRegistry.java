package androidx.test.platform.app;

import android.app.Instrumentation;
import android.os.Bundle;

/**
 * Stands in, like its neighbours, for androidx.test:monitor, which is in Google's Maven repository
 * only. Robolectric calls these classes by name; there is as much of them as it needs here.
 */
public final class InstrumentationRegistry {
    private static volatile Instrumentation current;

    private InstrumentationRegistry() {}

    public static void registerInstance(Instrumentation instrumentation, Bundle arguments) {
        current = instrumentation;
    }

    public static Instrumentation getInstrumentation() {
        Instrumentation known = current;
        if (known == null) {
            throw new IllegalStateException("Robolectric has not begun");
        }
        return known;
    }
}
