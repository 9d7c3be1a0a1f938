import Foundation

/// How HealthKit's samples are read: units, metadata and errors as values, without HealthKit.
enum HealthKitReading {
    /// The unit in which a kind's quantity is asked for, as `HKUnit(from:)` reads it; nil for what is no
    /// quantity.
    static func unit(of kind: HealthKind) -> String? {
        switch kind {
        case .sleep, .mood: nil
        default: kind.unit
        }
    }

    /// HealthKit's keys for metadata that are of use.
    private static let keys = ["HKTimeZone", "HKWasUserEntered"]

    /// As an export writes them: texts as they are, truth as `1` or `0`.
    static func texts(of metadata: [String: Any]?) -> [String: String] {
        var texts: [String: String] = [:]
        for key in keys {
            switch metadata?[key] {
            case let text as String: texts[key] = text
            case let isTrue as Bool: texts[key] = isTrue ? "1" : "0"
            case let number as NSNumber: texts[key] = number.boolValue ? "1" : "0"
            default: break
            }
        }
        return texts
    }

    /// Whether a page of a query with a limit was the last one for now.
    static func isLast(samples: Int, deleted: Int, limit: Int) -> Bool {
        samples + deleted < limit
    }

    static let errorDomain = "com.apple.healthkit"

    /// What an error of HealthKit means. Source: HealthKit, "HKError.Code".
    ///
    /// - Parameters:
    ///   - domain: Of the `NSError`.
    ///   - code: Of the `NSError`.
    ///   - detail: Its own words.
    static func error(
        domain: String, code: Int, detail: String
    ) -> HealthSourceError {
        guard domain == errorDomain else { return .failed(detail: detail) }
        return switch code {
        // No health data on this device, or they are restricted; not allowed; never asked.
        case 1, 2, 4, 5: .refused
        // The database is protected until the device is unlocked.
        case 6: .locked
        default: .failed(detail: detail)
        }
    }
}
