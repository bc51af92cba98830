import { Context, Effect, Layer, Schema } from "effect"
import { Address } from "../domain/Address.ts"
import { Position } from "./ledger.ts"
import { unitsOf } from "./lots.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The positions of a wallet by a native ledger, network fees included. Times in milliseconds since the Unix epoch. */
export class LedgerProjection extends Schema.Opaque<LedgerProjection>()(
  Schema.Struct({
    wallet: Address,
    /** The span of history covered. */
    fromMs: Count,
    throughMs: Count,
    /** Ledger entries covered. */
    events: Count,
    positions: Schema.Array(Position)
  })
) {}

/** The ledger did not answer. */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  cause: Schema.Defect()
}) {}

/**
 * Projections of a native trade ledger, which includes the fees that a wallet paid. Answers are untrusted: `faultOf`
 * checks them before use.
 */
export class LedgerReader extends Context.Service<
  LedgerReader,
  {
    /** The projection of a wallet; null when there is none. */
    read(wallet: Address): Effect.Effect<LedgerProjection | null, LedgerUnavailable>
  }
>()("fathom/wallets/LedgerReader") {
  /** No native ledger: summaries are made from observed swaps. */
  static readonly layerNone: Layer.Layer<LedgerReader> = Layer.succeed(LedgerReader, {
    read: () => Effect.succeed(null)
  })
}

const isWhole = Schema.is(LedgerProjection)

const isSound = ({ boughtUnits, buys, held, lots, sells, soldUnits }: Position): boolean =>
  (held === null || held === unitsOf(lots)) &&
  lots.known + lots.unpriced <= boughtUnits &&
  (lots.known > 0n || lots.costNanos === 0n) &&
  (buys > 0 || boughtUnits === 0n) &&
  (sells > 0 || soldUnits === 0n)

/** Realized equals proceeds less the cost of the units sold, where all are known and no unit went by a transfer. */
const addsUp = ({ boughtNanos, boughtUnits, lots, proceedsNanos, realizedNanos, soldUnits }: Position): boolean =>
  boughtNanos === null ||
  proceedsNanos === null ||
  realizedNanos === null ||
  lots.known !== boughtUnits - soldUnits ||
  realizedNanos === proceedsNanos - (boughtNanos - lots.costNanos)

/** The first inconsistency of a projection; null when it is consistent. */
export const faultOf = (projection: LedgerProjection, wallet: Address, nowMs: number): string | null => {
  if (!isWhole(projection)) {
    return "its fields do not match the schema"
  }
  if (projection.wallet !== wallet) {
    return "it belongs to another wallet"
  }
  if (projection.fromMs > projection.throughMs || projection.throughMs > nowMs) {
    return "its time span is invalid"
  }
  if (new Set(projection.positions.map(({ mint }) => mint)).size < projection.positions.length) {
    return "a mint occurs twice"
  }
  const wrong = projection.positions.find((entry) => !isSound(entry) || !addsUp(entry))
  return wrong === undefined ? null : `its position in ${wrong.mint} does not add up`
}
