package androidx.test.runner.intent;

public final class IntentMonitorRegistry {
    private static volatile IntentMonitor current;

    private IntentMonitorRegistry() {}

    public static void registerInstance(IntentMonitor monitor) {
        current = monitor;
    }

    public static IntentMonitor getInstance() {
        return current;
    }
}
