/// A message of a ``StoreInbox`` on disk: a head, followed by the plain or encrypted message.
///
/// The head has eight bytes that distinguish the two forms. A plain message is followed by its
/// checksum; an encrypted one consists of a ``SealedHeader`` and a box.
enum SealedMessage {
    private static let plainHead = Array("tdmmsg\u{1}p".utf8)
    private static let sealedHead = Array("tdmmsg\u{2}s".utf8)
    private static let headSize = 8

    static func seal(
        _ message: [UInt8], name: String, key: StoreKeySource?
    ) throws(StoreError) -> [UInt8] {
        guard let key = try key.map(StoreFile.ask) else {
            return plainHead + bytes(of: sum(of: message, name)) + message
        }
        let salt = key.makeSalt()
        let (cipher, check) = key.cipher(salt: salt)
        var header = [UInt8](repeating: 0, count: SealedHeader.size)
        header.withUnsafeMutableBytes { SealedHeader(salt: salt, check: check).write(to: $0) }
        var box = [UInt8](repeating: 0, count: message.count + SealedBox.overhead)
        let isSealed = box.withUnsafeMutableBytes { box in
            message.withUnsafeBytes { cipher.seal($0, into: box, at: place(of: name)) }
        }
        guard isSealed else { throw .unreadable(detail: "a message cannot be encrypted") }
        return sealedHead + header + box
    }

    /// - Throws: ``StoreError/corrupt(detail:)`` for a damaged message; ``StoreError/wrongKey`` and
    ///   related errors as for a database.
    static func open(
        _ bytes: [UInt8], name: String, key: StoreKeySource?
    ) throws(StoreError) -> [UInt8] {
        let head = Array(bytes.prefix(headSize))
        if head == plainHead {
            if key != nil { throw .notEncrypted }
            return try readable(Array(bytes.dropFirst(headSize)), name)
        }
        guard head == sealedHead, bytes.count >= headSize + SealedHeader.size + SealedBox.overhead
        else { throw damaged }
        guard let key = try key.map(StoreFile.ask) else { throw .keyMissing }
        return try decrypted(Array(bytes.dropFirst(headSize)), name: name, key: key)
    }

    private static func readable(
        _ bytes: [UInt8], _ name: String
    ) throws(StoreError) -> [UInt8] {
        guard bytes.count >= PageChecksum.size else { throw damaged }
        let message = Array(bytes.dropFirst(PageChecksum.size))
        guard Array(bytes.prefix(PageChecksum.size)) == self.bytes(of: sum(of: message, name))
        else { throw damaged }
        return message
    }

    private static func decrypted(
        _ bytes: [UInt8], name: String, key: any StoreKey
    ) throws(StoreError) -> [UInt8] {
        guard case .sealed(let header) = bytes.withUnsafeBytes(SealedHeader.read) else {
            throw damaged
        }
        let (cipher, check) = key.cipher(salt: header.salt)
        guard check == header.check else { throw .wrongKey }
        let box = bytes[SealedHeader.size...]
        var message = [UInt8](repeating: 0, count: box.count - SealedBox.overhead)
        let isOpen = message.withUnsafeMutableBytes { message in
            box.withUnsafeBytes { cipher.open($0, into: message, at: place(of: name)) }
        }
        guard isOpen else { throw damaged }
        return message
    }

    private static var damaged: StoreError {
        .corrupt(detail: "a message is not as it was written")
    }

    private static func place(of name: String) -> PagePlace {
        PagePlace(message: sum(of: Array(name.utf8), number: 0))
    }

    private static func sum(of message: [UInt8], _ name: String) -> UInt64 {
        sum(of: message, number: sum(of: Array(name.utf8), number: UInt64(message.count)))
    }

    /// Returns the checksum of any number of bytes, padded with zeros to a multiple of eight.
    private static func sum(of bytes: [UInt8], number: UInt64) -> UInt64 {
        let room = (8 - bytes.count % 8) % 8
        return (bytes + [UInt8](repeating: 0, count: room)).withUnsafeBytes {
            PageChecksum.of($0, number: number &+ UInt64(room))
        }
    }

    private static func bytes(of sum: UInt64) -> [UInt8] {
        withUnsafeBytes(of: sum.littleEndian) { Array($0) }
    }
}
