// The values of the surface are written once, in Rust, and generated: an app that imports `Rejoin`
// sees them, and none of the generated calls, which this module wraps.

@_exported import struct RejoinBindings.Answer
@_exported import struct RejoinBindings.AttemptReport
@_exported import enum RejoinBindings.Billing
@_exported import struct RejoinBindings.Budget
@_exported import enum RejoinBindings.Cause
@_exported import struct RejoinBindings.CommittedText
@_exported import struct RejoinBindings.Decision
@_exported import enum RejoinBindings.EffectState
@_exported import enum RejoinBindings.ErrorKind
@_exported import enum RejoinBindings.EventKind
@_exported import struct RejoinBindings.Evidence
@_exported import struct RejoinBindings.Failure
@_exported import struct RejoinBindings.Finish
@_exported import enum RejoinBindings.FinishClass
@_exported import struct RejoinBindings.JournalConfig
@_exported import struct RejoinBindings.JournaledTurn
@_exported import enum RejoinBindings.Outcome
@_exported import struct RejoinBindings.Policy
@_exported import enum RejoinBindings.Reason
@_exported import enum RejoinBindings.Recording
@_exported import enum RejoinBindings.ResetReason
@_exported import enum RejoinBindings.SeamKind
@_exported import enum RejoinBindings.Signal
@_exported import struct RejoinBindings.Snapshot
@_exported import struct RejoinBindings.SnapshotReset
@_exported import struct RejoinBindings.Spend
@_exported import enum RejoinBindings.StorageProblem
@_exported import enum RejoinBindings.Strategy
@_exported import struct RejoinBindings.Tool
@_exported import struct RejoinBindings.ToolCall
@_exported import struct RejoinBindings.TurnEvent
@_exported import struct RejoinBindings.TurnRequest
@_exported import struct RejoinBindings.Usage
@_exported import enum RejoinBindings.WaitReason
