import Foundation

// Classifies errors of the system by domain and number, and errors of network libraries by their
// type names, so this module needs to link none of the libraries.

extension Failure {
    /// Returns nil for an error of another kind.
    init?(systemError error: any Error) {
        let numbered = error as NSError
        switch numbered.domain {
        case "NSURLErrorDomain": self.init(urlError: numbered.code)
        case NSPOSIXErrorDomain: self.init(errno: Int32(truncatingIfNeeded: numbered.code))
        default: return nil
        }
    }

    /// Classifies the numbers of `URLError.Code`, which are the same on all systems.
    private init(urlError code: Int) {
        switch code {
        case -999: self.init(.cancelled)
        // Timeout, lost connection, background session disconnected.
        case -1001, -1005, -997: self.init(.transient)
        // No host, no connection, no DNS name, no network, roaming, a phone call, no data, no TLS:
        // nothing was sent.
        case -1003, -1004, -1006, -1009, -1018, -1019, -1020, -1200:
            self.init(.transient, hadNoEffect: true)
        // An answer that is too large, has a bad redirect or is damaged.
        case -1008, -1011, -1014, -1015, -1016, -1017: self.init(.transient)
        // Captive portals show their own certificates.
        case -1201, -1202, -1203, -1204: self.init(.transient, hadNoEffect: true)
        case -1012, -1013: self.init(.authentication, hadNoEffect: true)
        default: self.init(.permanent)
        }
    }

    private init?(errno code: Int32) {
        switch code {
        case ECANCELED: self.init(.cancelled)
        case ECONNREFUSED, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL:
            self.init(.transient, hadNoEffect: true)
        case ECONNRESET, ECONNABORTED, EPIPE, ETIMEDOUT, ENOTCONN, EAGAIN, EINTR, ENETRESET:
            self.init(.transient)
        default: return nil
        }
    }
}

extension Failure {
    /// Classifies errors of AsyncHTTPClient and SwiftNIO; returns nil for errors of other
    /// libraries.
    init?(networkLibraryError error: any Error) {
        switch String(reflecting: type(of: error)) {
        case "AsyncHTTPClient.HTTPClientError": self.init(httpClient: Self.caseName(of: error))
        // Connection refused, or host not found.
        case "NIOPosix.NIOConnectionError": self.init(.transient, hadNoEffect: true)
        case "NIOCore.ChannelError", "NIOCore.IOError", "NIOSSL.NIOSSLError",
            "NIOSSL.NIOSSLExtraError",
            "NIOSSL.BoringSSLError", "NIOHTTP1.HTTPParserError", "NIOHTTP2.NIOHTTP2Errors":
            self.init(.transient)
        default: return nil
        }
    }

    /// Returns the name of an enum case, for example `connectTimeout` for
    /// `HTTPClientError.connectTimeout`, with or without a payload.
    private static func caseName(of error: any Error) -> String {
        let text = String(describing: error).prefix { $0 != "(" }
        return text.split(separator: ".").last.map(String.init) ?? ""
    }

    private init(httpClient name: String) {
        switch name {
        case "cancelled": self.init(.cancelled)
        case "connectTimeout", "getConnectionFromPoolTimeout", "socksHandshakeTimeout",
            "httpProxyHandshakeTimeout", "tlsHandshakeTimeout":
            self.init(.transient, hadNoEffect: true)
        case "readTimeout", "writeTimeout", "remoteConnectionClosed", "deadlineExceeded",
            "uncleanShutdown", "requestStreamCancelled", "httpEndReceivedAfterHeadWith1xx",
            "invalidProxyResponse":
            self.init(.transient)
        // The request or the client is invalid: an address, a header, a configuration.
        default: self.init(.permanent)
        }
    }
}
