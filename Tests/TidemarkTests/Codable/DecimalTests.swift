import Foundation
import Testing
import TidemarkTesting

@testable import Tidemark

/// Tests that decimal numbers are stored as the nearest double, and are equal when read.
@Suite(.timeLimit(.minutes(20))) struct `Decimal numbers` {
    private struct Row: Codable, Equatable { var price: Decimal }

    /// The amounts from 0.01 to 100.00.
    private static let amounts: [(text: String, decimal: Decimal)] = (1...10_000).map { cents in
        let text = "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
        return (text, Decimal(string: text)!)
    }

    @Test func `of money are the double that their text is, in the coder and in dictionaries`()
        throws
    {
        let (encoder, decoder) = (Firestore.Encoder(), Firestore.Decoder())
        for (text, decimal) in Self.amounts {
            let nearest = Double(text)!
            let data = try encoder.encode(Row(price: decimal))
            #expect(data["price"] as? Double == nearest, "\(text)")
            #expect(try decoder.decode(Row.self, from: data).price == decimal, "\(text)")
            #expect(try ValueParser.value(decimal) == .double(nearest), "\(text)")
            #expect(
                try ValueParser.value(NSDecimalNumber(decimal: decimal)) == .double(nearest),
                "\(text)")
        }
    }

    @Test(arguments: [
        "10", "0", "-19.99", "0.1", "7928.46", "12345678901234.56", "1e-20", "-3e100",
        "99999999999999999999999999999999999999",
    ])
    func `of other sizes are the nearest double as well`(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        let data = try Firestore.Encoder().encode(["price": decimal])
        #expect(data["price"] as? Double == Double(text))
        #expect(try ValueParser.value([decimal]) == .array([.double(Double(text)!)]))
    }

    @Test func `that are none are refused, or what the strategy says`() throws {
        let encoder = Firestore.Encoder()
        #expect(throws: EncodingError.self) { try encoder.encode(Row(price: .nan)) }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        #expect(try encoder.encode(Row(price: .nan))["price"] as? String == "?")
    }

    @Test func `are found by a query, and come back equal from a server`() async throws {
        let local = try LocalFirestore.start()
        let rows = try local.firestore().collection("rows")
        let price = Decimal(string: "19.99")!
        try await rows.document("typed").setData(from: Row(price: price))
        try await rows.document("plain").setData(["price": price])
        for filter in [price as Any, 19.99] {
            let found = try await rows.whereField("price", isEqualTo: filter).getDocuments()
            #expect(found.documents.map(\.documentID) == ["plain", "typed"])
            #expect(try found.documents.allSatisfy { try $0.data(as: Row.self).price == price })
        }
        await local.stop()
    }
}
