package androidx.test.runner.intent;

/** Never loaded: no test of the sample stubs intents. */
public final class IntentStubberRegistry {
    private IntentStubberRegistry() {}

    public static boolean isLoaded() {
        return false;
    }

    public static IntentStubber getInstance() {
        throw new IllegalStateException("not loaded");
    }
}
