#if os(Linux)
    // Of Foundation's, what Linux's lacks: here, because a file that imports Foundation finds it.
    import Foundation

    extension ProcessInfo {
        /// https://developer.apple.com/documentation/foundation/processinfo/islowpowermodeenabled
        var isLowPowerModeEnabled: Bool { false }
    }
#endif
