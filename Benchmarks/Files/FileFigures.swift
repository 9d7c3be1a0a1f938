/// The limits of the outbox of files: two cores, a release build, nothing else running. Source:
/// issue 50.
extension Bar {
    /// The median time from the making of a client until its outbox knows which files to send.
    static let queueOpens = Bar("a queue of 10,000 files opens", below: 20, "ms")
}

enum FileRatio {
    /// The maximum ratio of an upload's time to that of one plain request. It is at least 60 % of
    /// the throughput.
    static let upload = 1 / 0.6
}
