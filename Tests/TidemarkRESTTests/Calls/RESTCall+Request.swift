import TidemarkModel

@testable import TidemarkREST

extension RESTCall {
    /// Reads a whole request, as the service does once it knows the caller.
    init(_ request: RESTRequest) throws(RESTRefusal) {
        let route = try RESTCall.route(of: request)
        do throws(RPCStatus) { try self.init(request, route) } catch {
            throw RESTRefusal(error, isList: route.rpc.streamsReplies)
        }
    }
}
