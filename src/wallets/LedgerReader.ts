import { Context, Effect, Layer, Schema } from "effect"
import { Address } from "../domain/Address.ts"

const Units = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n))
const Nanos = Schema.NullOr(Schema.BigInt)
const Cost = Schema.NullOr(Units)
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Decimals = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 })))

/** One mint of one wallet by a native ledger, network fees included; the words are those of a `Position`. */
const LedgerPosition = Schema.Struct({
  mint: Address,
  decimals: Decimals,
  held: Units,
  costNanos: Cost,
  boughtUnits: Units,
  soldUnits: Units,
  boughtNanos: Cost,
  proceedsNanos: Nanos,
  realizedNanos: Nanos,
  buys: Count,
  sells: Count,
  unknownBasis: Count,
  firstAtMs: Schema.NullOr(Count),
  lastAtMs: Schema.NullOr(Count)
})

/** What a native ledger says of a wallet. Amounts in units and nano-dollars, times in milliseconds since the Unix epoch. */
export class LedgerProjection extends Schema.Opaque<LedgerProjection>()(
  Schema.Struct({
    wallet: Address,
    /** The span of history that it is made from. */
    fromMs: Count,
    throughMs: Count,
    /** Entries that it is made from. */
    events: Count,
    positions: Schema.Array(LedgerPosition)
  })
) {}

/** The ledger does not answer. */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  cause: Schema.Defect()
}) {}

/**
 * Projections of a native trade ledger, which knows what swaps alone do not tell: the fees that a wallet paid. What it
 * answers is whatever it holds, and is checked before it is believed.
 */
export class LedgerReader extends Context.Service<
  LedgerReader,
  {
    /** The projection of a wallet; null when there is none. */
    read(wallet: Address): Effect.Effect<LedgerProjection | null, LedgerUnavailable>
  }
>()("fathom/wallets/LedgerReader") {
  /** Where there is no native ledger: what was seen counts. */
  static readonly layerNone: Layer.Layer<LedgerReader> = Layer.succeed(LedgerReader, {
    read: () => Effect.succeed(null)
  })
}

type Entry = LedgerProjection["positions"][number]

const isWhole = Schema.is(LedgerProjection)

const isSound = ({ boughtUnits, buys, costNanos, held, sells, soldUnits, unknownBasis }: Entry): boolean =>
  // What is held was bought and not sold since; only what nobody saw bought can be sold beyond that.
  (unknownBasis > 0 ? held >= boughtUnits - soldUnits : held === boughtUnits - soldUnits) &&
  (held > 0n || costNanos === 0n) &&
  (buys > 0 || boughtUnits === 0n) &&
  (sells > 0 || soldUnits === 0n)

/** Proceeds less what left the cost is what was realized, wherever all of them are known. */
const addsUp = ({ boughtNanos, costNanos, proceedsNanos, realizedNanos }: Entry): boolean =>
  boughtNanos === null ||
  costNanos === null ||
  proceedsNanos === null ||
  realizedNanos === null ||
  realizedNanos === proceedsNanos - (boughtNanos - costNanos)

/** What is wrong with a projection; null when it can be believed. */
export const faultOf = (projection: LedgerProjection, wallet: Address, nowMs: number): string | null => {
  if (!isWhole(projection)) {
    return "it is not of the shape of a projection"
  }
  if (projection.wallet !== wallet) {
    return "it is of another wallet"
  }
  if (projection.fromMs > projection.throughMs || projection.throughMs > nowMs) {
    return "its span makes no sense"
  }
  if (new Set(projection.positions.map(({ mint }) => mint)).size < projection.positions.length) {
    return "a mint stands in it twice"
  }
  const wrong = projection.positions.find((entry) => !isSound(entry) || !addsUp(entry))
  return wrong === undefined ? null : `its position in ${wrong.mint} does not add up`
}
