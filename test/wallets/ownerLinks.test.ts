import { assert, describe, it } from "@effect/vitest"
import { allPositions } from "../../src/wallets/positionPages.ts"
import { Effect, Schema } from "effect"
import type { Address } from "../../src/domain/Address.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { PLACES } from "../../src/market/model/tapeTrades.ts"
import { eventsOf, positionsAfter, positionsOf } from "../../src/wallets/ledger.ts"
import { NO_LOTS } from "../../src/wallets/lots.ts"
import { linkedEvents } from "../../src/wallets/ownerLinks.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { recordOf } from "./identities.ts"
import { readerOver } from "./readers.ts"
import { MINT, OTHER, tradeOf, usd, WALLET, walletOf } from "./trades.ts"

/** A move of units in transaction `slot` that leaves `after`. */
const moved = (wallet: Address, slot: number, delta: bigint, after: bigint, place = 0): TapeTrade =>
  tradeOf({
    role: "transfer",
    wallet,
    slot,
    signature: `sig_${slot}`,
    index: PLACES - 1 - place,
    side: delta > 0n ? "buy" : "sell",
    amount: delta > 0n ? delta : -delta,
    volumeUsdNanos: null,
    held: { before: after - delta, after }
  })

const trade = (wallet: Address, slot: number, delta: bigint, after: bigint, dollars: number): TapeTrade =>
  tradeOf({
    wallet,
    slot,
    signature: `sig_${slot}`,
    side: delta > 0n ? "buy" : "sell",
    amount: delta > 0n ? delta : -delta,
    volumeUsdNanos: usd(dollars),
    held: { before: after - delta, after }
  })

const linked = (wallet: Address, trades: ReadonlyArray<TapeTrade>) =>
  positionsAfter(linkedEvents(wallet, byWallet(trades))).get(MINT)

const byWallet = (trades: ReadonlyArray<TapeTrade>) =>
  new Map(
    Array.from(
      Map.groupBy(trades, ({ wallet }) => wallet),
      ([wallet, own]) => [wallet, eventsOf(own)]
    )
  )

const sum = (values: ReadonlyArray<bigint | null>) => values.reduce<bigint>((all, each) => all + (each ?? 0n), 0n)

// The worked example of docs/numbers.md.
const example = [
  trade(WALLET, 1, 100n, 100n, 50),
  moved(WALLET, 2, -60n, 40n),
  moved(OTHER, 2, 60n, 60n, 1),
  trade(OTHER, 3, -20n, 40n, 16)
]

