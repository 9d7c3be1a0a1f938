#if os(Linux)
    // Declarations of Foundation that Linux lacks. They are here because every file that imports
    // Foundation can use them.
    import Foundation

    /// https://developer.apple.com/documentation/corefoundation/cftypeid
    typealias CFTypeID = UInt

    /// https://developer.apple.com/documentation/corefoundation/cfgettypeid(_:)
    func CFGetTypeID(_ cf: AnyObject!) -> CFTypeID {
        guard let number = cf as? NSNumber else { return 1 }
        // On Apple's systems, the two Boolean constants have one type, and all numbers have
        // another.
        return String(cString: number.objCType) == "c" ? CFBooleanGetTypeID() : 22
    }

    /// https://developer.apple.com/documentation/corefoundation/cfbooleangettypeid()
    func CFBooleanGetTypeID() -> CFTypeID { 21 }
#endif
