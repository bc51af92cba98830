import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { known } from "../../../src/domain/Scalar.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { HolderReader, unknownFigures } from "../../../src/tokens/HolderReader.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { call } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { keys } from "./tokenCalls.ts"

const NOW = 1000
const counts = new Map([
  [mintOf(1), "3"],
  [mintOf(2), "20"]
])
const suggested: Array<string> = []

const holders = Layer.succeed(HolderReader, {
  historyOf: () => Effect.die("not asked"),
  holdersOf: () => unknownFigures("not_captured"),
  knownOf: () => null,
  countOf: (mint, nowMs) => {
    const value = counts.get(mint)
    return value === undefined
      ? unknownFigures("not_captured").holders
      : known("count", value, { observedAtMs: nowMs, expiresAtMs: nowMs + 60_000 })
  },
  suggest: (mint) => {
    suggested.push(mint)
    return "backfill_running"
  }
})

const books = makeBooks()
books.tokens.set(mintOf(3), minted(1n, 6))

layer(reading({ books, world: { keys } }).pipe(Layer.provide(holders)))("holders in discovery", (it) => {
  it.effect("filters by the number of holders where it is known, and follows the others", () =>
    Effect.gen(function* () {
      yield* setSecond(NOW)
      const { apply } = yield* Tape
      const launches = [1, 2, 3, 4].map((n) => ({
        event: "created" as const,
        mint: mintOf(n),
        launchpad: "pump-fun",
        pool: walletOf(n)
      }))
      yield* apply(block(NOW, { launches }))
      const all = yield* call("/api/v1/market/discovery?stage=new")
      assert.strictEqual(all.json("data.length"), 4, all.text)
      assert.deepStrictEqual(suggested, [], "no page without the filter follows a token")
      const found = yield* call("/api/v1/market/discovery?stage=new&minHolders=10")
      assert.strictEqual(found.json("data.length"), 1)
      assert.strictEqual(found.json("data.0.token.address"), mintOf(2))
      assert.deepInclude(found.json("data.0.holders"), {
        value: "20",
        status: "known",
        observedAtMs: (MONDAY + NOW) * 1000
      })
      assert.deepStrictEqual(found.json("meta.excluded"), { unknownRank: 0, unknownFilter: 2 })
      // The account of the other mint is not in memory.
      assert.deepStrictEqual(suggested, [mintOf(3)])
    })
  )
})
