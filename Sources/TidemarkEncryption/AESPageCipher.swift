import Crypto
import Foundation
import Synchronization
import TidemarkStore

/// AES-256-GCM. A sealed box has the library's layout, with a nonce of 12 bytes.
///
/// A call of the library costs 1.1 to 1.3 µs for allocations and type look-ups at run time, and 0.5
/// µs per 4 KB. Opening a box without a place costs a quarter less, because the library contains
/// that call compiled for its own types.
final class AESPageCipher: PageCipher {
    private let key: SymmetricKey
    private let numbers = Mutex(OnceNumbers())

    init(_ key: SymmetricKey) { self.key = key }

    func seal(
        _ message: UnsafeRawBufferPointer, into box: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool {
        let number = numbers.withLock { $0.withNext { try? AES.GCM.Nonce(data: $0) } }
        guard let number, let bytes = seal(message, number: number, place: place)?.combined,
            bytes.count == box.count
        else { return false }
        bytes.withUnsafeBytes { box.copyMemory(from: $0) }
        return true
    }

    private func seal(
        _ message: UnsafeRawBufferPointer, number: AES.GCM.Nonce, place: PagePlace?
    ) -> AES.GCM.SealedBox? {
        guard let place else { return try? AES.GCM.seal(message, using: key, nonce: number) }
        return withUnsafeBytes(of: place.words) {
            try? AES.GCM.seal(message, using: key, nonce: number, authenticating: $0)
        }
    }

    func open(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer,
        at place: PagePlace?
    ) -> Bool {
        guard let box = try? AES.GCM.SealedBox(combined: box), let opened = open(box, place),
            opened.count == message.count
        else { return false }
        opened.withUnsafeBytes { message.copyMemory(from: $0) }
        return true
    }

    private func open(_ box: AES.GCM.SealedBox, _ place: PagePlace?) -> Data? {
        guard let place else { return try? AES.GCM.open(box, using: key) }
        return withUnsafeBytes(of: place.words) {
            try? AES.GCM.open(box, using: key, authenticating: $0)
        }
    }

    /// Decrypts without authentication. The cipher's key stream is the same in both directions, so
    /// sealing the ciphertext again with the same nonce restores the message.
    func decrypt(
        _ box: UnsafeRawBufferPointer, into message: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let box = try? AES.GCM.SealedBox(combined: box),
            box.ciphertext.count == message.count,
            let opened = try? AES.GCM.seal(box.ciphertext, using: key, nonce: box.nonce)
        else { return false }
        opened.ciphertext.copyBytes(to: message)
        return true
    }
}

/// Nonces of 96 bits that never repeat for a key: 64 random bits per opened file, and a counter of
/// 32 bits.
struct OnceNumbers {
    private var prefix = Self.random()
    private var count: UInt32

    /// - Parameter count: The first value of the counter. A test starts near the end.
    init(from count: UInt32 = 0) { self.count = count }

    mutating func withNext<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        defer {
            count &+= 1
            if count == 0 { prefix = Self.random() }
        }
        return try withUnsafeTemporaryAllocation(byteCount: 12, alignment: 8) { number in
            number.storeBytes(of: prefix, as: UInt64.self)
            number.storeBytes(of: count, toByteOffset: 8, as: UInt32.self)
            return try body(UnsafeRawBufferPointer(number))
        }
    }

    private static func random() -> UInt64 {
        var source = SystemRandomNumberGenerator()
        return source.next()
    }
}
