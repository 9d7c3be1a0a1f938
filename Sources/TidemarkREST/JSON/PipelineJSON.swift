import Foundation
import TidemarkModel
import TidemarkWire

extension JSONOutput {
    /// Returns a part of a pipeline's answer in REST's form.
    ///
    /// Each row has `fields`, also without a field: Google's client for JavaScript drops a row that
    /// lacks them. Protobuf's bytes cannot tell a map without entries from none, so this is not
    /// made of them.
    static func part(of reply: ExecutePipelineReply, in database: DatabaseID) -> JSONOutput {
        var members: [Member] = []
        if let id = reply.transaction {
            members.append(Member("transaction", .text(Data(id).base64EncodedString())))
        }
        if !reply.rows.isEmpty {
            members.append(Member("results", .list(reply.rows.map { row($0, in: database) })))
        }
        if let time = reply.executionTime {
            members.append(Member("executionTime", .text(time.rfc3339)))
        }
        if let explanation = reply.explanation {
            let data = JSONOutput.object([
                Member("@type", .text(PipelineResponse.explanationType)),
                Member("value", .text(explanation)),
            ])
            members.append(Member("explainStats", .object([Member("data", data)])))
        }
        return .object(members)
    }

    private static func row(
        _ row: ExecutePipelineReply.Row, in database: DatabaseID
    ) -> JSONOutput {
        var members: [Member] = []
        if let path = row.path { members.append(Member("name", .text(path.name(in: database)))) }
        members.append(Member("fields", .fields(row.contents)))
        if let time = row.createTime { members.append(Member("createTime", .text(time.rfc3339))) }
        if let time = row.updateTime { members.append(Member("updateTime", .text(time.rfc3339))) }
        return .object(members)
    }
}
