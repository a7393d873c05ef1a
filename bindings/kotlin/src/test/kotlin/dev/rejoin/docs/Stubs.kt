// What the snippets of docs/kotlin.md need of Android and of an app.
package androidx.lifecycle

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers

open class ViewModel {
    open fun onCleared() {}
}

val ViewModel.viewModelScope: CoroutineScope get() = CoroutineScope(Dispatchers.Default)
