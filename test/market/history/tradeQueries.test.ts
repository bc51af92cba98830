import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { restoreTrades } from "../../../src/market/history/restoreTrades.ts"
import { makeTradeQueries } from "../../../src/market/history/tradeQueries.ts"
import { packWallet } from "../../../src/market/history/tradeRows.ts"
import { makeTables } from "../../support/clickhouse/tables.ts"
import { readTrade, writeTrades } from "../../../src/market/history/tradeColumns.ts"
import { RowReader } from "../../../src/storage/clickhouse/RowBinary.ts"
import { mintOf, trade, walletOf } from "../tape/tape.ts"

/** The most bytes that a server takes as one statement by default. */
const MAX_QUERY_SIZE = 262_144

const launchesWithin = () => Effect.succeed([])

const mints = (count: number) => Array.from({ length: count }, (_, n) => mintOf(n))

/** The columns of a trade alone. */
const rowOf = (slot: number): Uint8Array => {
  const bytes = Effect.runSync(writeTrades([trade({ slot })], { chain: "", version: 0n }))
  const reader = new RowReader(bytes)
  readTrade(reader)
  return bytes.slice(0, reader.at)
}

describe("answers about trades", () => {
  it.effect("fail when they are cut off or end with the failure of the server", () =>
    Effect.gen(function* () {
      const { client } = makeTables()
      const whole = Buffer.concat([1, 2, 3].map(rowOf))
      const failure = Buffer.from("Code: 159. DB::Exception: Timeout exceeded: elapsed 301 seconds, maximum: 301.")
      const span = { after: 0, to: 9, fromMs: 0, untilMs: 9e12 }
      const answers = (...pieces: ReadonlyArray<Uint8Array>) => {
        const read = () => Effect.succeed(Buffer.concat(pieces))
        const queries = makeTradeQueries({ ...client, read, stream: () => Stream.fromIterable(pieces) })
        return {
          streamed: Effect.map(Stream.runCollect(queries.inOrder("test", span)), (all) => all.flat().length),
          read: Effect.map(queries.ofWallet("test", walletOf(1), 9), ({ length }) => length)
        }
      }
      const { read, streamed } = answers(whole.subarray(0, 50), whole.subarray(50))
      assert.deepStrictEqual([yield* streamed, yield* read], [3, 3])
      assert.strictEqual(yield* answers().streamed, 0)
      const broken = [
        [whole.subarray(0, -1)],
        [whole, whole.subarray(0, 30)],
        [whole, failure],
        [whole.subarray(0, -20), failure]
      ]
      for (const pieces of broken) {
        const { read, streamed } = answers(...pieces)
        assert.strictEqual((yield* Effect.flip(streamed))._tag, "ClickHouseUnavailable")
        assert.strictEqual((yield* Effect.flip(read))._tag, "ClickHouseUnavailable")
      }
    })
  )
})

describe("statements about trades", () => {
  it.effect("name the times of what they read, so that a server skips other parts", () =>
    Effect.gen(function* () {
      const { client, tables } = makeTables()
      const queries = makeTradeQueries(client)
      const request = { second: 7, after: 1, most: Number.POSITIVE_INFINITY, untilMs: 9000 }
      yield* Stream.runDrain(restoreTrades(queries, { chain: "test", toSlot: 9, launchesWithin }, request))
      yield* queries.inOrder("test", { after: 1, to: 9, fromMs: 7000, untilMs: 9000 }).pipe(Stream.runDrain)
      assert.lengthOf(tables.asked, 2)
      for (const query of tables.asked) {
        assert.include(
          query,
          "at >= fromUnixTimestamp64Milli(7000, 'UTC') AND at <= fromUnixTimestamp64Milli(9000, 'UTC')"
        )
      }
    })
  )

  it.effect("have a size that a server takes, whatever the number of tokens", () =>
    Effect.gen(function* () {
      for (const count of [1, 874, 2500]) {
        const { client, tables } = makeTables()
        const queries = makeTradeQueries(client)
        yield* queries.tokenSwaps("test", { after: 1, fromMs: 1, toMs: 2, mints: mints(count), most: 16 })
        const places = mints(count).flatMap((mint) => Array.from({ length: 20 }, (_, n) => ({ mint, slot: 4e8 + n })))
        yield* queries.moneySwapsOf("test", { places, fromMs: 1, most: 16 })
        assert.isBelow(Math.max(...tables.asked.map(({ length }) => length)), MAX_QUERY_SIZE, `${count} tokens`)
        const text = tables.asked.join()
        assert.isTrue(mints(count).every((mint) => text.includes(Buffer.from(packWallet(mint)).toString("hex"))))
      }
    })
  )
})
