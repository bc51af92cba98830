import { Schema } from "effect"
import { CoverageReason } from "../../domain/Scalar.ts"
import { ExecutedVenue } from "./ExecutedVenue.ts"
import { ProgramDecoding } from "./ProgramDecoding.ts"
import { ProgramState } from "./ProgramState.ts"
import { field } from "../../domain/field.ts"

export class SourceFreshness extends Schema.Opaque<SourceFreshness>()(
  Schema.Struct({
    source: field(Schema.String, "Name of the source."),
    observedAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the source's last message or success; null before the first. For `block_feed`, `blocks` and `trades`: the block time of the newest block that was read, applied or stored, however late that happened."
    ),
    lagMs: field(Schema.NullOr(Schema.Int), "Milliseconds since that time."),
    status: field(
      Schema.Literals(["known", "partial", "stale", "unavailable"]),
      "`known`: complete. `partial`: a part is missing, the coverage says which. `stale`: older than it may be. `unavailable`: no value."
    ),
    node: field(
      Schema.optionalKey(Schema.String),
      "Host of the node that the source is read from; absent without a node."
    ),
    estimatedTimes: field(
      Schema.optionalKey(Schema.Int),
      "Only for `block_feed`: blocks since the start of the service whose time is estimated, because the node's time contradicts the chain's clock."
    ),
    slot: field(
      Schema.optionalKey(Schema.Int),
      "Only for the chain, blocks (`block_feed`, `blocks`, `trades`) and `snapshot`: the newest slot."
    ),
    head: field(Schema.optionalKey(Schema.Int), "Only for `block_feed`: the newest slot that its node has reported."),
    restoredSlot: field(
      Schema.optionalKey(Schema.Int),
      "Only for `snapshot`: the slot of the snapshot that memory was restored from; absent when it was restored from trades."
    ),
    restoredAgeMs: field(
      Schema.optionalKey(Schema.Int),
      "Only for `snapshot`: the age of that snapshot when memory was restored, in milliseconds."
    ),
    gapsOpen: field(
      Schema.optionalKey(Schema.Int),
      "Only for blocks: missed stretches of the chain that are being read again."
    ),
    share: field(Schema.optionalKey(Schema.Finite), "Only for work that has an end: the finished part, from 0 to 1."),
    leftMs: field(
      Schema.optionalKey(Schema.Int),
      "Only for `block_feed` while older blocks are read: milliseconds until the newest block is reached, at the pace so far."
    ),
    fill: field(
      Schema.optionalKey(Schema.Finite),
      "Only for trades that wait on disk for their store: the used part of the limit, from 0 to 1."
    ),
    failedAtMs: field(
      Schema.optionalKey(Schema.NullOr(Schema.Int)),
      "Only for services that are called when a request needs them (EVM candles, perps venues, funding): time of the last failure; null before the first."
    ),
    programs: field(Schema.optionalKey(Schema.Array(ProgramState)), "Only for `programs`: every quoted AMM program."),
    executed: field(
      Schema.optionalKey(Schema.Array(ExecutedVenue)),
      "Only for `execution`: every venue that is priced by executing its program."
    ),
    decoding: field(
      Schema.optionalKey(Schema.Array(ProgramDecoding)),
      "Only for `decoding`: every AMM program with swaps since the process started, by label."
    ),
    reason: field(Schema.optionalKey(CoverageReason), "Why the source is not current; absent when it is."),
    advice: field(
      Schema.optionalKey(Schema.String),
      "For the operator: what is missing, the setting that provides it, and the state without it. Only where a setting helps."
    )
  }).annotate({ identifier: "SourceFreshness", description: "Lag of one source." })
) {}