describe("a transfer between wallets of one owner", () => {
  it("takes the average cost of the units along", () => {
    assert.deepStrictEqual(linked(WALLET, example)?.lots, { ...NO_LOTS, known: 40n, costNanos: usd(20) })
    const arrived = linked(OTHER, example)
    assert.deepInclude(arrived, { held: 40n, realizedNanos: usd(6), knownRealizedNanos: usd(6), unknownBasis: 0 })
    assert.deepStrictEqual(arrived?.lots, { ...NO_LOTS, known: 40n, costNanos: usd(20) })
    const alone = positionsOf(example.filter(({ wallet }) => wallet === OTHER)).get(MINT)
    assert.deepInclude(alone, { held: 40n, realizedNanos: null, unknownBasis: 1 })
  })

  it("loses the cost of units that did not arrive, and counts units from other senders as received", () => {
    const charged = [...example.slice(0, 2), moved(OTHER, 2, 54n, 54n, 1)]
    assert.deepStrictEqual(linked(OTHER, charged)?.lots, { ...NO_LOTS, known: 54n, costNanos: usd(27) })
    const more = [...example.slice(0, 2), moved(OTHER, 2, 90n, 90n, 1)]
    assert.deepStrictEqual(linked(OTHER, more)?.lots, { ...NO_LOTS, known: 60n, costNanos: usd(30), received: 30n })
    const apart = [...example.slice(0, 2), trade(OTHER, 3, 1n, 1n, 1), moved(OTHER, 4, 60n, 61n)]
    assert.deepStrictEqual(linked(OTHER, apart)?.lots, { ...NO_LOTS, known: 1n, costNanos: usd(1), received: 60n })
  })

  it("carries unknown units along as unknown", () => {
    const inherited = [trade(WALLET, 1, 100n, 400n, 50), moved(WALLET, 2, -200n, 200n), moved(OTHER, 2, 200n, 200n, 1)]
    assert.deepStrictEqual(linked(OTHER, inherited)?.lots, {
      ...NO_LOTS,
      known: 50n,
      costNanos: usd(25),
      inherited: 150n
    })
  })

  const Move = Schema.Struct({
    from: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
    to: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
    percent: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
    dollars: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 900 }))
  })

  it.effect.prop(
    "neither makes nor loses cost: the cost spent by all wallets is held or was sold",
    [Schema.Array(Move).check(Schema.isMaxLength(30))],
    ([moves]) =>
      Effect.sync(() => {
        const held = [0n, 0n, 0n]
        const change = (n: number, delta: bigint): bigint => (held[n] = (held[n] ?? 0n) + delta)
        const trades = moves.flatMap(({ dollars, from, percent, to }, n): ReadonlyArray<TapeTrade> => {
          const units = ((held[from] ?? 0n) * BigInt(percent)) / 100n
          const slot = n + 1
          if (from === to || units === 0n) {
            return units === 0n || percent < 50
              ? [trade(walletOf(from), slot, 1000n, change(from, 1000n), dollars)]
              : [trade(walletOf(from), slot, -units, change(from, -units), dollars)]
          }
          return [
            moved(walletOf(from), slot, -units, change(from, -units)),
            moved(walletOf(to), slot, units, change(to, units), 1)
          ]
        })
        const positions = [0, 1, 2].flatMap((n) => linked(walletOf(n), trades) ?? [])
        assert.isTrue(
          positions.every(({ realizedNanos, unknownBasis }) => realizedNanos !== null && unknownBasis === 0)
        )
        assert.strictEqual(
          sum(positions.map(({ lots }) => lots.costNanos)),
          sum(
            positions.map(
              ({ boughtNanos, proceedsNanos, realizedNanos }) =>
                (boughtNanos ?? 0n) - (proceedsNanos ?? 0n) + (realizedNanos ?? 0n)
            )
          )
        )
        assert.deepStrictEqual(
          [0, 1, 2].map((n) => linked(walletOf(n), trades)?.held ?? 0n),
          held
        )
      })
  )

  it("changes nothing for wallets without such transfers", () => {
    const trades = [trade(WALLET, 1, 100n, 100n, 50), trade(OTHER, 1, 7n, 7n, 3), moved(WALLET, 2, -60n, 40n)]
    const own = trades.filter(({ wallet }) => wallet === WALLET)
    assert.deepStrictEqual(linkedEvents(WALLET, byWallet(trades)), eventsOf(own))
  })

  it.effect("counts in the replies for both wallets when an identity names the owner", () => {
    const trades = {
      [WALLET]: example.filter(({ wallet }) => wallet === WALLET).toReversed(),
      [OTHER]: example.filter(({ wallet }) => wallet === OTHER).toReversed()
    }
    const shown = (owner: string | null) =>
      WalletReader.use((reader) => reader.positionsOf(OTHER, allPositions(10))).pipe(
        Effect.map(({ positions }) => positions[0]),
        Effect.provide(
          readerOver({ trades, identities: [recordOf({ owner: "ann" }), recordOf({ wallet: OTHER, owner })] })
        )
      )
    return Effect.gen(function* () {
      assert.deepInclude(yield* shown("ann"), { realized: "6", holding: 40n })
      assert.deepInclude(yield* shown("bob"), { realized: null, holding: 40n })
      assert.deepInclude(yield* shown(null), { realized: null, holding: 40n })
    })
  })
})
