public import TidemarkWords

/// The reason why an intake ended.
public enum HealthIntakeError: Error, Hashable, Sendable {
    case source(HealthSourceError)
    case store(HealthExportError)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person who uses the app.
    public var sentence: Sentence {
        switch self {
        case .source(let error): error.sentence
        case .store(let error): error.sentence
        }
    }
}
