/// The limits: two cores, a release build, nothing else running. Shares are of the yardstick's rate
/// in the same run. The yardstick is an empty call, or an empty stream of the same 50 documents.
extension Bar {
    static let start = Bar("start to ready", below: 50, "ms")
    static let idle = Bar("idle memory", below: 30, "MiB")
    static let get = Bar("get, share of the empty call's rate", atLeast: 0.60, "")
    static let query = Bar("top 50 by index, share of the empty stream's", atLeast: 0.40, "")
    static let commit = Bar("commit of 500 writes, synced", below: 25, "ms")
    static let load = Bar("load 100,000, one listening", below: 5, "s")
    static let fanOut = Bar("commit to the last of 1,000 listeners", below: 50, "ms")
    static let size = Bar("commit of 1 among many documents, to 1,000", below: 1.5, "x")
    static let sizeOfMany = Bar("commit of 500 among many documents, to 1,000", below: 1.5, "x")
    static let listeners = Bar("commit beside many listeners, to 1,000", below: 1.5, "x")
    /// At most 64 MiB wait to be sent, and the system returns as much memory late.
    static let silent = Bar("growth by 20 silent readers of 200 MiB", below: 160, "MiB")
    /// A get that reads another document, under 300 lines of rules. This is the time of the
    /// evaluation only.
    static let rulesGet = Bar("rules: a get", below: 30, "µs")
    static let rulesTrace = Bar("rules: a get, recorded", below: 60, "µs")
    static let rulesCommit = Bar("rules: a commit of 500 writes", below: 10, "ms")
    static let rulesLoad = Bar("rules: reading 256 KB", below: 100, "ms")
    /// The longest wait of a read while six readers ask for all pages of the console.
    static let hammered = Bar("longest get while all pages are asked for", below: 50, "ms")
    /// A commit of one document while functions wait for changes of 100 other collections.
    static let triggers = Bar("commit beside 100 triggers, to none", below: 1.1, "x")
    /// The time from a commit's answer to the event's arrival at its function, on this machine.
    static let event = Bar("event at its function, after the commit", below: 5, "ms")
    static let slope = Bar("growth under mixed load", below: 30, "MiB/h")
}
