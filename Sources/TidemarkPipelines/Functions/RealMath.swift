import Foundation
import Synchronization
import TidemarkModel

/// The C library's functions of doubles. No other file needs Foundation.
enum RealMath {
    static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
    static func exponential(_ number: Double) -> Double { exp(number) }
    static func logarithm(_ number: Double) -> Double { log(number) }
    static func decimalLogarithm(_ number: Double) -> Double { log10(number) }

    /// Returns 10 to an integral power.
    static func powerOfTen(_ exponent: Int) -> Double { pow(10, Double(exponent)) }

    /// Returns the distance of two places on a sphere of the Earth's mean radius, in metres.
    static func distance(from a: GeoPoint, to b: GeoPoint) -> Double {
        let (one, two) = (a.latitude * .pi / 180, b.latitude * .pi / 180)
        let latitudes = sin((two - one) / 2)
        let longitudes = sin((b.longitude - a.longitude) * .pi / 360)
        let square = latitudes * latitudes + cos(one) * cos(two) * longitudes * longitudes
        return 2 * 6_371_008.8 * asin(min(1, square.squareRoot()))
    }

    /// Returns the seconds by which a zone is ahead of UTC at a time; nil for an unknown zone.
    static func offset(ofZone name: String, at seconds: Int64) -> Int64? {
        zone(name).map {
            Int64($0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
        }
    }

    /// The zones that were asked for, up to 100. To find a zone reads a file of the system.
    private static let zones = Mutex<[String: TimeZone]>([:])

    private static func zone(_ name: String) -> TimeZone? {
        if name == "UTC" || name == "GMT" { return .gmt }
        return zones.withLock { zones in
            if let known = zones[name] { return known }
            guard let zone = TimeZone(identifier: name) else { return nil }
            if zones.count < 100 { zones[name] = zone }
            return zone
        }
    }
}
