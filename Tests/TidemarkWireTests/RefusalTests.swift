import Foundation
import GRPCCore
import SwiftProtobuf
import Testing
import TidemarkModel

@testable import TidemarkWire

/// The messages with which production refused unreadable requests: server-production-facts 1 to 5.
struct RefusalTests {
    private static let base = "projects/demo/databases/(default)"
    private static let root = base + "/documents"

    private func text(_ method: RPCMethod, _ message: some Message) -> String? {
        do throws(RPCStatus) { _ = try DecodedRequest(method, message.wireBytes) } catch {
            #expect(error.code == .invalidArgument)
            return error.message
        }
        return nil
    }

    private func query(_ set: (inout PBStructuredQuery) -> Void) -> String? {
        text(
            .runQuery,
            PBRunQueryRequest.with {
                $0.parent = Self.root
                set(&$0.structuredQuery)
            })
    }

    private func aggregation(
        _ set: (inout PBStructuredAggregationQuery) -> Void
    ) -> String? {
        text(
            .runAggregationQuery,
            PBRunAggregationQueryRequest.with {
                $0.parent = Self.root
                set(&$0.structuredAggregationQuery)
            })
    }

    @Test func `a query that is none`() {
        #expect(
            text(.runQuery, PBRunQueryRequest.with { $0.parent = Self.root })
                == "only structured queries are supported")
        #expect(
            text(.runAggregationQuery, PBRunAggregationQueryRequest.with { $0.parent = Self.root })
                == "Only structured aggregation queries are supported.")
        #expect(
            text(.partitionQuery, PBPartitionQueryRequest.with { $0.parent = Self.root })
                == "Query is required.")
    }

    @Test func `a collection's id`() {
        func from(_ id: String) -> String? {
            query { $0.from = [.with { $0.collectionID = id }] }
        }
        #expect(from("a/b") == "Collection id \"a/b\" is invalid because it contains \"/\".")
        #expect(from("__x__") == "Collection id \"__x__\" is invalid because it is reserved.")
        #expect(from(".") == "Collection id \".\" is invalid because it is reserved.")
        #expect(
            from(String(repeating: "a", count: 1_501))
                == "The query kind is longer than 1500 bytes.")
        #expect(from("") == nil)
        #expect(query { $0.from = [.init(), .init()] } != nil)
    }

    @Test func `a field's path`() {
        func order(_ path: String) -> String? {
            query { $0.orderBy = [.with { $0.field.fieldPath = path }] }
        }
        #expect(order("") == "Invalid empty property path string.")
        #expect(
            order(String(repeating: "a", count: 1_501))
                == "property path is longer than 1500 bytes.")
        #expect(order("a[0]") == "Invalid property path")
        #expect(
            order("a..b") == """
                Invalid property path "a..b". Unquoted property paths must match regex \
                ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex \
                (`(?:[^`\\\\]|(?:\\\\.))+`)
                """)
    }

    @Test func `a name, where it lacks something`() {
        func get(_ name: String) -> String? {
            text(.getDocument, PBGetDocumentRequest.with { $0.name = name })
        }
        #expect(get("bad/path") == "Document name \"bad/path\" lacks \"projects\" at index 0.")
        #expect(get("") == "Document name \"\" lacks \"projects\" at index 0.")
        let collection = Self.root + "/c"
        #expect(
            get(collection)
                == "Document name \"\(collection)\" lacks \"/\" at index \(collection.utf8.count).")
        let other = "projects/p/collections/c/documents/a/b"
        #expect(get(other) == "Document name \"\(other)\" lacks \"databases\" at index 11.")
        #expect(get(Self.root + "/c/d") == nil)
    }

    @Test func `a parent that is a collection`() {
        let name = Self.root + "/rooms"
        let expected = "Document parent name \"\(name)\" lacks \"/\" at index \(name.utf8.count)."
        #expect(text(.runQuery, PBRunQueryRequest.with { $0.parent = name }) != nil)
        let query = PBRunQueryRequest.with {
            $0.parent = name
            $0.structuredQuery = .init()
        }
        #expect(text(.runQuery, query) == expected)
        #expect(
            text(.listCollectionIDs, PBListCollectionIdsRequest.with { $0.parent = name })
                == expected)
        #expect(
            text(.listDocuments, PBListDocumentsRequest.with { $0.parent = name }) == expected)
        #expect(
            text(.listDocuments, PBListDocumentsRequest.with { $0.parent = "bad" })
                == "Document parent name \"bad\" lacks \"projects\" at index 0.")
    }

    @Test func `a reference in a filter`() {
        func filter(_ name: String) -> String? {
            // Field 5 of a Value is a reference. The model cannot make a wrong one.
            let bytes = [UInt8(5 << 3 | 2), UInt8(name.utf8.count)] + Array(name.utf8)
            return query {
                $0.where.fieldFilter = .with {
                    $0.field.fieldPath = "__name__"
                    $0.op = .equal
                    $0.value = Data(bytes)
                }
            }
        }
        let collection = Self.root + "/c"
        #expect(
            filter(collection)
                == "Document parent name \"\(collection)\" lacks \"/\" at index "
                + "\(collection.utf8.count).")
        #expect(filter("bad/path") == "Document name \"bad/path\" lacks \"projects\" at index 0.")
        #expect(filter(Self.root + "/c/d") == nil)
    }

    @Test func `a list's page size and order`() {
        func list(_ set: (inout PBListDocumentsRequest) -> Void) -> String? {
            text(
                .listDocuments,
                PBListDocumentsRequest.with {
                    $0.parent = Self.root
                    $0.collectionID = "c"
                    set(&$0)
                })
        }
        #expect(list { $0.pageSize = -1 } == "Page size must be nonnegative.")
        #expect(list { $0.orderBy = "a..b" } == "Invalid order by clause \"a..b\".")
        #expect(list { $0.mask.fieldPaths = [""] } == "Invalid empty property path string.")
        let ids = PBListCollectionIdsRequest.with {
            $0.parent = Self.root
            $0.pageSize = -1
        }
        #expect(
            text(.listCollectionIDs, ids) == "page_size must be greater than or equal to zero.")
    }

    @Test func `an aggregation`() {
        #expect(
            aggregation { $0.aggregations = [.init()] }
                == "Operator field in Aggregation is not set.")
        #expect(
            aggregation { $0.aggregations = [.with { $0.count.upTo = -1 }] }
                == """
                The `up_to` value in a COUNT aggregation must be greater than or equal to zero.
                """)
    }

    @Test func `a query without from, or of an empty aggregation, is read`() {
        #expect(query { _ in } == nil)
        #expect(aggregation { _ in } == nil)
    }

    @Test func `a write of another database than the request's`() {
        let other = "projects/demo/databases/other/documents/a/b"
        let writes: [PBWrite] = [
            .with { $0.delete = other }, .with { $0.verify = other },
            .with {
                $0.update = Data(
                    DocumentCodec.encode(WireDocument(name: other, contents: .empty)))
            },
        ]
        for write in writes {
            let commit = PBCommitRequest.with {
                $0.database = Self.base
                $0.writes = [write]
            }
            #expect(text(.commit, commit) == "\"\(other)\" belongs to another database.")
        }
    }
}
