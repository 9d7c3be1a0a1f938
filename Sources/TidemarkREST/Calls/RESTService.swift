package import Foundation
import Synchronization
package import TidemarkModel
package import TidemarkWire

/// The parts of a server that HTTP calls need: the transport, the access check, and the limits for
/// concurrent work.
package struct HTTPService: Sendable {
    package let transport: any Transport
    /// Decides who may call, and limits the duration of a call whose client set no deadline.
    let desk: CallDesk
    let budget: SendBudget
    /// Runs every call that takes longer than a document's read.
    package let executor: any TaskExecutor
    /// Limits the memory that requests use before they are performed.
    package let bodies: BodyBudget

    /// The maximum bytes that wait to be sent, in all answers and channels together.
    private static let maxUnsentBytes = 64 << 20

    /// - Parameters:
    ///   - access: Decides who may call; nil admits every caller.
    ///   - bodies: Limits the memory of requests, together with the requests of other ports.
    ///   - executor: Runs every call that is not a short read, and the pumps of channels.
    package init(
        _ transport: any Transport, access: (any CallerGate)?, bodies: BodyBudget = .process,
        executor: any TaskExecutor = globalConcurrentExecutor
    ) {
        self.bodies = bodies
        self.transport = transport
        self.executor = executor
        desk = CallDesk(access)
        budget = SendBudget(limit: Self.maxUnsentBytes)
    }

    /// - Parameter headers: The headers, with names in lower case.
    static func context(_ database: DatabaseID, _ headers: [String: String]) -> CallContext {
        var context = CallContext(
            database: database, label: headers[MetadataKey.label], token: token(headers),
            client: headers[MetadataKey.client],
            reportsUsage: headers[MetadataKey.usage] == "1",
            appCheckToken: headers[MetadataKey.appCheck])
        context.agent = headers[MetadataKey.apiClient] ?? headers[MetadataKey.userAgent]
        return context
    }

    /// Returns the bearer token; nil if there is none.
    ///
    /// - Parameter headers: The headers, with names in lower case.
    package static func token(_ headers: [String: String]) -> String? {
        let bearer = "bearer "
        guard let header = headers["authorization"],
            header.lowercased().hasPrefix(bearer)
        else { return nil }
        return String(header.dropFirst(bearer.count))
    }
}

/// An answer over HTTP.
package struct HTTPAnswer: Sendable {
    package enum Body: Sendable {
        case data(Data)
        case parts(any HTTPParts)
    }

    package var status: Int
    package var contentType: String
    package var body: Body
    /// The headers that the call's final status adds, such as the billed reads.
    package var headers: [String: String] = [:]

    package init(status: Int = 200, contentType: String = Self.json, body: Body) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    package static let json = "application/json; charset=UTF-8"

    package static func error(_ status: RPCStatus, isList: Bool = false) -> HTTPAnswer {
        HTTPAnswer(
            status: status.code.httpStatus,
            body: .data(ErrorJSON.data(of: status, isList: isList)))
    }
}

extension HTTPService {
    /// The bytes of a long answer that may wait for their reader. The server pauses the call above
    /// this.
    private static let window = 1 << 20
    private static let maxQueuedBytes = 64 << 20

    /// Identifies the caller and the call from a request's head alone.
    ///
    /// - Returns: The call and its caller, or the answer that refuses them. The body of a refused
    ///   request need not be read.
    package func admission(of head: RESTRequest) async -> RESTAdmission {
        do throws(RESTRefusal) {
            let route = try RESTCall.route(of: head)
            return RESTAdmission(route: route, caller: try await caller(head, route))
        } catch { return RESTAdmission(refusal: .error(error.status, isList: error.isList)) }
    }

    private func caller(
        _ request: RESTRequest, _ route: RESTRoute
    ) async throws(RESTRefusal) -> Caller {
        do throws(RPCStatus) {
            return try await desk.caller(Self.token(request.headers), route.rpc)
        } catch { throw RESTRefusal(error, isList: route.rpc.streamsReplies) }
    }

