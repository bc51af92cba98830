import { Schema } from "effect"
import { CoverageReason } from "../Scalar.ts"
import { ProgramState } from "./ProgramState.ts"

/** Lag of one source. */
export class SourceFreshness extends Schema.Opaque<SourceFreshness>()(
  Schema.Struct({
    source: Schema.String,
    observedAtMs: Schema.NullOr(Schema.Int).annotate({
      description: "Time of the last message or success of the source; null before the first."
    }),
    lagMs: Schema.NullOr(Schema.Int).annotate({ description: "Milliseconds since then." }),
    status: Schema.Literals(["known", "partial", "stale", "unavailable"]),
    node: Schema.optionalKey(Schema.String).annotate({
      description: "Host of the node that the source is read from; absent where there is none."
    }),
    estimatedTimes: Schema.optionalKey(Schema.Int).annotate({
      description:
        "Of `block_feed`: blocks since the start of the service whose time is an estimate, because that of the node contradicts the chain's clock."
    }),
    slot: Schema.optionalKey(Schema.Int).annotate({
      description: "Of blocks and of `snapshot`: the newest slot."
    }),
    restoredSlot: Schema.optionalKey(Schema.Int).annotate({
      description:
        "Of `snapshot`: the slot of the snapshot that memory was restored from; absent where it was from trades."
    }),
    restoredAgeMs: Schema.optionalKey(Schema.Int).annotate({
      description: "Of `snapshot`: the age of that snapshot when memory was restored, in milliseconds."
    }),
    gapsOpen: Schema.optionalKey(Schema.Int).annotate({
      description: "Of blocks: stretches of the chain that were missed and are read again."
    }),
    share: Schema.optionalKey(Schema.Finite).annotate({
      description: "Of work that has an end: the part that is done, from 0 to 1."
    }),
    fill: Schema.optionalKey(Schema.Finite).annotate({
      description: "Of trades that wait on disk for their store: the part of the bound that is used, from 0 to 1."
    }),
    failedAtMs: Schema.optionalKey(Schema.NullOr(Schema.Int)).annotate({
      description:
        "Of services that are asked when a request needs them (EVM candles, perps venues, funding): time of the last failure; null before the first."
    }),
    programs: Schema.optionalKey(Schema.Array(ProgramState)).annotate({
      description: "Of `programs`: every quoted AMM program."
    }),
    reason: Schema.optionalKey(CoverageReason).annotate({ description: "Why it is not current; absent where it is." }),
    advice: Schema.optionalKey(Schema.String).annotate({
      description: "For the operator, where a setting helps: what is missing, the setting, and the state without it."
    })
  }).annotate({ identifier: "SourceFreshness", description: "Lag of one source." })
) {}
