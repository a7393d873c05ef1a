// What the snippets of docs/kotlin.md need of Android and of an app.
package androidx.lifecycle

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers

open class ViewModel {
    open fun onCleared() {}
}

val ViewModel.viewModelScope: CoroutineScope get() = CoroutineScope(Dispatchers.Default)

interface LifecycleObserver

interface LifecycleOwner {
    val lifecycle: Lifecycle
}

abstract class Lifecycle {
    abstract fun addObserver(observer: LifecycleObserver)
}

interface DefaultLifecycleObserver : LifecycleObserver {
    fun onStart(owner: LifecycleOwner) = Unit
    fun onStop(owner: LifecycleOwner) = Unit
}