    private func known(
        of request: RESTRequest, _ admission: RESTAdmission?
    ) async throws(RESTRefusal) -> (RESTRoute, Caller) {
        if let route = admission?.route, let caller = admission?.caller { return (route, caller) }
        let route = try RESTCall.route(of: request)
        return (route, try await caller(request, route))
    }

    /// Decodes a request. Fails if the budget has no room for the decoded body, which counts until
    /// the share is released.
    private func call(
        _ request: RESTRequest, to route: RESTRoute, within share: BodyBudget.Share
    ) throws(RESTRefusal) -> RESTCall {
        do throws(RPCStatus) {
            guard share.grow(by: Self.treeBytes * request.body.count) else { throw .bodiesHeld }
            return try RESTCall(request, route)
        } catch { throw RESTRefusal(error, isList: route.rpc.streamsReplies) }
    }

    /// The estimated bytes of memory that decoding needs for each byte of a body.
    private static let treeBytes = 4

    /// Performs a call. Cancelling the task cancels it.
    ///
    /// The read of a document runs on the executor that the task prefers, such as the event loop of
    /// its connection. Other calls can take longer and run on ``executor``.
    ///
    /// - Parameter admission: The result of ``admission(of:)``; nil if the method must compute it.
    package func answer(
        _ request: RESTRequest, _ admission: RESTAdmission? = nil
    ) async -> HTTPAnswer {
        do throws(RESTRefusal) {
            let (route, caller) = try await known(of: request, admission)
            let share = bodies.share()
            defer { withExtendedLifetime(share) {} }
            let call = try self.call(request, to: route, within: share)
            do throws(RPCStatus) { try caller.checkReach(of: call.database) } catch {
                throw RESTRefusal(error, isList: call.isStreaming)
            }
            var context = Self.context(call.database, request.headers)
            if call.request.isShortRead {
                context.mayAnswerAtOnce = true
                return await read(call, context)
            }
            return await withTaskExecutorPreference(executor) { [context] in
                await perform(call, context)
            }
        } catch { return .error(error.status, isList: error.isList) }
    }

    /// Performs a short read. Usually, the answer is complete when the transport returns.
    private func read(_ call: RESTCall, _ context: CallContext) async -> HTTPAnswer {
        let reply = OnlyReply()
        let handle = transport.call(call.request, context, receive: reply.receive)
        if let end = reply.end { return call.answer(end) }
        let timer = desk.watch(call.method.defaultTimeout) {
            reply.receive(.ended(.timedOut))
            handle.cancel()
        }
        defer { desk.unwatch(timer) }
        return await withTaskCancellationHandler {
            call.answer(await reply.untilEnd())
        } onCancel: {
            handle.cancel()
        }
    }

    private func perform(_ call: RESTCall, _ context: CallContext) async -> HTTPAnswer {
        let handle = ServerCallHandle()
        let outbox = Outbox<StreamEvent<Reply>>(
            limit: Self.maxQueuedBytes, window: Self.window, budget: budget,
            onRoom: { handle.set(isPaused: false) })
        let parts = RESTParts(call, outbox: outbox, handle: handle, service: self)
        handle.set(
            transport.call(call.request, context) { event in
                switch event {
                case .message(let reply):
                    outbox.offer(event, bytes: CallCoding.size(of: reply), for: handle)
                case .ended: outbox.finish(with: [event])
                }
            })
        return await withTaskCancellationHandler {
            call.isStreaming ? await parts.streamed() : await parts.single()
        } onCancel: {
            handle.cancel()
        }
    }
}

