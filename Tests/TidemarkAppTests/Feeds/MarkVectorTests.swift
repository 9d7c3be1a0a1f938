import Foundation
import Testing
import Tidemark
import TidemarkServer

@testable import TidemarkApp

/// Plays `Specs/marks` with the client's own reading and writing of marks, on a server.
@Suite(.timeLimit(.minutes(2))) struct `The vectors of marks` {
    /// A value of JSON in a vector.
    private enum Scalar: Decodable {
        case number(Double), text(String), flag(Bool), list, none

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .none
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .list
            }
        }

        var value: Value {
            switch self {
            case .number(let number):
                Int64(exactly: number).map { .integer($0) } ?? .double(number)
            case .text(let text): .string(text)
            case .flag(let flag): .boolean(flag)
            case .list: .array([])
            case .none: .null
            }
        }
    }

    private struct Vectors: Decodable {
        struct Read: Decodable {
            let name: String
            let value: Scalar
            let mark: Double?
        }
        struct Write: Decodable {
            let name: String
            let encoding: String
            let found: Scalar?
            let mark: Double
            let becomes: Scalar
        }
        struct Two: Decodable {
            let name: String
            let encoding: String
            let marks: [Double]
            let becomes: Scalar
        }
        let read: [Read]
        let write: [Write]
        let two: [Two]
    }

    private let vectors: Vectors
    private let server: FirestoreServer
    private let path = DocumentPath(unchecked: "users/ann")
    private let context: CallContext

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Specs/marks/vectors.json")
        vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
        server = try FirestoreServer(FirestoreServer.Configuration())
        context = CallContext(database: try DatabaseID(project: "demo"), token: "owner")
    }

    private func time(_ milliseconds: Double) -> Timestamp {
        Timestamp(microseconds: Int64((milliseconds * 1_000).rounded()))
    }

    private func number(_ value: Value?) -> Double? {
        switch value {
        case .integer(let whole)?: Double(whole)
        case .double(let double)?: double
        default: nil
        }
    }

    /// Writes marks one after the other, each by a device that knows the document of before.
    private func write(
        _ marks: [Double], _ encoding: String, over found: Scalar?
    ) async throws -> Value? {
        let fields = try SharedMarkFields(
            path, field: "mark", encoding: encoding == "string" ? .string : .number)
        var present = MapValue()
        if let found { present["mark"] = found.value }
        _ = try await server.commit([Mutation(path: path, .set(present))], context)
        for milliseconds in marks {
            let document = try await stored()
            var shared = SharedMarks()
            shared.action = time(milliseconds)
            _ = try await server.commit([fields.mutation(shared, found: document)], context)
        }
        return try await stored()["mark"]
    }

    private func stored() async throws -> MapValue {
        let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: [path]))
        for case .batchGetDocuments(let result) in try await server.replies(to: request, context) {
            if case .found(let document)? = result.row { return document.fields }
        }
        return MapValue()
    }

    private func expect(_ value: Value?, _ wanted: Scalar, _ name: String) {
        switch wanted {
        case .number(let wanted): #expect(number(value) == wanted, "\(name)")
        default: #expect(value == wanted.value, "\(name)")
        }
    }

    @Test func `are read`() {
        #expect(vectors.read.count == 10)
        for vector in vectors.read {
            let mark = SharedMarkFields.time(vector.value.value)
            #expect(mark == vector.mark.map(time), "\(vector.name)")
        }
    }

    @Test func `are written, on top of what is there`() async throws {
        #expect(vectors.write.count == 10)
        for vector in vectors.write {
            let value = try await write([vector.mark], vector.encoding, over: vector.found)
            expect(value, vector.becomes, vector.name)
        }
    }

    @Test func `are merged, in both orders`() async throws {
        for vector in vectors.two {
            for marks in [vector.marks, vector.marks.reversed()] {
                let value = try await write(marks, vector.encoding, over: nil)
                expect(value, vector.becomes, vector.name)
            }
        }
    }
}
