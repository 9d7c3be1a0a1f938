import Foundation

/// What an `NSNumber` was made of.
enum NumberKind {
    /// Whether it is a truth value. On Apple's systems a number of eight bits has the same type of C.
    static func isBoolean(_ number: NSNumber) -> Bool {
        #if canImport(Darwin)
            CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
            ["c", "B"].contains(String(cString: number.objCType))
        #endif
    }
}
