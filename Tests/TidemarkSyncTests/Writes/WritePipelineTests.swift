import Testing
import TidemarkModel

@testable import TidemarkSync

struct WritePipelineTests {
    private func queue(_ ids: ClosedRange<Int64>) -> PendingWrites {
        var queue = PendingWrites()
        for id in ids {
            queue.append(
                MutationBatch(
                    id: id, localWriteTime: at(id), baseMutations: [],
                    mutations: [set("rooms/\(id)", [:])]))
        }
        return queue
    }

    /// - Returns: The ids of the batches that are sent now.
    private func fill(_ pipeline: inout WritePipeline, _ queue: PendingWrites) -> [Int64] {
        var sent: [Int64] = []
        while let batch = pipeline.takeNext(of: queue) { sent.append(batch.id) }
        return sent
    }

    private func fail(
        _ pipeline: inout WritePipeline, _ code: RPCStatus.Code, isReady: Bool = true,
        mayResume: Bool = true, at seconds: Int = 0
    ) -> WritePipeline.Verdict {
        pipeline.streamFailed(
            code, wasReady: isReady, mayResume: mayResume, elapsed: .seconds(seconds))
    }

    @Test func `ten are under way, in order, and the next one follows an answer`() {
        var pipeline = WritePipeline()
        let all = queue(1...12)
        #expect(fill(&pipeline, all) == Array(1...10))
        #expect(fill(&pipeline, all) == [])
        pipeline.settled(1)
        #expect(fill(&pipeline, all) == [11])
        #expect(pipeline.batches.map(\.id) == Array(2...11))
    }

    @Test func `a closed stream has nothing under way, and begins at the head`() {
        var pipeline = WritePipeline()
        #expect(fill(&pipeline, queue(1...2)) == [1, 2])
        pipeline.stop()
        #expect(pipeline.batches.isEmpty && fill(&pipeline, queue(1...2)) == [1, 2])
    }

    @Test func `a failure of the connection is nobody's fault`() {
        var pipeline = WritePipeline()
        #expect(fill(&pipeline, queue(1...3)).count == 3)
        #expect(fail(&pipeline, .unavailable) == .resend)
        #expect(fail(&pipeline, .permissionDenied, isReady: false) == .resend)
        #expect(pipeline.batches.map(\.id) == [1, 2, 3])
    }

    @Test func `one of several that is refused is found by sending each alone`() {
        var pipeline = WritePipeline()
        let all = queue(1...3)
        #expect(fill(&pipeline, all).count == 3)
        #expect(fail(&pipeline, .permissionDenied) == .resendSingly)
        #expect(fill(&pipeline, all) == [1])
        let verdict = fail(&pipeline, .permissionDenied)
        #expect(verdict == .reject(all.batches[0].decoded, isRefusal: true))
        pipeline.settled(1)
        #expect(fill(&pipeline, queue(2...3)) == [2, 3], "the others are sent together again")
    }

    @Test func `where no answer can be asked for, the head is refused at once`() {
        var pipeline = WritePipeline()
        let all = queue(1...3)
        #expect(fill(&pipeline, all).count == 3)
        #expect(
            fail(&pipeline, .invalidArgument, mayResume: false)
                == .reject(all.batches[0].decoded, isRefusal: true))
    }

    @Test func `a batch that the server fails on is given up after ten times in ten minutes`() {
        var pipeline = WritePipeline()
        let all = queue(1...3)
        #expect(fill(&pipeline, all).count == 3)
        for time in 0..<9 {
            #expect(fail(&pipeline, .internal, at: time * 100) == .resend)
            #expect(fill(&pipeline, all) == (time == 0 ? [1] : []))
        }
        #expect(
            fail(&pipeline, .internal, at: 900)
                == .reject(all.batches[0].decoded, isRefusal: false))
    }

    @Test func `an empty queue ends the search for a refused batch`() {
        var pipeline = WritePipeline()
        #expect(fill(&pipeline, queue(1...2)).count == 2)
        #expect(fail(&pipeline, .notFound) == .resendSingly)
        #expect(fill(&pipeline, queue(1...2)) == [1])
        pipeline.settled(1)
        #expect(fill(&pipeline, queue(2...3)) == [2], "each is sent alone still")
        pipeline.settled(2)
        #expect(fill(&pipeline, PendingWrites()) == [])
        #expect(fill(&pipeline, queue(3...4)) == [3, 4])
    }
}
