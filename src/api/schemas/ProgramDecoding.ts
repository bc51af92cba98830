import { Schema } from "effect"
import { field } from "../../domain/field.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const share = Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))

/** The swaps of one program in one hour. */
const DecodedHour = Schema.Struct({
  startMs: field(Schema.Int, "Begin of the hour by block time, in milliseconds since the Unix epoch."),
  seen: field(count, "Swaps seen. All other counts are part of it."),
  confirmed: field(
    count,
    "Swaps whose decoded amounts the program's own event confirms or, without an event, the balances of the vaults."
  ),
  contradicted: field(count, "Swaps whose event or balances state other amounts."),
  unchecked: field(count, "Swaps without an event, in transactions that do not list the balances of the vaults."),
  leftOut: field(
    Schema.Struct({
      oneSided: field(count, "The vaults exchanged nothing: for example, only one of them moved."),
      unmoved: field(count, "No vault moved or was found.")
    }),
    "Swap instructions that are in no trade, by reason."
  ),
  unknown: field(count, "Swaps by instructions that the decoder does not know."),
  unknownInstructions: field(
    Schema.Record(Schema.String, count),
    "These swaps by the first bytes of the instruction, as hex digits: at most seven, then `others`."
  )
}).annotate({ identifier: "DecodedHour", description: "The swaps of one program in one hour." })

export class ProgramDecoding extends Schema.Opaque<ProgramDecoding>()(
  Schema.Struct({
    dex: field(Schema.String, "Venue label of its pools."),
    confirmedShare: field(
      share,
      "Confirmed part of the swaps in the last ten minutes of block time, from 0 to 1; null without a swap."
    ),
    swaps: field(count, "Swaps in these ten minutes."),
    shareBefore: field(share, "The share before it fell; null while it has not fallen, and while it is not known."),
    driftSinceMs: field(
      Schema.NullOr(Schema.Int),
      "Since when fewer swaps are confirmed, or more are contradicted, than usual, in milliseconds since the Unix epoch. Null while all is as usual."
    ),
    detail: field(Schema.NullOr(Schema.String), "The drift in words; null without one."),
    hours: field(Schema.Array(DecodedHour), "The last six hours that had a swap, newest first.")
  }).annotate({
    identifier: "ProgramDecoding",
    description: "How well the decoded swaps of an AMM program agree with the chain."
  })
) {}
