import Foundation

/// Finds the type from which an `NSNumber` was made.
enum NumberKind {
    /// Returns true if the number is a Boolean. On Apple's systems a number of eight bits has the
    /// same C type.
    static func isBoolean(_ number: NSNumber) -> Bool {
        #if canImport(Darwin)
            CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
            ["c", "B"].contains(String(cString: number.objCType))
        #endif
    }
}
