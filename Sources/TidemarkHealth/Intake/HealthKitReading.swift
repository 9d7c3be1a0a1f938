import Foundation

/// Converts HealthKit's samples: units, metadata and errors as values, without HealthKit.
enum HealthKitReading {
    /// Returns the unit of a kind's quantity, in the form of `HKUnit(from:)`; nil for a kind
    /// without a quantity.
    static func unit(of kind: HealthKind) -> String? {
        switch kind {
        case .sleep, .mood: nil
        default: kind.unit
        }
    }

    /// HealthKit's keys of the metadata that the import uses.
    private static let keys = ["HKTimeZone", "HKWasUserEntered"]

    /// Returns the metadata as an export writes them: texts unchanged, Booleans as `1` or `0`.
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

    /// Returns true if a page of a query with a limit was the last page for now.
    static func isLast(samples: Int, deleted: Int, limit: Int) -> Bool {
        samples + deleted < limit
    }

    static let errorDomain = "com.apple.healthkit"

    /// Returns the meaning of an error of HealthKit. Source: HealthKit, "HKError.Code".
    ///
    /// - Parameters:
    ///   - domain: The domain of the `NSError`.
    ///   - code: The code of the `NSError`.
    ///   - detail: The error's own description.
    static func error(
        domain: String, code: Int, detail: String
    ) -> HealthSourceError {
        guard domain == errorDomain else { return .failed(detail: detail) }
        return switch code {
        // The device has no health data, access is restricted or not allowed, or the app has not
        // requested access.
        case 1, 2, 4, 5: .refused
        // The database is protected until the device is unlocked.
        case 6: .locked
        default: .failed(detail: detail)
        }
    }
}
