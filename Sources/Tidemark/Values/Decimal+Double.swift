import Foundation

extension Decimal {
    /// The double that is nearest to this number; NaN for what is none.
    ///
    /// `NSDecimalNumber.doubleValue` divides by ten again and again and rounds each time, so that 19.99
    /// becomes 19.990000000000002. The reading of a text rounds once.
    var nearestDouble: Double { Double(description) ?? .nan }
}
