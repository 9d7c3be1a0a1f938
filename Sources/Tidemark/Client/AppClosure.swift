/// A closure of the app, on its way to the queue of the listeners.
///
/// FirebaseFirestore takes plain closures, so a closure in a class of the main actor can use that
/// class. Tidemark takes plain closures too.
///
/// The closure is safe to send: only a job on the queue that the app chose calls it, and the jobs
/// run in sequence. It is never copied elsewhere. Like FirebaseFirestore, Tidemark trusts that a
/// closure of the main actor comes with the main queue, which is the default.
struct AppClosure<Function>: @unchecked Sendable {
    let call: Function

    init(_ function: Function) { call = function }
}
