/** Holders of tokens against a count from raw accounts and blocks that shares no code with them, on a simulated chain. */
import { assert, it as test, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { call } from "../../scripts/recompute/chain.ts"
import { mostTraded } from "../../scripts/recompute/check.ts"
import { makeFindings } from "../../scripts/recompute/differences.ts"
import { followChain } from "../../scripts/recompute/follow.ts"
import { compareHolderHours, compareHolders, listHolders, VAULT_OWNERS } from "../../scripts/recompute/holders.ts"
import type { WireHolderHour } from "../../scripts/recompute/service.ts"
import { makeDeriveAddress } from "../../src/chain/programAddress.ts"
import { Address, SOL, USDC } from "../../src/domain/Address.ts"
import * as tokenActivity from "../../src/market/reads/tokenActivity.ts"
import { dammV2PoolAuthority } from "../../src/programs/meteora/dammV2State.ts"
import { dbcPoolAuthority } from "../../src/programs/meteora/dbcState.ts"
import { AMM_V4_AUTHORITY } from "../../src/programs/raydium/ammV4Layout.ts"
import { cpmmAuthority } from "../../src/programs/raydium/cpmmLayout.ts"
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
      const figures = yield* Effect.forEach(mints, (mint) =>
        read(mint).pipe(
          Effect.filterOrFail(({ slot, top10Pct }) => top10Pct.coverage.complete && slot !== null && slot >= newest),
          Effect.retry(Schedule.spaced("20 millis"))
        )
      )
      // What the service would have stored as the snapshot of this hour.
      const hours = new Map(
        figures.map((each, at): [string, WireHolderHour] => [
          mints[at] ?? "",
          {
            hourMs: 0,
            atMs: 0,
            slot: each.slot ?? 0,
            holders: Number(each.holders.value),
            heldAmount: each.heldAmount ?? 0n,
            top10Pct: each.top10Pct.value,
            top50Pct: each.top50Pct.value,
            excludedPct: each.excludedPct.value,
            poolsKnown: true
          }
        ])
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

      const compareHours = (change: (hour: WireHolderHour) => WireHolderHour, from = 0) =>
        Effect.promise(async () => {
          const found = makeFindings()
          const changed = {
            ...service,
            holderHistory: async (mint: string) => {
              const hour = hours.get(mint)
              return hour === undefined ? [] : [change(hour)]
            }
          }
          const without = await compareHolderHours(changed, rpc, record, found, mints, from)
          return { without, compared: found.compared.get("holder hours"), differences: found.differences }
        })
      const same = yield* compareHours((hour) => hour)
      assert.deepStrictEqual([same.differences.slice(0, 10), same.compared, same.without], [[], 5 * MINTS, 0])
      const fieldsOf = (changed: Partial<WireHolderHour>) =>
        Effect.map(
          compareHours((hour) => ({ ...hour, ...changed })),
          ({ differences }) => Array.from(new Set(differences.map(({ field }) => field)))
        )
      assert.deepStrictEqual(yield* fieldsOf({ holders: 1 }), ["holders"])
      assert.deepStrictEqual(yield* fieldsOf({ heldAmount: 1n }), ["heldAmount"])
      assert.deepStrictEqual(yield* fieldsOf({ top10Pct: "1" }), ["top10Pct"])
      assert.deepStrictEqual(yield* fieldsOf({ top50Pct: "1" }), ["top50Pct"])
      assert.deepStrictEqual(yield* fieldsOf({ excludedPct: "1" }), ["excludedPct"])
      // Without the blocks since, the accounts are those of now.
      assert.isNotEmpty((yield* compareHours((hour) => ({ ...hour, slot: ended }))).differences)
      assert.strictEqual((yield* compareHours((hour) => hour, ended)).without, MINTS)
    })
  )
})

test("the published owners of vaults are those that the programs derive", () => {
  const derive = makeDeriveAddress()
  const derived = [cpmmAuthority(derive), dammV2PoolAuthority(derive), dbcPoolAuthority(derive)]
  assert.deepStrictEqual(VAULT_OWNERS, [AMM_V4_AUTHORITY, ...derived])
})
