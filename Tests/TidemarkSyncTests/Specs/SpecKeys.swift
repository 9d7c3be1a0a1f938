import Testing

/// The keys that a script may contain. Any other key is an error in the script or a gap in the
/// player. If the player ignored the key, a check would be missing.
indirect enum SpecShape: Sendable {
    case any
    case list(SpecShape)
    /// A dictionary with any keys.
    case map(SpecShape)
    case object([String: SpecShape])

    /// Returns the keys of a value that the shape does not contain.
    func unknownKeys(in value: SpecJSON, at place: String = "") -> [String] {
        switch (self, value) {
        case (.list(let shape), .array(let values)):
            values.flatMap { shape.unknownKeys(in: $0, at: place + "[]") }
        case (.map(let shape), .object(let members)):
            members.flatMap { shape.unknownKeys(in: $0.value, at: place + ".*") }
        case (.object(let shapes), .object(let members)):
            members.flatMap { key, value in
                shapes[key].map { $0.unknownKeys(in: value, at: "\(place).\(key)") }
                    ?? ["\(place).\(key)"]
            }
        default: []
        }
    }

    private static func keys(_ keys: String...) -> SpecShape {
        .object(Dictionary(uniqueKeysWithValues: keys.map { ($0, .any) }))
    }

    static let query = keys("collectionGroup", "filters", "limit", "limitType", "orderBys", "path")

    static let document = SpecShape.object([
        "createTime": .any, "key": .any, "value": .any, "version": .any,
        "options": keys("hasCommittedMutations", "hasLocalMutations"),
    ])

    static let event = SpecShape.object([
        "added": .list(document), "modified": .list(document), "removed": .list(document),
        "metadata": .list(document), "errorCode": .any, "fromCache": .any,
        "hasPendingWrites": .any, "query": query,
    ])

    static let state = SpecShape.object([
        "activeLimboDocs": .any, "enqueuedLimboDocs": .any, "numOutstandingWrites": .any,
        "watchStreamRequestCount": .any, "writeStreamRequestCount": .any,
        "userCallbacks": keys("acknowledgedDocs", "rejectedDocs"),
        "activeTargets": .map(
            .object([
                "queries": .list(query), "resumeToken": .any, "readTime": .any,
                "expectedCount": .any, "targetPurpose": .any,
            ])),
    ])

    private static let userSteps: [String: SpecShape] = [
        "userListen": .object([
            "targetId": .any, "query": query,
            "options": keys("includeMetadataChanges", "source", "waitForSyncWhenOnline"),
        ]),
        "userUnlisten": .any, "userSet": .any, "userPatch": .any, "userDelete": .any,
        "enableNetwork": .any, "waitForPendingWrites": .any, "restart": .any,
        "addSnapshotsInSyncListener": .any, "removeSnapshotsInSyncListener": .any,
        "changeUser": .any, "failDatabase": .any, "loadBundle": .any, "triggerLruGC": .any,
        "runTimer": .any,
    ]

    private static let serverSteps: [String: SpecShape] = [
        "watchAck": .any, "watchCurrent": .any, "watchReset": .any,
        "watchEntity": .object([
            "doc": document, "docs": .list(document), "key": .any, "targets": .any,
            "removedTargets": .any,
        ]),
        "watchFilter": .object([
            "targetIds": .any, "keys": .any,
            "bloomFilter": .object(["bits": keys("bitmap", "padding"), "hashCount": .any]),
        ]),
        "watchRemove": .object(["targetIds": .any, "cause": keys("code", "message")]),
        "watchSnapshot": keys("resumeToken", "targetIds", "version"),
        "watchStreamClose": .object([
            "error": keys("code", "message"), "runBackoffTimer": .any,
        ]),
        "writeAck": keys("keepInQueue", "version"),
        "failWrite": .object(["error": keys("code", "message"), "keepInQueue": .any]),
    ]

    private static let expectations: [String: SpecShape] = [
        "expectedSnapshotEvents": .list(event), "expectedState": state,
        "expectedSnapshotsInSyncEvents": .any, "expectedWaitForPendingWritesEvents": .any,
    ]

    static let script = SpecShape.object([
        "describeName": .any, "itName": .any, "tags": .any, "comment": .any,
        "config": keys(
            "numClients", "useEagerGCForMemory", "maxConcurrentLimboResolutions",
            // An addition of this project: true if each user has a cache, as in apps.
            "isolatesUsers"),
        "steps": .list(
            .object(
                userSteps.merging(serverSteps) { first, _ in first }
                    .merging(expectations) { first, _ in first })),
    ])
}

struct SpecKeyTests {
    @Test func `a key that nobody knows is found, wherever it is`() {
        let script = SpecJSON.object([
            "config": .object(["numClients": .int(1), "speed": .int(3)]),
            "steps": .array([
                .object([
                    "userListen": .object(["query": .object(["path": .string("a"), "x": .null])]),
                    "expectedState": .object([
                        "activeTargets": .object(["2": .object(["color": .null])])
                    ]),
                    "expectedWonders": .int(7),
                ])
            ]),
        ])
        #expect(
            SpecShape.script.unknownKeys(in: script).sorted() == [
                ".config.speed", ".steps[].expectedState.activeTargets.*.color",
                ".steps[].expectedWonders", ".steps[].userListen.query.x",
            ])
    }
}
