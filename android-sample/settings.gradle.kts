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
