/** Quotes over HTTP of a venue whose program is executed. A small program stands in for ZeroFi's, at its address. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, References } from "effect"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { type Address, SOL, USDC } from "../../../src/domain/Address.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { closedAmms } from "../../../src/programs/executed/closedAmms.ts"
import * as ExecutedQuotes from "../../../src/quotes/ExecutedQuotes.ts"
import * as Executor from "../../../src/quotes/execution/Executor.ts"
import { EXECUTION } from "../../../src/quotes/execution/Executor.ts"
import * as QuoteByExecution from "../../../src/quotes/execution/QuoteByExecution.ts"
import { loadRuntime } from "../../../src/quotes/execution/programRuntime.ts"
import { TRADER, wallet } from "../../../src/quotes/execution/traderAccounts.ts"
import { TransactionHistory } from "../../../src/chain/rpc/TransactionHistory.ts"
import * as LearnedPools from "../../../src/quotes/pools/LearnedPools.ts"
import { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../../src/quotes/QuoteEngine.ts"
import { call, running } from "../../support/http.ts"
import { type LitesvmNode, litesvmNode } from "../../support/litesvmNode.ts"
import { endlessProgram, tinyAmm, tinyAmmOut, tinyPoolAccounts } from "../../support/tinyAmm.ts"

const loaded = loadRuntime()
const makeRuntime = typeof loaded === "function" ? loaded : null
const absent = typeof loaded === "function" ? "" : ` (skipped: ${loaded.reason})`

const zerofi = closedAmms.find(({ dex }) => dex === "zerofi") ?? assert.fail("no ZeroFi")
const place = zerofi.pools[0] ?? assert.fail("no pool")
const FEE_BPS = 5
const reserves = [4_000_000_000n, 600_000_000n] as const

/** The order of ZeroFi's accounts. One more follows the Token program. */
const program = (feeBps: number) =>
  tinyAmm(
    {
      feeBps,
      amountAt: 1,
      tag: 6,
      order: ["pool", "state", "vaultIn", "state", "vaultOut", "userIn", "userOut", "user", "tokens"]
    },
    1
  )

const accounts = [
  ...tinyPoolAccounts(zerofi.programId, { ...place, reserves }, TRADER),
  ...place.more.map((address) => ({ address, owner: zerofi.programId, lamports: 1_000_000n, data: new Uint8Array(0) }))
]

const serviceOver = ({ rpcUrl, wsUrl }: LitesvmNode) => {
  const feed = ChainFeedRpc.layer({ rpcUrl, wsUrl }).pipe(
    Layer.provide([NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor])
  )
  const env = {
    STALE_AFTER: "1 hour",
    DISCOVERY_RATE: "1000",
    PLATFORM_FEE_BPS: "0",
    EXECUTE_BUDGET: "1 second",
    PROGRAM_REFRESH: "1 second"
  }
  const quotes = QuoteByExecution.layer.pipe(
    Layer.provideMerge(Executor.layer),
    Layer.provideMerge(QuoteEngine.layerNative),
    Layer.provideMerge(PoolBook.layerExecuted),
    Layer.provideMerge(feed),
    Layer.provideMerge([ExecutedQuotes.layer, SourceMonitor.layer, LearnedPools.layer]),
    Layer.provide(TransactionHistory.layerUnreachable)
  )
  return Layer.unwrap(
    Effect.map(Layer.build(quotes), (built) => {
      const shared = Layer.succeedContext(built)
      return running({ engine: shared, feed: shared }).pipe(Layer.provideMerge(shared))
    })
  ).pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
  )
}

const quote = (amount: bigint, [from, to] = [SOL, USDC]) =>
  call(`/api/v1/spot/quote?inputMint=${from}&outputMint=${to}&amount=${amount}&slippageBps=50`)

/** Asks until the answer has this status, for a minute or two: a loaded machine stops the runtime for a while. */
const quoted = Effect.fnUntraced(function* (
  node: LitesvmNode,
  amount: bigint,
  status: number,
  pair?: [Address, Address]
) {
  let answer = yield* quote(amount, pair)
  for (let attempt = 0; attempt < 1500 && answer.status !== status; attempt++) {
    yield* Effect.sleep("50 millis")
    node.pass()
    answer = yield* quote(amount, pair)
  }
  assert.strictEqual(answer.status, status, answer.text)
  return answer
})

