#if os(Linux)
    // Of Foundation's, what Linux's lacks: here, because a file that imports Foundation finds it.
    import Foundation

    /// https://developer.apple.com/documentation/corefoundation/cftypeid
    typealias CFTypeID = UInt

    /// https://developer.apple.com/documentation/corefoundation/cfgettypeid(_:)
    func CFGetTypeID(_ cf: AnyObject!) -> CFTypeID {
        guard let number = cf as? NSNumber else { return 1 }
        // On Apple's systems the constants of truth are one type, and all numbers are another.
        return String(cString: number.objCType) == "c" ? CFBooleanGetTypeID() : 22
    }

    /// https://developer.apple.com/documentation/corefoundation/cfbooleangettypeid()
    func CFBooleanGetTypeID() -> CFTypeID { 21 }
#endif
