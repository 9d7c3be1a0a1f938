import Testing
import TidemarkModel

@testable import TidemarkWire

struct CodingTests {
    private let names = Names(database)

    @Test(arguments: UInt64(0)..<200) func `a request comes back as it was`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        for request in generator.requests() {
            let encoded = try EncodedRequest(request, names)
            #expect(encoded.method == request.method)
            let decoded = try DecodedRequest(encoded.method, encoded.bytes)
            #expect(decoded.request == request, "seed \(seed)")
            #expect(decoded.database == database)
        }
    }

    @Test(arguments: UInt64(0)..<200) func `a reply comes back as it was`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        for (method, reply) in generator.replies() {
            let decoded = try ReplyCoder(names).reply(to: method, ReplyCoder(names).encode(reply))
            #expect(decoded == reply, "seed \(seed)")
        }
    }

    @Test(arguments: UInt64(0)..<400)
    func `stream messages come back as they were`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        let asked = generator.listenRequest()
        #expect(try IncomingMessage.listen(ListenCoder(names).encode(asked)).decode(names) == asked)
        let told = generator.listenResponse()
        #expect(try ListenCoder(names).response(ListenCoder(names).encode(told)) == told)
        let written = generator.writeRequest()
        #expect(
            try IncomingMessage.write(WriteCoder(names).encode(written)).decode(names) == written)
        let answered = generator.writeResponse()
        #expect(try WriteCoder(names).response(WriteCoder(names).encode(answered)) == answered)
    }

    @Test(arguments: UInt64(0)..<300)
    func `damaged requests are refused with a sentence or read, and never more`(seed: UInt64) throws
    {
        var generator = Generator(seed: seed)
        let allowed: Set<RPCStatus.Code> = [.invalidArgument, .unimplemented]
        for request in generator.requests() {
            let encoded = try EncodedRequest(request, names)
            for _ in 0..<5 {
                let bytes = generator.damaged(encoded.bytes)
                do throws(RPCStatus) { _ = try DecodedRequest(encoded.method, bytes) } catch {
                    #expect(allowed.contains(error.code) && !error.message.isEmpty)
                }
            }
        }
        let messages = [
            ListenCoder(names).encode(generator.listenRequest()),
            WriteCoder(names).encode(generator.writeRequest()),
        ]
        for bytes in messages.map({ generator.damaged($0) }) {
            do throws(RPCStatus) {
                _ = try IncomingMessage.listen(bytes).decode(names)
                _ = try IncomingMessage.write(bytes).decode(names)
            } catch { #expect(allowed.contains(error.code)) }
        }
    }

    @Test(arguments: UInt64(0)..<300)
    func `damaged replies are refused or read, and never crash`(seed: UInt64) {
        var generator = Generator(seed: seed)
        for (method, reply) in generator.replies() {
            let bytes = generator.damaged(ReplyCoder(names).encode(reply))
            do throws(RPCStatus) { _ = try ReplyCoder(names).reply(to: method, bytes) } catch {
                #expect(error.code == .invalidArgument)
            }
        }
        let told = generator.damaged(ListenCoder(names).encode(generator.listenResponse()))
        _ = try? ListenCoder(names).response(told)
        let answered = generator.damaged(WriteCoder(names).encode(generator.writeResponse()))
        _ = try? WriteCoder(names).response(answered)
    }
}
