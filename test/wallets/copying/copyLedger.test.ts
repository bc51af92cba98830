import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { copyPnlOf, spanOf } from "../../../src/wallets/copying/copyPnl.ts"
import { CopyReader } from "../../../src/wallets/copying/CopyReader.ts"
import { CopySums, type SettledCopy } from "../../../src/wallets/copying/copySums.ts"
import { FollowStore, type TurnSelection } from "../../../src/wallets/copying/FollowStore.ts"
import type { CopyGrouping } from "../../../src/api/schemas/Copying.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { START, copyOf, copyPositions, followOf } from "./copies.ts"
import { readerOver } from "./copyWorld.ts"
import * as MemoryFollows from "../../support/memoryFollows.ts"

const HOUR = 3_600_000
const FOLLOWS = ["cf_a", "cf_b"] as const
const market = { price: () => 3n }
const marks = { of: () => ({ numerator: 3n, denominator: 1n }), missing: "mark_unknown" } as const

const Nanos = Schema.NullOr(Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 1_000_000n })))
const History = Schema.Array(
  Schema.Struct({
    // Also the execution order, which differs from the recording order.
    number: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })),
    followId: Schema.Literals(FOLLOWS),
    mint: Schema.Literals([1, 2]),
    side: Schema.Literals(["buy", "sell"]),
    tokens: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 1000n })),
    usdNanos: Nanos,
    feeUsdNanos: Nanos,
    minutesLate: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
    isAsked: Schema.Boolean
  })
).check(Schema.isMaxLength(30))

const fillOf = ({ isAsked: _isAsked, mint, minutesLate, ...copy }: (typeof History.Type)[number]) =>
  copyOf({ ...copy, mint: addressOf(mint), atMs: START + copy.number * 10 * 60_000 + minutesLate * 15 * 60_000 })

const request = (window: "24h" | "all", followId: string | null = null, groupBy: CopyGrouping = "none") =>
  ({ accountId: "acct_a", window, followId, groupBy, limit: 50, after: null }) as const

/** The same sums from the whole history, without a cache. */
const anew = Effect.fnUntraced(function* (window: "24h" | "all", followId: string | null, throughMs: number) {
  const store = yield* FollowStore
  const history = yield* Effect.forEach(followId === null ? FOLLOWS : [followId], (id) =>
    store.inTurn({ accountId: "acct_a", followId: id, after: 0, through: 1000 })
  )
  return copyPnlOf(copyPositions(history.flat()), spanOf(window, throughMs), marks)
})

describe("cached profits of copies", () => {
  it.effect.prop("equal the figures of the whole history, in any recording order", [History], ([history]) =>
    Effect.gen(function* () {
      const [store, reader] = [yield* FollowStore, yield* CopyReader]
      yield* Effect.forEach(FOLLOWS, (id) => store.recordFollow(followOf(id)))
      for (const one of [...history, null]) {
        yield* one === null ? Effect.void : store.recordFill(fillOf(one))
        for (const window of one === null || one.isAsked ? (["24h", "all"] as const) : []) {
          for (const followId of [null, "cf_a"]) {
            const { throughMs, total } = yield* reader.pnl(request(window, followId))
            assert.deepStrictEqual(total, yield* anew(window, followId, throughMs))
          }
        }
      }
    }).pipe(Effect.provide(readerOver(market)))
  )

  it.effect("read each copy once", () => {
    const asked: Array<TurnSelection> = []
    const overheard = Layer.effect(
      FollowStore,
      Effect.map(FollowStore, (store) =>
        FollowStore.of({ ...store, inTurn: (selection) => (asked.push(selection), store.inTurn(selection)) })
      )
    ).pipe(Layer.provide(MemoryFollows.layer))
    return Effect.gen(function* () {
      const [store, reader] = [yield* FollowStore, yield* CopyReader]
      yield* store.recordFollow(followOf("cf_a"))
      const buy = (number: number) =>
        store.recordFill(copyOf({ followId: "cf_a", number, side: "buy", tokens: 5n, usdNanos: 9n }))
      yield* Effect.forEach([1, 2, 3], buy)
      assert.strictEqual((yield* reader.pnl(request("all"))).total.fills, 3)
      assert.strictEqual((yield* reader.pnl(request("all"))).total.fills, 3)
      yield* buy(4)
      assert.strictEqual((yield* reader.pnl(request("all"))).total.fills, 4)
      assert.deepStrictEqual(
        asked.map(({ after, through }) => [after, through]),
        [
          [0, 3],
          [3, 4]
        ]
      )
    }).pipe(Effect.provide(readerOver(market, overheard)))
  })

  it.effect("start again when a follow was deleted and recorded again", () =>
    Effect.gen(function* () {
      const [store, reader] = [yield* FollowStore, yield* CopyReader]
      const buy = (number: number, usdNanos: bigint) =>
        store.recordFill(copyOf({ followId: "cf_a", number, side: "buy", tokens: 5n, usdNanos, feeUsdNanos: usdNanos }))
      yield* store.recordFollow(followOf("cf_a"))
      yield* buy(1, 10n ** 9n)
      assert.strictEqual((yield* reader.pnl(request("all"))).total.feesUsd, "1")
      yield* store.forgetOthers("acct_a", [])
      assert.strictEqual((yield* reader.pnl(request("all"))).total.fills, 0)
      yield* store.recordFollow(followOf("cf_a"))
      yield* buy(2, 5n * 10n ** 9n)
      assert.deepInclude((yield* reader.pnl(request("all"))).total, { fills: 1, feesUsd: "5" })
    }).pipe(Effect.provide(readerOver(market)))
  )

  it.effect("are the same for concurrent requests", () =>
    Effect.gen(function* () {
      const [store, reader] = [yield* FollowStore, yield* CopyReader]
      yield* store.recordFollow(followOf("cf_a"))
      yield* Effect.forEach(
        Array.from({ length: 300 }, (_, number) => number),
        (number) => store.recordFill(copyOf({ followId: "cf_a", number, side: "buy", tokens: 5n, usdNanos: 9n }))
      )
      const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => reader.pnl(request("all", null, "mint")), {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every(({ groups, total }) => total.fills === 300 && groups[0]?.pnl.fills === 300))
    }).pipe(Effect.provide(readerOver(market)))
  )
})

