import Crypto
import Foundation
import TidemarkStore

/// AES-256-GCM over one page. Its seal: the number used once, the tag, and four bytes of zeros.
///
/// The library's sealed box is number, contents and tag in one piece: whatever makes fewer pieces of it
/// costs less than the cipher itself.
final class AESPageCipher: PageCipher {
    private static let (numberSize, tagSize) = (12, 16)

    private let key: SymmetricKey
    private var numbers = OnceNumbers()
    /// Where a sealed box is put together. A page has room; a message may be of any length.
    private var scratch = AESPageCipher.room(for: 4_096)

    init(_ key: SymmetricKey) { self.key = key }
    deinit { scratch.deallocate() }

    private static func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: numberSize + count + tagSize, alignment: 16)
    }

    func seal(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeMutableRawBufferPointer,
        _ place: PagePlace
    ) -> Bool {
        let box = numbers.withNext { number in
            withUnsafeBytes(of: place.words) { place in
                (try? AES.GCM.Nonce(data: number)).flatMap {
                    try? AES.GCM.seal(
                        UnsafeRawBufferPointer(bytes), using: key, nonce: $0, authenticating: place)
                }
            }
        }
        guard let sealed = box?.combined else { return false }
        sealed.withUnsafeBytes { sealed in
            let contents = Self.numberSize..<Self.numberSize + bytes.count
            bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[contents]))
            seal.initializeMemory(as: UInt8.self, repeating: 0)
            seal.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[..<Self.numberSize]))
            UnsafeMutableRawBufferPointer(rebasing: seal[Self.numberSize...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: sealed[contents.upperBound...]))
        }
        return true
    }

    func open(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeRawBufferPointer, _ place: PagePlace
    ) -> Bool {
        let end = Self.numberSize + Self.tagSize
        guard seal[end...].allSatisfy({ $0 == 0 }),
            let box = try? AES.GCM.SealedBox(combined: sealedBox(bytes, seal)),
            let opened = withUnsafeBytes(
                of: place.words, { try? AES.GCM.open(box, using: key, authenticating: $0) })
        else { return false }
        opened.withUnsafeBytes { bytes.copyMemory(from: $0) }
        return true
    }

    /// Of ``scratch``, for as long as nothing else is put there. The library copies it: as memory at once, as
    /// `Data` after it has made a piece of memory around it.
    private func sealedBox(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        let start = Self.numberSize + bytes.count
        if scratch.count < start + Self.tagSize {
            scratch.deallocate()
            scratch = Self.room(for: bytes.count)
        }
        scratch.copyMemory(from: UnsafeRawBufferPointer(rebasing: seal[..<Self.numberSize]))
        UnsafeMutableRawBufferPointer(rebasing: scratch[Self.numberSize...]).copyMemory(
            from: UnsafeRawBufferPointer(bytes))
        UnsafeMutableRawBufferPointer(rebasing: scratch[start...]).copyMemory(
            from: UnsafeRawBufferPointer(
                rebasing: seal[Self.numberSize..<Self.numberSize + Self.tagSize]))
        return UnsafeRawBufferPointer(rebasing: scratch[..<(start + Self.tagSize)])
    }

    /// The cipher's stream is the same in both directions: what is sealed again with the same number is
    /// what it was.
    func decrypt(
        _ bytes: UnsafeMutableRawBufferPointer, _ seal: UnsafeRawBufferPointer
    ) -> Bool {
        guard let number = try? AES.GCM.Nonce(data: seal[..<Self.numberSize]),
            let box = try? AES.GCM.seal(
                UnsafeRawBufferPointer(bytes), using: key, nonce: number)
        else { return false }
        box.ciphertext.copyBytes(to: bytes)
        return true
    }
}

/// Numbers of 96 bits, none of which a key meets twice: 64 random bits for each opening of a file, and a
/// count of 32.
struct OnceNumbers {
    private var prefix = Self.random()
    private var count: UInt32

    /// - Parameter count: The first; a test begins near the end.
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
