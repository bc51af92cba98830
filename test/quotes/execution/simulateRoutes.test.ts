/** What a simulated route says of its hops, with results made by hand. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import type { Address } from "../../../src/domain/Address.ts"
import type { SpotQuote } from "../../../src/api/schemas/Quote.ts"
import { closedAmms } from "../../../src/programs/executed/closedAmms.ts"
import { plainMint } from "../../../src/programs/layout/tokenAccount.ts"
import { ExecutionRefused } from "../../../src/quotes/execution/Executor.ts"
import type { SwapResult } from "../../../src/quotes/execution/executeSwap.ts"
import { simulateRoutes } from "../../../src/quotes/execution/simulateRoutes.ts"
import type { HeldPool } from "../../../src/quotes/pools/PoolCache.ts"

const program = closedAmms.find(({ dex }) => dex === "tessera") ?? assert.fail("no program")
const place = program.pools[0] ?? assert.fail("no pool")
const clock = { slot: 77, epoch: 0, unixTimestamp: 0 }
const data = (address: Address) => ({ ...plainMint(address), address })

const held: HeldPool = {
  program,
  address: place.pool,
  foundBy: undefined,
  mints: [place.mintA, place.mintB],
  version: 1,
  accounts: new Map([[place.pool, { ...data(place.pool), owner: program.programId }]]),
  missing: null
}

const hop = { dex: "tessera", pool: place.pool, percent: 100, priceImpactPct: null, provenAtSlot: null }

const quote: SpotQuote = {
  inputMint: place.mintA,
  outputMint: place.mintA,
  inAmount: 100n,
  outAmount: 90n,
  minOutAmount: 90n,
  slippageBps: 50,
  impactMeasurable: false,
  clamped: false,
  route: [
    { ...hop, inputMint: place.mintA, outputMint: place.mintB, amountIn: 100n, amountOut: 95n },
    { ...hop, inputMint: place.mintB, outputMint: place.mintA, amountIn: 95n, amountOut: 90n }
  ],
  venues: ["tessera"],
  engine: "svc_router",
  priceImpactPct: null,
  contextSlot: 77,
  engineTimeMs: 1,
  swapUsdValue: null,
  requestId: "one",
  quotedAtMs: 0,
  stateSlot: 77,
  stateAgeMs: 0
}

interface Scene {
  readonly results: Effect.Effect<ReadonlyArray<SwapResult>, ExecutionRefused>
  readonly pool?: HeldPool | null
  readonly isNodeDown?: boolean
}

const simulated = ({ isNodeDown = false, pool = held, results }: Scene) =>
  simulateRoutes(
    { executePlan: () => results },
    {
      clock: () => clock,
      read: (addresses) =>
        isNodeDown
          ? Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "down" }))
          : Effect.succeed({ slot: 1, accounts: new Map(addresses.map((one) => [one, data(one)])) })
    },
    { held: () => pool }
  )(quote)

const paid = (amountIn: bigint, amountOut: bigint, units = 10): SwapResult => ({ amountIn, amountOut, units })

describe("a simulated route", () => {
  it.effect("is executed where every hop took and paid what is quoted", () =>
    Effect.gen(function* () {
      const answer = yield* simulated({ results: Effect.succeed([paid(100n, 95n), paid(95n, 90n, 30)]) })
      assert.deepInclude(answer, { state: "executed", atSlot: 77, outAmount: 90n, computeUnits: 30, differsAt: null })
      assert.strictEqual(answer.hops.length, 2)
    })
  )

  it.effect("names the first hop that paid another amount", () =>
    Effect.gen(function* () {
      const answer = yield* simulated({ results: Effect.succeed([paid(100n, 95n), paid(95n, 89n)]) })
      assert.deepInclude(answer, { state: "differs", differsAt: 1, outAmount: 89n })
      assert.strictEqual(answer.detail, "Hop 1 (tessera) was quoted 95 for 90; its program took 95 and paid 89.")
    })
  )

  it.effect("names the hop that its program refused, with the program's error", () =>
    Effect.gen(function* () {
      const answer = yield* simulated({ results: Effect.succeed([{ error: "custom program error: 0x1c", units: 5 }]) })
      assert.deepInclude(answer, { state: "failed", differsAt: 0, outAmount: null, computeUnits: null })
      assert.include(answer.detail ?? "", "Hop 0 (tessera) was refused by its program: custom program error: 0x1c")
    })
  )

  it.effect("says why nothing was executed", () =>
    Effect.gen(function* () {
      const never = Effect.succeed<ReadonlyArray<SwapResult>>([])
      const missing = yield* simulated({ results: never, pool: null })
      assert.deepInclude(missing, { state: "not_executed", atSlot: null })
      assert.include(missing.detail ?? "", `the accounts of pool ${place.pool} (tessera) are not held`)
      const down = yield* simulated({ results: never, isNodeDown: true })
      assert.include(down.detail ?? "", "could not be read from the node")
      const refusal = new ExecutionRefused({ detail: "no litesvm here", retryInMs: null })
      assert.strictEqual((yield* simulated({ results: Effect.fail(refusal) })).detail, "no litesvm here.")
    })
  )
})
