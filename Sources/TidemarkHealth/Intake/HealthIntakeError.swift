public import TidemarkWords

/// Why an intake ended.
public enum HealthIntakeError: Error, Hashable, Sendable {
    case source(HealthSourceError)
    case store(HealthExportError)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// One sentence for a person.
    public var sentence: Sentence {
        switch self {
        case .source(let error): error.sentence
        case .store(let error): error.sentence
        }
    }
}
