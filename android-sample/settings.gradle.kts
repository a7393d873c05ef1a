// For Android Studio. `make apk` builds the same app without Gradle, and that is the way that was
// run: there was no Gradle where this was written.
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositoriesMode = RepositoriesMode.FAIL_ON_PROJECT_REPOS
    repositories {
        // `make aar` fills it.
        maven(url = uri("../bindings/kotlin/target/m2")) { content { includeGroup("dev.rejoin") } }
        google()
        mavenCentral()
    }
}

rootProject.name = "rejoin-sample"
include(":app")