const Settled = Schema.Array(
  Schema.Struct({
    isSale: Schema.Boolean,
    fee: Nanos,
    proceeds: Nanos,
    realized: Nanos,
    hour: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
  })
).check(Schema.isMaxLength(200))
const Hour = Schema.Int.check(Schema.isBetween({ minimum: -2, maximum: 42 }))

const settledOf = ({ fee, hour, isSale, proceeds, realized }: (typeof Settled.Type)[number]): SettledCopy => ({
  copy: {
    id: "fl_1",
    followId: "cf_a",
    mint: addressOf(1),
    side: isSale ? "sell" : "buy",
    leaderSlot: 1,
    slot: 1,
    atMs: hour * HOUR,
    amount: 1n,
    valueUsdNanos: 1n,
    feeUsdNanos: fee
  },
  cost: isSale ? null : proceeds,
  proceeds: isSale ? proceeds : null,
  realized: isSale ? realized : null
})

const known = (parts: ReadonlyArray<bigint | null>) => parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n)
const unknown = (parts: ReadonlyArray<bigint | null>) => parts.filter((part) => part === null).length

describe("CopySums", () => {
  it.effect.prop("give the totals of the copies of any window", [Settled, Hour, Hour], ([settled, from, through]) =>
    Effect.sync(() => {
      const copies = settled.map(settledOf)
      const sums = new CopySums(copies)
      for (const fromMs of [null, from * HOUR]) {
        const throughMs = through * HOUR
        const inside = copies.filter(({ copy: { atMs } }) => (fromMs === null || atMs >= fromMs) && atMs <= throughMs)
        const costs = inside.filter(({ copy }) => copy.side === "buy").map(({ cost }) => cost)
        const sales = inside.filter(({ copy }) => copy.side === "sell")
        const fees = inside.map(({ copy }) => copy.feeUsdNanos)
        assert.deepStrictEqual(sums.within(fromMs, throughMs), {
          fills: inside.length,
          fees: known(fees),
          unknownFees: unknown(fees),
          cost: known(costs),
          unknownCosts: unknown(costs),
          realized: known(sales.map(({ realized }) => realized)),
          unknownResults: unknown(sales.map(({ realized }) => realized)),
          proceeds: known(sales.map(({ proceeds }) => proceeds)),
          unknownProceeds: unknown(sales.map(({ proceeds }) => proceeds)),
          wins: sales.filter(({ realized }) => realized !== null && realized > 0n).length,
          losses: sales.filter(({ realized }) => realized !== null && realized < 0n).length
        })
      }
    })
  )
})
