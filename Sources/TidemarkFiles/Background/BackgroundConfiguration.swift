import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The configuration of the session that sends chunks.
enum BackgroundConfiguration {
    /// Returns a session's configuration. On iOS, tvOS, visionOS and watchOS, the system sends the
    /// chunks also while the app is suspended or has ended. On other systems they end with the
    /// process.
    static func make(_ identifier: String) -> URLSessionConfiguration {
        #if canImport(UIKit)
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.sessionSendsLaunchEvents = true
            configuration.isDiscretionary = false
        #else
            let configuration = URLSessionConfiguration.ephemeral
        #endif
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        // An hour without a byte is the end of a chunk, and a day in all.
        configuration.timeoutIntervalForRequest = 3_600
        configuration.timeoutIntervalForResource = 86_400
        return configuration
    }

    /// Makes the upload of a chunk, whose bytes are stored in the file. A session of a system that
    /// does not continue uploads sends the bytes from memory: Foundation on Linux ends the process
    /// if it reads a piece of the file after the connection has ended.
    static func task(
        _ message: URLRequest, bytes: Data, file: String, in session: URLSession
    ) -> URLSessionUploadTask {
        #if canImport(UIKit)
            session.uploadTask(with: message, fromFile: URL(fileURLWithPath: file))
        #else
            session.uploadTask(with: message, from: bytes)
        #endif
    }
}