const venueState = Effect.gen(function* () {
  const monitor = yield* SourceMonitor.SourceMonitor
  return monitor.stateOf(EXECUTION, 0)?.executed?.find(({ dex }) => dex === "zerofi")
})

describe.skipIf(makeRuntime === null)(`quotes by execution over HTTP${absent}`, () => {
  const world = Effect.gen(function* () {
    const node = yield* litesvmNode(makeRuntime ?? (() => assert.fail("no runtime")))
    node.deploy(zerofi.programId, program(FEE_BPS))
    node.write([wallet(TRADER, 10n ** 12n), ...accounts])
    return node
  })

  it.live("pay what the program pays, in both directions, and say that it was executed", () =>
    Effect.gen(function* () {
      const node = yield* world
      yield* Effect.gen(function* () {
        const amount = 3_000_000n
        const sold = yield* quoted(node, amount, 200)
        assert.strictEqual(sold.json("outAmount"), String(tinyAmmOut(amount, ...reserves, FEE_BPS)))
        assert.strictEqual(sold.json("engine"), "executed")
        assert.strictEqual(sold.json("route.0.dex"), "zerofi")
        assert.strictEqual(sold.json("route.0.pool"), place.pool)
        assert.isAbove(Number(sold.json("route.0.computeUnits")), 1000)
        assert.isAtLeast(Number(sold.json("route.0.provenAtSlot")), Number(sold.json("stateSlot")))
        const bought = yield* quoted(node, 7_777n, 200, [USDC, SOL])
        const [a, b] = reserves
        assert.strictEqual(bought.json("outAmount"), String(tinyAmmOut(7_777n, b, a, FEE_BPS)))
        assert.deepInclude(yield* venueState, { state: "executed", pools: 1, refusedPools: 0, detail: null })

        const body = JSON.stringify({ inputMint: SOL, outputMint: USDC, amount: String(amount), simulate: true })
        const headers = { "content-type": "application/json" }
        const routed = yield* call("/api/v1/route", { method: "POST", body, headers })
        assert.strictEqual(routed.status, 200, routed.text)
        assert.strictEqual(routed.json("simulation.state"), "executed", routed.text)
        assert.strictEqual(routed.json("simulation.outAmount"), routed.json("outAmount"))
        assert.strictEqual(routed.json("simulation.hops.0.amountIn"), String(amount))
        assert.isNull(routed.json("simulation.differsAt"))
      }).pipe(Effect.provide(serviceOver(node)))
    }).pipe(Effect.scoped)
  )

  it.live("follow the accounts and upgrades, and are refused with the program's own error when it never ends", () =>
    Effect.gen(function* () {
      const node = yield* world
      yield* Effect.gen(function* () {
        const amount = 1_000_000n
        const paysSoon = Effect.fnUntraced(function* (expected: bigint) {
          let paid: unknown = null
          for (let attempt = 0; attempt < 100 && paid !== String(expected); attempt++) {
            yield* Effect.sleep("50 millis")
            node.pass()
            paid = (yield* quoted(node, amount, 200)).json("outAmount")
          }
          assert.strictEqual(paid, String(expected))
        })
        yield* paysSoon(tinyAmmOut(amount, ...reserves, FEE_BPS))
        const [a, b] = [reserves[0] / 2n, reserves[1]]
        node.write(tinyPoolAccounts(zerofi.programId, { ...place, reserves: [a, b] }, TRADER))
        yield* paysSoon(tinyAmmOut(amount, a, b, FEE_BPS))
        node.deploy(zerofi.programId, program(100))
        yield* paysSoon(tinyAmmOut(amount, a, b, 100))
        node.deploy(zerofi.programId, endlessProgram)
        const refused = yield* quoted(node, amount, 501)
        assert.include(refused.text, "(zerofi)")
        assert.include(refused.text, "exceeded CUs meter")
        let state = yield* venueState
        for (let attempt = 0; attempt < 100 && state?.state !== "refused"; attempt++) {
          yield* quoted(node, amount, 501)
          yield* Effect.sleep("50 millis")
          state = yield* venueState
        }
        assert.deepInclude(state, { state: "refused", pools: 0, refusedPools: 1 })
      }).pipe(Effect.provide(serviceOver(node)))
    }).pipe(Effect.scoped)
  )
})
