/** Lots of one wallet: what its sales took, and what is left. */
import { Schema } from "effect"
import { Atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { decimals, mint } from "./fields.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })
const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })
const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

/** How a sale chooses the lots that it takes. */
export const LotMethod = Schema.Literals(["average", "fifo", "lifo", "hifo"]).annotate({
  identifier: "LotMethod",
  description:
    "`average`: every lot in proportion, as positions count. `fifo`: the oldest first. `lifo`: the newest first. `hifo`: the dearest for one unit first, unknown costs last."
})

const LotUnits = Atomic.pipe(
  Schema.annotateEncoded({
    identifier: "LotUnits",
    description: "Smallest units of the lot, or of the part that the sale took."
  })
)

export class WalletLot extends Schema.Opaque<WalletLot>()(
  Schema.Struct({
    mint,
    decimals,
    origin: field(
      Schema.Literals(["bought", "inherited", "received", "unpriced"]),
      "How the units arrived: bought at a known price, held before the first transaction seen, received without a trade, or bought at an unknown price."
    ),
    units: LotUnits,
    acquiredAtMs: time(
      "When they arrived, in milliseconds since the Unix epoch; null when unknown, and for an average."
    ),
    acquiredSignature: text("The transaction that brought them; null when unknown, and for an average."),
    costUsd: usd("Their cost, front-end fee included; null when unknown."),
    soldAtMs: time("When they were sold, in milliseconds since the Unix epoch; null for units that are held."),
    soldSignature: text("The transaction that sold them; null for units that are held."),
    proceedsUsd: usd(
      "Their share of the proceeds, less the front-end fee; null when unknown, and for units that are held."
    ),
    gainUsd: usd("Proceeds less cost; null when either is unknown.")
  }).annotate({ identifier: "WalletLot", description: "Units of one mint that arrived together." })
) {}

export const LotSums = Schema.Struct({
  rows: field(Schema.Int, "Rows that pass the filters, on all pages."),
  unknown: field(Schema.Int, "Rows without a known cost, or sold without known proceeds."),
  costUsd: usd("Cost of all rows; null while one is unknown, and for open lots while it is not known what is held."),
  proceedsUsd: usd("Proceeds of all rows; null while one is unknown."),
  gainUsd: usd("Gain of all rows; null while one is unknown, or units left in a transaction that was not seen."),
  knownGainUsd: usd(
    "Gain of the rows whose cost and proceeds are known; null for open lots, and while no gain is known."
  )
})
