#if os(Linux)
    // Declarations of Foundation that Linux lacks. They are here because every file that imports
    // Foundation can use them.
    import Foundation

    extension ProcessInfo {
        /// https://developer.apple.com/documentation/foundation/processinfo/islowpowermodeenabled
        var isLowPowerModeEnabled: Bool { false }
    }
#endif
