# Included by the Makefile.

.PHONY: android android-run aar r8 apk

android: ## Build the Android library (arm64-v8a, x86_64) without an NDK, and check it
	scripts/android/test-check-library.sh
	scripts/android/build.sh

android-run: ## Load the Android library for x86_64 on this desktop, and stream through it
	tests/android/run.sh

# With libraries from elsewhere (ANDROID_LIBS), such as cargo ndk's, none are built.
aar: $(if $(ANDROID_LIBS),,android) ## Build the AAR into a local Maven repository, and check it
	bindings/kotlin/aar.sh
	bindings/kotlin/check-aar.sh

r8: ## Shrink an app with R8 under the AAR's rules, and run it (after `make aar`)
	bindings/kotlin/check-r8.sh

apk: ## Build the sample app's APKs without Gradle, and check them (after `make aar`)
	android-sample/apk.sh
