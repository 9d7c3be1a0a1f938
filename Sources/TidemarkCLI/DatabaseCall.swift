import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkResilience
import TidemarkWire

extension PlaceOptions {
    /// Calls `body` with a connection to the database, and closes the connection. A call that finds
    /// no server is repeated as by Firestore's clients: four times, within a second.
    ///
    /// - Parameters:
    ///   - label: The label of the calls in the server's read meter.
    ///   - limit: The maximum time of an attempt.
    ///   - body: Makes calls that may be repeated.
    /// - Throws: `CommandFailure` with the address of the server, or `ValidationError`.
    func call<Answer: Sendable>(
        label: String, within limit: Duration,
        _ body: @escaping @Sendable (any Transport, CallContext) async throws -> Answer
    ) async throws -> Answer {
        let place = try await FirestorePlace(
            host: host, project: project, environment: ProcessInfo.processInfo.environment,
            token: TokenVariable.value)
        let name: DatabaseID
        do throws(InvalidPath) {
            name = try DatabaseID(project: place.project, database: database)
        } catch { throw ValidationError(error.message) }
        let context = CallContext(
            database: name, label: label, timeout: limit, token: try await place.token())
        let transport = GRPCTransport(place.endpoint)
        do {
            let answer = try await Retry(RetryPolicy()).run(
                classify: { Failure(Self.mayPass($0) ? .transient : .permanent) }
            ) { try await body(transport, context) }
            await transport.close()
            return answer
        } catch {
            await transport.close()
            guard let status = (error as? RetryError)?.last as? RPCStatus else { throw error }
            throw CommandFailure("\(place.endpoint.address): \(status.message)")
        }
    }

    private static func mayPass(_ error: any Error) -> Bool {
        (error as? RPCStatus)?.code == .unavailable
    }
}
