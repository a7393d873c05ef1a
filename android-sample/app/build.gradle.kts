plugins {
    alias(libs.plugins.android.application)
}

android {
    namespace = "dev.rejoin.sample"
    compileSdk = 36

    defaultConfig {
        applicationId = "dev.rejoin.sample"
        minSdk = 24
        targetSdk = 34
        versionCode = 1
        versionName = "0.1.0"
        // The ABIs that the AAR has; JNA has more.
        ndk { abiFilters += listOf("arm64-v8a", "x86_64") }
    }

    buildTypes {
        release {
            isMinifyEnabled = true
            isShrinkResources = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"), "proguard-rules.pro")
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_17
        targetCompatibility = JavaVersion.VERSION_17
    }
}

dependencies {
    implementation(libs.rejoin)
    implementation(libs.coroutines.android)
}
