import Foundation

extension Decimal {
    /// The double that is nearest to this number; NaN if the decimal is not a number.
    ///
    /// `NSDecimalNumber.doubleValue` divides by ten repeatedly and rounds each time, which turns
    /// 19.99 into 19.990000000000002. Reading a text rounds only once.
    var nearestDouble: Double { Double(description) ?? .nan }
}