/// The route and the caller from a request's head, or the answer that refuses the request.
package struct RESTAdmission: Sendable {
    var route: RESTRoute?
    var caller: Caller?
    /// The answer that refuses the request; nil if the caller is admitted.
    package var refusal: HTTPAnswer?

    /// Makes an admission in which nothing is known yet.
    package init() {}

    init(route: RESTRoute, caller: Caller) {
        self.route = route
        self.caller = caller
    }

    init(refusal: HTTPAnswer) { self.refusal = refusal }
}

/// A body that is produced in parts.
package protocol HTTPParts: AnyObject, Sendable {
    /// Waits for the next part. Only one caller may wait.
    ///
    /// - Returns: The part; nil at the end.
    func next() async -> Data?
    /// Ends the body, because its reader has left. A repeated call has no effect.
    func close()
}

/// Produces the parts of a long answer at the speed of its reader.
final class RESTParts: HTTPParts {
    private let call: RESTCall
    private let outbox: Outbox<StreamEvent<Reply>>
    private let handle: ServerCallHandle
    private let service: HTTPService
    private let place: Int
    private let timer: Int
    /// The events that arrived before the kind of the answer was known.
    private let first = Mutex<[StreamEvent<Reply>]>([])
    private let progress = Mutex((isBegun: false, isEnded: false))

    init(
        _ call: RESTCall, outbox: Outbox<StreamEvent<Reply>>, handle: ServerCallHandle,
        service: HTTPService
    ) {
        self.call = call
        self.outbox = outbox
        self.handle = handle
        self.service = service
        timer = service.desk.watch(call.method.defaultTimeout) {
            outbox.fail(with: [.ended(.timedOut)])
            handle.cancel()
        }
        place = service.budget.register(
            SendBudget.Holder(
                held: { outbox.held },
                evict: {
                    outbox.evict(with: [.ended(.slowReader)])
                    handle.cancel()
                }))
    }

    deinit {
        service.desk.unwatch(timer)
        service.budget.unregister(place)
        outbox.fail()
        handle.cancel()
    }

    /// Waits for the end of a call with a single reply, and returns its answer.
    fileprivate func single() async -> HTTPAnswer {
        var reply: Reply?
        while let events = await outbox.next() {
            for event in events {
                switch event {
                case .message(let message): reply = message
                case .ended(let status): return call.answer((reply, status))
                }
            }
        }
        return .error(.lost)
    }

    /// Waits for the first events. If the call fails before its first reply, the error becomes the
    /// answer's status.
    fileprivate func streamed() async -> HTTPAnswer {
        guard let events = await outbox.next() else { return .error(.lost, isList: true) }
        if case .ended(let status)? = events.first, status.code != .ok {
            return .error(status, isList: true)
        }
        first.withLock { $0 = events }
        return HTTPAnswer(body: .parts(self))
    }

    func close() {
        outbox.fail(with: [.ended(.lost)])
        handle.cancel()
    }

    func next() async -> Data? {
        if progress.withLock({ $0.isEnded }) { return nil }
        var events = first.withLock { events in
            defer { events = [] }
            return events
        }
        if events.isEmpty { events = await outbox.next() ?? [.ended(.lost)] }
        return progress.withLock { progress in
            var data = Data()
            for event in events {
                data += Data((progress.isBegun ? ",\n" : "[").utf8)
                switch event {
                case .message(let reply):
                    progress.isBegun = true
                    data += call.data(of: reply)
                case .ended(let status):
                    // No comma follows the last reply.
                    data.removeLast(progress.isBegun ? 2 : 0)
                    if status.code != .ok {
                        if progress.isBegun { data += Data(",\n".utf8) }
                        data += ErrorJSON.data(of: status)
                    }
                    data += Data("]\n".utf8)
                    progress.isEnded = true
                }
            }
            return data
        }
    }
}

extension RPCStatus {
    fileprivate static let lost = RPCStatus(.unavailable, "The call ended without a response.")
    fileprivate static let slowReader = RPCStatus(
        .resourceExhausted, "The client reads its response too slowly.")
}
