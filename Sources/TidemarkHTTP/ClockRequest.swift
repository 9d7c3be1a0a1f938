import Foundation
import Hummingbird
import TidemarkModel

/// The body `{"time": microseconds since 1970, or null}`. With null, the server uses the machine's
/// clock again.
struct ClockRequest: Decodable {
    let time: Timestamp?

    private enum Key: CodingKey { case time }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if try container.decodeNil(forKey: .time) {
            time = nil
            return
        }
        let microseconds = try container.decode(Int64.self, forKey: .time)
        guard (Timestamp.min.microseconds...Timestamp.max.microseconds).contains(microseconds)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .time, in: container, debugDescription: "outside the years 1 to 9999")
        }
        time = Timestamp(microseconds: microseconds)
    }

    static func time(in data: Data) throws(Refusal) -> Timestamp? {
        guard let request = try? JSONDecoder().decode(ClockRequest.self, from: data) else {
            throw Refusal(
                .badRequest,
                """
                The body must be {"time": microseconds since 1970} with a time in the years 1 to \
                9999, or {"time": null}.
                """)
        }
        return request.time
    }
}
