import Testing
import TidemarkModel

@testable import TidemarkSync

struct EngineGateTests {
    @Test func `a new gate is open`() {
        let gate = EngineGate(isReadOnly: false)
        #expect(gate.isRunning && gate.mayConnect && gate.maySend)
        #expect(gate.refusal == nil && gate.writeRefusal == nil)
    }

    @Test func `a copy of a busy cache is read and neither written nor connected`() {
        let gate = EngineGate(isReadOnly: true)
        #expect(gate.refusal == nil && gate.writeRefusal == .storage(.locked))
        #expect(!gate.isNetworkEnabled && !gate.mayConnect)
        #expect(gate.setNetworkEnabled(true) == false)
        #expect(!gate.isNetworkEnabled)
    }

    @Test func `the network is turned off once`() {
        let gate = EngineGate(isReadOnly: false)
        #expect(gate.setNetworkEnabled(true) == false)
        #expect(gate.setNetworkEnabled(false))
        #expect(gate.setNetworkEnabled(false) == false)
        #expect(gate.maySend && !gate.mayConnect && gate.refusal == nil)
    }

    @Test func `storage that fails stops streams, and reads of the cache go on`() {
        let gate = EngineGate(isReadOnly: false)
        gate.storageIs(.failing(.full))
        #expect(gate.mayConnect, "what an app asked for failed: that is between the two")
        gate.storageBroke()
        #expect(!gate.maySend && !gate.mayConnect && gate.refusal == nil)
        gate.storageWorks()
        #expect(gate.mayConnect)
    }

    @Test func `during a change of the user nobody is served, and the reason is the disk's`() {
        let gate = EngineGate(isReadOnly: false)
        gate.userChangeBegan(3)
        #expect(gate.session == 3 && !gate.maySend)
        #expect(gate.refusal == .userChanged && gate.writeRefusal == .userChanged)
        gate.storageIs(.failing(.full))
        #expect(gate.refusal == .storage(.full))
        gate.storageIs(.available)
        #expect(gate.refusal == .userChanged)
        gate.userChangesEnded()
        #expect(gate.refusal == nil && gate.maySend && gate.session == 3)
    }

    @Test func `after the end every error is the end`() {
        let gate = EngineGate(isReadOnly: false)
        let status = RPCStatus(.notFound, "gone")
        #expect(gate.error(status) == .server(status))
        gate.terminate()
        #expect(gate.refusal == .terminated && gate.error(status) == .terminated)
        #expect(!gate.isRunning && !gate.maySend)
        #expect(gate.setNetworkEnabled(false) == false)
    }

    @Test func `a client that could not be made says why`() {
        let gate = EngineGate(isReadOnly: false)
        gate.refuse(.storage(.locked))
        #expect(gate.refusal == .storage(.locked) && !gate.isRunning && !gate.isTerminated)
    }
}
