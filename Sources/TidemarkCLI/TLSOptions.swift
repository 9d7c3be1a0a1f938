import ArgumentParser
import Foundation
import TidemarkHTTP

/// The options for encrypted connections and their certificate.
struct TLSOptions: ParsableArguments {
    @Flag(
        help: """
            Take encrypted connections too, on --port: browsers speak HTTP/2 over them, on which any \
            number of tabs share a connection. Phones and servers go on without. The certificate is made \
            at the first start, beside the data, and its path is printed.
            """)
    var tls = false

    @Option(
        help: ArgumentHelp(
            """
            A certificate of your own for --tls, in PEM, as mkcert makes one that your browsers trust. \
            Needs --tls-key.
            """, valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The key of --tls-certificate, in PEM.", valueName: "file"))
    var tlsKey: String?

    func validate() throws {
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key come together.")
        }
    }

    /// Returns the encryption of connections; nil for none.
    ///
    /// - Parameters:
    ///   - folder: The folder of the certificate that is made here.
    ///   - names: The names of the server besides `localhost`.
    func tls(in folder: String, for names: [String]) throws -> ServerTLS? {
        do throws(ServerTLSError) {
            if let tlsCertificate, let tlsKey {
                return try ServerTLS(certificatePath: tlsCertificate, keyPath: tlsKey)
            }
            guard tls else { return nil }
            let (kept, isNew) = try ServerTLS.kept(in: folder, for: names)
            if isNew {
                FileHandle.standardError.write(
                    Data("A certificate was made: \(kept.certificatePath)\n".utf8))
            }
            return kept
        } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
    }
}
