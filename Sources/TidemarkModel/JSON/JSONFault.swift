/// Says why a text is no JSON, and at which of its bytes.
package struct JSONFault: Error, Hashable, Sendable {
    package let problem: String
    /// The number of bytes before the place.
    package let offset: Int

    package var message: String { "\(problem) (byte \(offset))" }
}
