/// The limits for the parts on which apps are built: two cores, a release build, nothing else
/// running. Source: journeys 1, 2 and 4, and issue 5.
extension Bar {
    /// The time starts with the process.
    static let firstContent = Bar("first content of a feed of many, p99", below: 20, "ms")
    static let delta = Bar("50 new of a feed of many, applied after", below: 1.2, "round trips")
    static let diskPage = Bar("a page of 50 from disk, p99", below: 5, "ms")
    static let plan = Bar("a plan of a feed of many", below: 50, "µs")
    static let flight = Bar("single flight, uncontended, on one core", atLeast: 1e6, "/s")
    static let retry = Bar("retry, first attempt succeeds, on one core", atLeast: 1e6, "/s")
    /// The median time, in the process of a test.
    static let localStart = Bar("a local Firestore starts", below: 5, "ms")
    static let timedRetry = Bar("retry with a limit for each attempt", atLeast: 1e5, "/s")
}
