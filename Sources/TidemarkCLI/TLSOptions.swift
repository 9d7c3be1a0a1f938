import ArgumentParser
import Foundation
import TidemarkHTTP

/// The options for encrypted connections and their certificate.
struct TLSOptions: ParsableArguments {
    @Flag(
        help: """
            Also accept TLS connections on --port. Browsers then use HTTP/2, so that many tabs \
            share one connection. Other clients can still connect without TLS. The server \
            creates a certificate beside its data at the first start and prints its path.
            """)
    var tls = false

    @Option(
        help: ArgumentHelp(
            """
            Your own certificate for --tls, in PEM, for example one of mkcert, which your \
            browsers trust. Needs --tls-key.
            """, valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The private key of --tls-certificate, in PEM.", valueName: "file"))
    var tlsKey: String?

    func validate() throws {
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key need each other.")
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
                    Data("Created a certificate: \(kept.certificatePath)\n".utf8))
            }
            return kept
        } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
    }
}
