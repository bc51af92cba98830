/** Holders of tokens against a count from raw accounts and blocks that shares no code with them, on a simulated chain. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { call } from "../../scripts/recompute/chain.ts"
import { mostTraded } from "../../scripts/recompute/check.ts"
import { makeFindings } from "../../scripts/recompute/differences.ts"
import { followChain } from "../../scripts/recompute/follow.ts"
import { compareHolders, listHolders } from "../../scripts/recompute/holders.ts"
import { Address, SOL, USDC } from "../../src/domain/Address.ts"
import * as tokenActivity from "../../src/market/reads/tokenActivity.ts"
import { layerWithTrades, Simulator } from "../../src/testing/SimulatedMarket.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"

/** Blocks before and after the accounts are listed. */
const SLOTS = 40
const MINTS = 3

const market = TokenReader.layer.pipe(
  Layer.provide(tokenActivity.layer),
  Layer.provideMerge(layerWithTrades({ seed: "recompute holders", speed: 0, swapsPerSecond: 20, retailWallets: 40 }))
)

const serviceOf = Effect.gen(function* () {
  const tokens = yield* TokenReader
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const read = (mint: string) => Effect.map(tokens.holdersOf(Address.make(mint), 100), ({ data }) => data)
  return {
    read,
    service: { holders: (mint: string) => run(read(mint).pipe(Effect.retry(Schedule.spaced("20 millis")))) }
  }
})

layer(market, { timeout: "2 minutes", excludeTestServices: true })("a count from raw accounts and blocks", (it) => {
  it.effect("finds the holders of a token, their amounts, kinds and shares", () =>
    Effect.gen(function* () {
      const { advance, rpcUrl: rpc } = yield* Simulator
      const { read, service } = yield* serviceOf
      yield* advance(SLOTS)
      const newest = Number(yield* Effect.promise(() => call(rpc, "getSlot", [])))
      const chain = followChain(rpc, newest - SLOTS + 1)
      yield* Effect.promise(() => chain.readOn())
      const mints = mostTraded(chain.after().record, MINTS + 2)
        .filter((mint) => mint !== SOL && mint !== USDC)
        .slice(0, MINTS)
      assert.lengthOf(mints, MINTS)
      // Followed, with their pools known, before the accounts are listed: later blocks change both counts.
      yield* Effect.forEach(mints, (mint) =>
        read(mint).pipe(
          Effect.filterOrFail(({ top10Pct }) => top10Pct.coverage.complete),
          Effect.retry(Schedule.spaced("20 millis"))
        )
      )
      const listed = yield* Effect.promise(() => Promise.all(mints.map((mint) => listHolders(rpc, mint))))
      yield* advance(SLOTS)
      const ended = Number(yield* Effect.promise(() => call(rpc, "getSlot", [])))
      yield* Effect.forEach(mints, (mint) =>
        read(mint).pipe(
          Effect.filterOrFail(({ slot }) => slot !== null && slot >= ended),
          Effect.retry(Schedule.spaced("20 millis"))
        )
      )
      yield* Effect.promise(() => chain.readOn())
      const { record } = chain.after()
      const findings = makeFindings()
      for (const each of listed) {
        assert.isNotNull(each)
        assert.isBelow(each.slot, ended)
        assert.isTrue(yield* Effect.promise(() => compareHolders(service, rpc, record, findings, each)))
      }
      assert.deepStrictEqual(findings.differences.slice(0, 10), [])
      assert.isAbove(findings.compared.get("holders") ?? 0, 100)

      // Of accounts that are all left out, only those that later blocks name are found.
      const [first] = listed
      const lacking = makeFindings()
      const emptied = { mint: mints[0] ?? "", slot: first?.slot ?? 0, accounts: new Map() }
      yield* Effect.promise(() => compareHolders(service, rpc, record, lacking, emptied))
      assert.includeMembers(
        lacking.differences.map(({ field }) => field),
        ["holders", "heldAmount", "amount"]
      )
    })
  )
})
