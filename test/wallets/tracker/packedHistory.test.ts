import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Lots } from "../../../src/wallets/lots.ts"
import { type Codec, PackedLog } from "../../../src/wallets/tracker/PackedLog.ts"
import { tradesOf, transactionsOf } from "../../../src/wallets/tracker/packedHistory.ts"
import { walletOf } from "./liveScene.ts"

const own = walletOf(1)
const Mint = Schema.Literals([walletOf(3), walletOf(4)])
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Side = Schema.Literals(["buy", "sell"])
const Span = Schema.Struct({ before: Schema.BigInt, after: Schema.BigInt })
const Decimals = Schema.NullOr(Count)
const Amount = Schema.NullOr(Schema.BigInt)

const Trade = Schema.Struct({
  role: Schema.Literals(["wallet", "both"]),
  signature: Schema.String,
  slot: Count,
  index: Count,
  timeMs: Count,
  wallet: Schema.Literal(own),
  mint: Mint,
  side: Side,
  amount: Schema.BigInt,
  decimals: Decimals,
  lamports: Amount,
  otherToken: Schema.optionalKey(Schema.Struct({ mint: Mint, amount: Schema.BigInt, decimals: Decimals })),
  solUsdNanos: Amount,
  priceUsd: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThan(0))),
  volumeUsdNanos: Amount,
  feeUsdNanos: Schema.optionalKey(Amount),
  feeLamports: Schema.optionalKey(Schema.BigInt),
  priorityLamports: Schema.optionalKey(Schema.BigInt),
  tipLamports: Schema.optionalKey(Schema.BigInt),
  held: Schema.optionalKey(Span),
  counterparty: Schema.optionalKey(Mint),
  pool: Schema.NullOr(Mint),
  dex: Schema.NullOr(Schema.String),
  launchpad: Schema.NullOr(Schema.String)
})

const TIME = 1_800_000_000_000
const Transaction = Schema.Array(
  Schema.Struct({
    wallet: Schema.Literals([own, walletOf(2)]),
    event: Schema.Struct({
      mint: Mint,
      timeMs: Schema.Literal(TIME),
      decimals: Decimals,
      trades: Schema.Array(
        Schema.Struct({
          side: Side,
          amount: Schema.BigInt,
          decimals: Decimals,
          volumeUsdNanos: Amount,
          feeUsdNanos: Schema.optionalKey(Amount),
          timeMs: Schema.Literal(TIME)
        })
      ),
      balance: Schema.Union([Span, Schema.Literal("unchanged"), Schema.Null]),
      arrived: Schema.optionalKey(Lots)
    })
  })
)

/** The item after its way through a log. */
const through = <A>(codec: Codec<A>, item: A, timeMs: number): A | undefined => {
  const log = new PackedLog(codec)
  log.push(item, timeMs)
  return Array.from(log.newest(), ({ read }) => read())[0]
}

describe("the history of a ledger", () => {
  it.prop("has every trade as it was", [Trade], ([trade]) =>
    assert.deepStrictEqual(through(tradesOf(own), trade, trade.timeMs), trade)
  )

  it.prop("has the events of every transaction as they were", [Transaction], ([together]) =>
    assert.deepStrictEqual(through(transactionsOf(own), together, TIME), together)
  )
})

/** A number adds a text of that many letters. Null drops the oldest item. */
const Step = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 })))

describe("PackedLog", () => {
  it.prop(
    "holds what a list would",
    [Schema.Array(Step), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }))],
    ([steps, most]) => {
      const log = new PackedLog<string>({ write: (text) => text, read: (text, timeMs) => `${timeMs} ${text}` })
      let list: ReadonlyArray<{ readonly text: string; readonly timeMs: number; readonly parts: number }> = []
      for (const [timeMs, letters] of steps.entries()) {
        if (letters === null) {
          log.shift()
          list = list.slice(1)
        } else {
          const text = "å".repeat(letters)
          log.push(text, timeMs, letters)
          list = [...list, { text, timeMs, parts: letters }]
        }
        assert.strictEqual(log.length, list.length)
        assert.strictEqual(log.oldestMs, list[0]?.timeMs)
        assert.strictEqual(
          log.parts,
          list.reduce((sum, { parts }) => sum + parts, 0)
        )
        assert.deepStrictEqual(
          Array.from(log.newest(most), ({ read }) => read()),
          list.slice(Math.max(0, list.length - most)).map(({ text, timeMs }) => `${timeMs} ${text}`)
        )
      }
    }
  )
})
