import Foundation

/// The data of the charts: the rows of a demo's file, as `--json` writes it.
struct ChartData: Decodable {
    struct Scenario: Decodable {
        let name, network: String
        let before, after: ChartFigures
    }

    let scenarios: [Scenario]

    /// - Throws: `DecodingError` if this is no file of a demo.
    init(json: Data) throws { self = try JSONDecoder().decode(ChartData.self, from: json) }

    /// Reads a file of a demo, or a file of `Benchmarks/Results`, which has the demo's file as its
    /// `output`.
    ///
    /// - Throws: `DecodingError` if the data is neither.
    init(kept json: Data) throws {
        struct Kept: Decodable { let output: ChartData }
        if let kept = try? JSONDecoder().decode(Kept.self, from: json) {
            self = kept.output
        } else {
            try self.init(json: json)
        }
    }

    init(_ figures: DemoFigures) throws { try self.init(json: try figures.json()) }
}

/// The numbers and the lists of numbers of one side of a scenario. Other values are ignored.
struct ChartFigures: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var numbers: [String: Double] = [:]
    private var rows: [String: [Double]] = [:]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for key in container.allKeys {
            if let number = try? container.decode(Double.self, forKey: key) {
                numbers[key.stringValue] = number
            } else if let row = try? container.decode([Double].self, forKey: key) {
                rows[key.stringValue] = row
            }
        }
    }

    subscript(name: String) -> Double? { numbers[name] }

    func row(_ name: String) -> [Double]? { rows[name] }
}
