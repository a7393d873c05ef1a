package dev.rejoin

/**
 * What a turn or a call failed with. Decide by [kind] or by the class; [message] is for people who
 * look for the reason. Events never throw: `Failed` is a value in the flow.
 *
 * @property kind stable and coarse.
 * @property failure what the turn's last event said, with the text that there is; absent where no
 *   turn was started.
 */
sealed class RejoinException(val kind: ErrorKind, message: String, val failure: Failure?) :
    Exception(message) {

    /** The longest text shown at any time in the turn; empty where no turn was started. */
    val partialText: String get() = failure?.partialText.orEmpty()

    /** The HTTP status of the answer that ended the turn, where it was no success. */
    val httpStatus: Int? get() = failure?.httpStatus

    /** The turn was cancelled by [Turn.cancel] or [Turn.close]. */
    class Cancelled(message: String, failure: Failure?) :
        RejoinException(ErrorKind.CANCELLED, message, failure)

    /** The request is wrong: mend it. */
    class BadRequest(message: String, failure: Failure?) :
        RejoinException(ErrorKind.BAD_REQUEST, message, failure)

    /** The key or token is missing, wrong or expired. */
    class Unauthorized(message: String, failure: Failure?) :
        RejoinException(ErrorKind.UNAUTHORIZED, message, failure)

    /** This key may not do that. */
    class Forbidden(message: String, failure: Failure?) :
        RejoinException(ErrorKind.FORBIDDEN, message, failure)

    /** No such model or resource. */
    class NotFound(message: String, failure: Failure?) :
        RejoinException(ErrorKind.NOT_FOUND, message, failure)

    /** A daily quota or the money is used up. */
    class QuotaExhausted(message: String, failure: Failure?) :
        RejoinException(ErrorKind.QUOTA_EXHAUSTED, message, failure)

    /** The prompt was blocked. */
    class Blocked(message: String, failure: Failure?) :
        RejoinException(ErrorKind.BLOCKED, message, failure)

    /** Every attempt that the policy allows was made. The user may try again. */
    class AttemptsUsedUp(message: String, failure: Failure?) :
        RejoinException(ErrorKind.ATTEMPTS_USED_UP, message, failure)

    /** The server could not be reached. The user may try again. */
    class Unreachable(message: String, failure: Failure?) :
        RejoinException(ErrorKind.UNREACHABLE, message, failure)

    /** The turn has cost what it may cost. */
    class SpendUsedUp(message: String, failure: Failure?) :
        RejoinException(ErrorKind.SPEND_USED_UP, message, failure)

    /** The caller passed something that cannot be used; nothing was sent. */
    class InvalidArgument(message: String, failure: Failure?) :
        RejoinException(ErrorKind.INVALID_ARGUMENT, message, failure)

    /** A bug of this library. */
    class Internal(message: String, failure: Failure?) :
        RejoinException(ErrorKind.INTERNAL, message, failure)

    companion object {
        /** The exception for the last event of a turn that failed. */
        fun of(failure: Failure): RejoinException {
            val status = failure.httpStatus?.let { ", HTTP $it" }.orEmpty()
            val details = failure.details?.let { ": $it" }.orEmpty()
            val message = "${failure.kind.name.lowercase()} (${failure.reason}$status)$details"
            return when (failure.kind) {
                ErrorKind.CANCELLED -> Cancelled(message, failure)
                ErrorKind.BAD_REQUEST -> BadRequest(message, failure)
                ErrorKind.UNAUTHORIZED -> Unauthorized(message, failure)
                ErrorKind.FORBIDDEN -> Forbidden(message, failure)
                ErrorKind.NOT_FOUND -> NotFound(message, failure)
                ErrorKind.QUOTA_EXHAUSTED -> QuotaExhausted(message, failure)
                ErrorKind.BLOCKED -> Blocked(message, failure)
                ErrorKind.ATTEMPTS_USED_UP -> AttemptsUsedUp(message, failure)
                ErrorKind.UNREACHABLE -> Unreachable(message, failure)
                ErrorKind.SPEND_USED_UP -> SpendUsedUp(message, failure)
                ErrorKind.INVALID_ARGUMENT -> InvalidArgument(message, failure)
                ErrorKind.INTERNAL -> Internal(message, failure)
            }
        }
    }
}

/**
 * A journal or an effect ledger that cannot do what was asked. Nothing was sent or begun.
 *
 * @property problem what is wrong, to decide by; [message] is for people.
 */
class StorageException(val problem: StorageProblem, message: String) : Exception(message)

/** Runs a call of the generated code with its exceptions as ours. */
internal inline fun <T> translating(call: () -> T): T = try {
    call()
} catch (e: CallException) {
    throw when (e) {
        is CallException.InvalidArgument -> RejoinException.InvalidArgument(e.details, null)
        is CallException.Storage -> StorageException(e.problem, e.details)
        is CallException.Internal -> RejoinException.Internal(e.details, null)
    }
} catch (e: InternalException) {
    throw RejoinException.Internal(e.toString(), null)
}
