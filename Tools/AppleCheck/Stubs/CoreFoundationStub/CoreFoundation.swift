// CoreFoundation's types, which Apple's other modules use. On Apple's systems they are classes,
// bridged from Swift's types by `as`. Here they are Swift's own types, and the same `as` compiles.
// https://developer.apple.com/documentation/corefoundation
public import Foundation

public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFData = Data
public typealias CFTypeRef = AnyObject

/// https://developer.apple.com/documentation/corefoundation/cfallocator
public final class CFAllocator: Sendable {
    static let null = CFAllocator()
}

/// https://developer.apple.com/documentation/corefoundation/kcfallocatornull
public let kCFAllocatorNull: CFAllocator! = CFAllocator.null

/// https://developer.apple.com/documentation/corefoundation/cfdatacreatewithbytesnocopy(_:_:_:_:)
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: Int,
    _ bytesDeallocator: CFAllocator!
) -> CFData! {
    precondition(bytesDeallocator === kCFAllocatorNull, "the bytes are the caller's")
    return Data(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), count: length, deallocator: .none)
}
