/// The limits for the first open after an update from FirebaseFirestore: two cores, a release
/// build, nothing else running. Source: issue 49.
extension Bar {
    static let takenContent = Bar("50 rows after the take-over began, median", below: 20, "ms")
    static let takenAll = Bar("the whole cache taken over", below: 60, "s")
    static let takenMemory = Bar("peak memory of the take-over", below: 80, "MB")
}
