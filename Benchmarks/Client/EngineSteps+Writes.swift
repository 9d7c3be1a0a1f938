import TidemarkModel
import TidemarkSync
import TidemarkTesting

extension EngineSteps {
    /// Measures changes of a listened document; then 500 new documents while a listener shows the
    /// newest 50, so each document becomes the first row.
    func writes() throws -> [ClientSample] {
        let engine = try ClientEngine(folder)
        let updated = update(engine)
        // The view is updated only. The app makes an array of the documents at another time.
        let seen = Latest(countsOnly: true)
        let listening = engine.engine.listen(workload.top, .init(source: .cache)) { seen.set($0) }
        engine.settle()
        _ = engine.buildIndexes()
        let written = write(engine, seen)
        let pending = repeated(conversation, engine)
        let acknowledged = acknowledge(engine)
        listening.cancel()
        engine.close()
        return [
            ClientSample("g_write", written), ClientSample("g_write_unread", written),
            ClientSample("g_conv_with_500_pending", pending / 1e3),
            ClientSample("g_ack", acknowledged), ClientSample("i_update_one", updated),
        ]
    }

    private func write(_ engine: ClientEngine, _ seen: Latest) -> Double {
        let mutations = (0..<500).map { step in
            let number = workload.count + step
            return Mutation(path: workload.path(number), .set(workload.fields(number)))
        }
        return median(500) { round in
            let before = seen.snapshots
            engine.engine.write([mutations[round]]) { _ in }
            engine.settle()
            return seen.snapshots - before
        }
    }

    private func acknowledge(_ engine: ClientEngine) -> Double {
        let stream = engine.transport.writes.last!
        stream.push(WriteResponse(streamID: "1", streamToken: [0]))
        engine.settle()
        let times = (0..<500).map { workload.document(workload.count + $0).updateTime }
        return median(500) { round in
            stream.push(
                WriteResponse(
                    streamToken: [1], results: [MutationResult(updateTime: times[round])],
                    commitTime: times[round]))
            engine.settle()
            return 1
        }
    }

    /// Changes the documents of a listened conversation on the server, one after the other.
    ///
    /// - Parameter first: The number of earlier changes.
    func update(_ engine: ClientEngine, from first: Int = 0) -> Double {
        let number = workload.count / 100
        let listen = ServedListen(workload.newest(ofConversation: number), engine)
        let documents = documents(ofConversation: number)
        let known = 1_755_000_000 + (first == 0 ? 0 : 5_000_000 + Int64(first))
        listen.serve(documents, isCurrent: true, at: known)
        let changed = (first..<(first + 200)).map { round in
            documents[round % documents.count].changed(
                likes: 10_000 + round, at: 1_760_000_000 + Int64(round))
        }
        let times = changed.map { document in
            let before = listen.seen.snapshots
            let taken = listen.serve([document])
            precondition(listen.seen.snapshots > before, "a change that nobody is shown")
            return taken
        }
        listen.handle.cancel()
        engine.settle()
        return times.median
    }
}

extension Document {
    /// Returns a later version of the document.
    ///
    /// - Parameter seconds: The update time of the version, in seconds since 1970.
    func changed(likes: Int, at seconds: Int64) -> Document {
        var fields = fields
        fields["likes"] = .integer(Int64(likes))
        return Document(
            path: path, fields: fields, createTime: createTime,
            updateTime: Timestamp(seconds: seconds, nanoseconds: 0))
    }
}
