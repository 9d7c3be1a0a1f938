/// The inputs that the objects' core takes from outside.
package struct ObjectsEnvironment: Sendable {
    /// Returns the time in microseconds since 1970.
    package var now: @Sendable () -> Int64
    /// Returns the given number of unpredictable bytes.
    package var randomBytes: @Sendable (Int) -> [UInt8]
    /// Returns a cryptographic digest, which is the same for the same bytes.
    package var digest: @Sendable ([UInt8]) -> [UInt8]
    /// Called between the steps of a change, with the name of the step. A test ends the process or
    /// throws there.
    package var step: @Sendable (ObjectsStep) throws -> Void = { _ in }

    package init(
        now: @escaping @Sendable () -> Int64,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.now = now
        self.randomBytes = randomBytes
        self.digest = digest
    }
}

/// The steps of a change, at which a test can stop.
package enum ObjectsStep: String, Sendable, CaseIterable {
    case beforeCommit, afterCommit, afterRemoval
}
