public import Foundation

extension Storage {
    /// Returns the request of an object's bytes with the tokens of a user, for a client of HTTP
    /// that loads the object itself, such as the `ImagePipeline` of `TidemarkImages`.
    ///
    /// Costs no request to Storage; a token that is out of date costs its refresh.
    ///
    /// - Parameters:
    ///   - url: The object's `gs://` address, or its address in Storage.
    ///   - userID: The user for whom the object is loaded; nil for nobody.
    ///   - afterRefusal: True if Storage answered 401 to the last token, which is replaced.
    /// - Returns: The address and the header fields of a GET; nil if the address is not an object's
    ///   in this bucket.
    /// - Throws: ``StorageError/unauthenticated(serverError:)`` if there is no token of this user
    ///   now.
    public func downloadRequest(
        for url: URL, of userID: String?, afterRefusal: Bool = false
    ) async throws(StorageError) -> (address: String, fields: [String: String])? {
        guard let reference = try? reference(for: url), !reference.fullPath.isEmpty else {
            return nil
        }
        if afterRefusal { _ = await client.tokens.replace() }
        let tokens: StorageWire.Tokens
        do { tokens = try await client.tokens.current(of: Array((userID ?? "").utf8)) } catch {
            throw .unauthenticated(serverError: [:])
        }
        // The user may have changed while the token was fetched.
        if userID != self.userID { throw .unauthenticated(serverError: [:]) }
        let address = client.wire.object(bucket, reference.fullPath) + "?alt=media"
        let fields = client.wire.common(tokens, to: address)
        return (address, Dictionary(fields.map { ($0.name, $0.value) }) { $1 })
    }
}
