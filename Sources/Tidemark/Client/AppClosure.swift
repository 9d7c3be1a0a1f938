/// A closure of the app, on its way to the queue of the listeners.
///
/// FirebaseFirestore takes plain closures, so that one that is written in a class of the main actor may
/// touch that class. Here they are plain too.
///
/// Safe to send: nothing calls it but a job on the queue that the app named, one after the other, and
/// it is never copied anywhere else. Like FirebaseFirestore, it trusts that a closure that belongs to the
/// main actor comes with the main queue, which is the default.
struct AppClosure<Function>: @unchecked Sendable {
    let call: Function

    init(_ function: Function) { call = function }
}
