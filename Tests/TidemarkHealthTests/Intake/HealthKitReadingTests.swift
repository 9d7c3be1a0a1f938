import Foundation
import Testing

@testable import TidemarkHealth

/// Converts HealthKit's names to values, without HealthKit.
struct `Reading HealthKit` {
    @Test func `asks in units that a sample is stored in`() {
        for kind in HealthKind.allCases {
            guard let unit = HealthKitReading.unit(of: kind) else {
                #expect([.sleep, .mood].contains(kind))
                continue
            }
            #expect(kind.factor(unit: unit) == 1, "\(kind) in \(unit)")
        }
    }

    @Test func `keeps what is of use, as an export writes it`() {
        #expect(HealthKitReading.texts(of: nil) == [:])
        let metadata: [String: Any] = [
            "HKTimeZone": "Europe/Berlin", "HKWasUserEntered": true, "HKExternalUUID": "x",
        ]
        #expect(
            HealthKitReading.texts(of: metadata)
                == ["HKTimeZone": "Europe/Berlin", "HKWasUserEntered": "1"])
        #expect(
            HealthKitReading.texts(of: ["HKWasUserEntered": NSNumber(value: 0)])
                == ["HKWasUserEntered": "0"])
    }

    @Test func `ends where a page is not full`() {
        #expect(HealthKitReading.isLast(samples: 0, deleted: 0, limit: 10))
        #expect(HealthKitReading.isLast(samples: 5, deleted: 4, limit: 10))
        #expect(!HealthKitReading.isLast(samples: 10, deleted: 0, limit: 10))
        #expect(!HealthKitReading.isLast(samples: 6, deleted: 5, limit: 10))
    }

    @Test func `tells a locked device, a refusal and a failure apart`() {
        func error(_ code: Int, _ domain: String = "com.apple.healthkit") -> HealthSourceError {
            HealthKitReading.error(domain: domain, code: code, detail: "x")
        }
        #expect(error(6) == .locked)
        for code in [1, 2, 4, 5] { #expect(error(code) == .refused) }
        for code in [3, 7, 99] { #expect(error(code) == .failed(detail: "x")) }
        #expect(error(6, "NSCocoaErrorDomain") == .failed(detail: "x"))
    }
}
