import Foundation
import Synchronization
import TidemarkModel
import TidemarkWire

/// The RPC stream of a session. Messages and payloads are JSON.
protocol ChannelStream: Sendable {
    /// Sends a message. Calls are in order and never concurrent.
    func receive(_ json: String)
    /// Waits for payloads. Only one caller may wait.
    ///
    /// - Returns: The payloads; nil after the end of the stream.
    func next() async -> [String]?
    func cancel()
}

/// - Note: Replies are encoded as JSON in the task that reads them, not on the server's thread.
final class RPCStreamChannel<Message: Sendable, Response: Sendable>: ChannelStream {
    private let coding: StreamCoding<Message, Response>
    private let messages: StreamMessages<Message, Response>
    private let requestType: MessageType
    private let responseType: MessageType
    private let service: HTTPService
    private let caller: Caller
    private let lease: StreamLease
    private let headers: [String: String]
    private let handle: ServerCallHandle
    private let outbox: Outbox<StreamEvent<Response>>
    private let place: Int
    private let request = Mutex<(any RequestStream<Message>)?>(nil)

    /// The bytes that may wait in addition to the session's own window.
    private static var window: Int { 1 << 18 }
    private static var maxQueuedBytes: Int { 64 << 20 }

    init(
        _ coding: StreamCoding<Message, Response>, request: MessageType, response: MessageType,
        service: HTTPService, caller: Caller, lease: StreamLease,
        headers: [String: String]
    ) {
        let handle = ServerCallHandle()
        let outbox = Outbox<StreamEvent<Response>>(
            limit: Self.maxQueuedBytes, window: Self.window, budget: service.budget,
            onRoom: { handle.set(isPaused: false) })
        self.coding = coding
        messages = StreamMessages(coding, budget: service.bodies)
        requestType = request
        responseType = response
        self.service = service
        self.caller = caller
        self.lease = lease
        self.headers = headers
        self.handle = handle
        self.outbox = outbox
        place = service.budget.register(
            SendBudget.Holder(
                held: { outbox.held },
                evict: {
                    outbox.evict(with: [
                        .ended(
                            RPCStatus(
                                .resourceExhausted,
                                "The client reads its response too slowly."))
                    ])
                    handle.cancel()
                }))
        lease.onEnd { [outbox, handle] status in
            outbox.fail(with: [.ended(status)])
            handle.cancel()
        }
    }

    deinit {
        lease.release()
        service.budget.unregister(place)
        outbox.fail()
        handle.cancel()
    }

    func receive(_ json: String) {
        do throws(RPCStatus) { try send(json) } catch {
            outbox.fail(with: [.ended(error)])
            handle.cancel()
        }
    }

    private func send(_ json: String) throws(RPCStatus) {
        guard case .object(let object)? = try? JSONValue(Array(json.utf8)) else {
            throw .invalidJSON("The message is not a JSON object.", at: "")
        }
        let (database, message) = try message(object)
        if let request = request.withLock({ $0 }) { return request.send(message) }
        try caller.checkReach(of: database)
        let opened = messages.open(service.transport, HTTPService.context(database, headers)) {
            [outbox, handle, coding] event in
            switch event {
            case .ended: outbox.finish(with: [event])
            case .message(let response):
                outbox.offer(event, bytes: coding.size(response), for: handle)
            }
        }
        handle.set(opened)
        request.withLock { $0 = opened }
        opened.send(message)
    }

    /// - Throws: The error that ends the stream. An invalid target does not end it, as in gRPC: the
    ///   message becomes a refusal of that target, with the error.
    private func message(
        _ object: JSONObject
    ) throws(RPCStatus) -> (database: DatabaseID, Message) {
        var reader = ProtoJSONReader()
        do throws(RPCStatus) {
            return try messages.message(try reader.message(requestType, object))
        } catch {
            guard case .object(let target)? = object["addTarget"] else { throw error }
            var bare = object
            bare["addTarget"] = .object(JSONObject(target.filter { $0.name == "targetId" }))
            var reader = ProtoJSONReader()
            let (database, read) = try messages.message(try reader.message(requestType, bare))
            guard case .unreadable(let id, _)? = read as? ListenRequest,
                let refused = ListenRequest.unreadable(targetID: id, error) as? Message
            else { throw error }
            return (database, refused)
        }
    }

    func next() async -> [String]? {
        guard let events = await outbox.next() else { return nil }
        return events.map { event in
            switch event {
            case .message(let response):
                let json = ProtoJSONWriter.json(responseType, messages.bytes(of: response))
                return Self.text(.list([json]))
            case .ended(let status):
                return status.code == .ok
                    ? ChannelMachine.close
                    : Self.text(
                        .list([
                            ErrorJSON.output(of: status)
                        ]))
            }
        }
    }

    private static func text(_ json: JSONOutput) -> String {
        String(decoding: json.data(), as: UTF8.self)
    }

    func cancel() {
        lease.release()
        outbox.fail()
        handle.cancel()
    }
}
