/** A program that nothing here has code for: its swaps are learned, proven, quoted, and dropped after an upgrade. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, References } from "effect"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import * as TransactionHistoryRpc from "../../../src/chain/rpc/TransactionHistoryRpc.ts"
import { type Address, SOL } from "../../../src/domain/Address.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { plainMint } from "../../../src/programs/layout/tokenAccount.ts"
import { readU64 } from "../../../src/programs/layout/bytes.ts"
import * as ExecutedQuotes from "../../../src/quotes/ExecutedQuotes.ts"
import * as Executor from "../../../src/quotes/execution/Executor.ts"
import { stateBefore } from "../../../src/quotes/execution/learnVenues.ts"
import { learnDirection, type SeenSwap } from "../../../src/quotes/execution/learnSwap.ts"
import * as QuoteByExecution from "../../../src/quotes/execution/QuoteByExecution.ts"
import { loadRuntime } from "../../../src/quotes/execution/programRuntime.ts"
import { holding, wallet } from "../../../src/quotes/execution/traderAccounts.ts"
import * as LearnedPools from "../../../src/quotes/pools/LearnedPools.ts"
import type { HeldPool } from "../../../src/quotes/pools/PoolCache.ts"
import { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../../src/quotes/QuoteEngine.ts"
import { type LitesvmNode, litesvmNode } from "../../support/litesvmNode.ts"
import { tinyAmm, tinyAmmOut, tinyPoolAccounts, tinySwap } from "../../support/tinyAmm.ts"
import { at } from "../toyChain.ts"

const loaded = loadRuntime()
const makeRuntime = typeof loaded === "function" ? loaded : null
const absent = typeof loaded === "function" ? "" : ` (skipped: ${loaded.reason})`

const PROGRAM = at(77)
const FEE_BPS = 30
const place = {
  pool: at(31),
  mintA: at(32),
  mintB: at(33),
  vaultA: at(34),
  vaultB: at(35),
  reserves: [1_000_000_000n, 5_000_000_000n] as const
}
const traders = [41, 42, 43].map((n) => ({ trader: at(n), a: at(n + 10), b: at(n + 20) }))

describe("the state before an observed swap", () => {
  const stateAt = (slot: number): HeldPool => ({
    program: new LearnedPools.LearnedPools().program,
    address: place.pool,
    foundBy: undefined,
    mints: [place.mintA, place.mintB],
    version: slot,
    accounts: new Map([
      [place.pool, { address: place.pool, owner: PROGRAM, lamports: 1n, data: new Uint8Array(0), slot }]
    ]),
    missing: null
  })
  const states = new Map([[place.pool, [10, 20].map(stateAt)]])

  const found = (slot: number, slots: ReadonlyArray<number>, wholeFrom: number) =>
    stateBefore({ slots: [...slots], states, wholeFrom }, place.pool, { slot })?.version ?? null

  it("is the newest older one, while every transaction since then was listed and was no other", () => {
    assert.strictEqual(found(25, [9, 19, 25], 0), 20)
    assert.strictEqual(found(20, [20], 0), 10)
    assert.isNull(found(25, [22, 25], 0))
    assert.isNull(found(25, [25, 25], 0))
    // A busy program made more transactions than one look lists, so those after slot 20 may lack some.
    assert.isNull(found(25, [25], 24))
    assert.strictEqual(found(25, [25], 20), 20)
  })
})

const quotesOver = ({ rpcUrl, wsUrl }: LitesvmNode) =>
  QuoteByExecution.layer.pipe(
    Layer.provideMerge(Executor.layer),
    Layer.provideMerge(QuoteEngine.layerRouter),
    Layer.provideMerge(PoolBook.layerExecuted),
    Layer.provideMerge([
      ChainFeedRpc.layer({ rpcUrl, wsUrl }),
      TransactionHistoryRpc.layer({ rpcUrl }),
      ExecutedQuotes.layer,
      SourceMonitor.layer,
      LearnedPools.layer
    ]),
    Layer.provide([NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor]),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromEnv({
          env: {
            STALE_AFTER: "1 hour",
            DISCOVERY_RATE: "1000",
            ROUTER_HUBS: SOL,
            EXECUTE_BUDGET: "1 second",
            PROGRAM_REFRESH: "1 second",
            LEARN_VENUES: PROGRAM
          }
        })
      )
    ),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
  )

const balanceAt = (node: LitesvmNode, address: Address): bigint =>
  readU64(node.account(address)?.data ?? assert.fail("no account"), 64)

const learnedState = Effect.gen(function* () {
  const monitor = yield* SourceMonitor.SourceMonitor
  return monitor.stateOf(Executor.EXECUTION, 0)?.executed?.find(({ programId }) => programId === PROGRAM)
})

/** Lets traders swap, one after the other, until the venue is in this state. */
const tradeUntil = Effect.fnUntraced(function* (node: LitesvmNode, state: string, amountAt: number, offset = 0) {
  for (let index = offset; index < offset + 60; index++) {
    const known = yield* learnedState
    if (known?.state === state) {
      return known
    }
    const { a, b, trader } = traders[index % traders.length] ?? assert.fail("no trader")
    const amount = 100_000n + BigInt(index) * 1_003n
    const done = node.execute(trader, [
      tinySwap(PROGRAM, place, { aToB: true, amount, amountAt, from: a, to: b, trader })
    ])
    assert.isUndefined(done.error)
    node.pass()
    yield* Effect.sleep("700 millis")
  }
  return assert.fail(`it is not ${state}: ${JSON.stringify(yield* learnedState)}`)
})

describe.skipIf(makeRuntime === null)(`a learned venue${absent}`, () => {
  it.live(
    "is learned from swaps of strangers, proven, quoted to the unit, and dropped when an upgrade changes its layout",
    () =>
      Effect.gen(function* () {
        const node = yield* litesvmNode(makeRuntime ?? (() => assert.fail("no runtime")))
        node.deploy(PROGRAM, tinyAmm({ feeBps: FEE_BPS, amountAt: 1 }))
        node.write([
          ...tinyPoolAccounts(PROGRAM, place),
          ...traders.flatMap(({ a, b, trader }) => [
            wallet(trader, 10n ** 12n),
            holding(a, trader, plainMint(place.mintA), 10n ** 9n),
            holding(b, trader, plainMint(place.mintB), 0n)
          ])
        ])
        yield* Effect.gen(function* () {
          const engine = yield* QuoteEngine
          const request = { inputMint: place.mintA, outputMint: place.mintB, amount: 777_777n, slippageBps: 50 }
          const proven = yield* tradeUntil(node, "proven", 1)
          assert.include(proven.detail ?? "", "5 of 5")
          const reserves = () => [balanceAt(node, place.vaultA), balanceAt(node, place.vaultB)] as const
          let quote = yield* Effect.result(engine.quote(request))
          for (let attempt = 0; attempt < 100 && quote._tag === "Failure"; attempt++) {
            yield* Effect.sleep("50 millis")
            quote = yield* Effect.result(engine.quote(request))
          }
          const paid = quote._tag === "Success" ? quote.success : assert.fail(JSON.stringify(quote.failure))
          assert.strictEqual(paid.outAmount, tinyAmmOut(777_777n, ...reserves(), FEE_BPS))
          assert.strictEqual(paid.route[0]?.dex, "learned")

          // The new program reads the amount elsewhere, so the learned data no longer swaps as it did.
          node.deploy(PROGRAM, tinyAmm({ feeBps: FEE_BPS, amountAt: 9 }))
          const dropped = yield* tradeUntil(node, "refused", 9, 100)
          assert.include(dropped.detail ?? "", "an observed swap of")
          const refused = yield* Effect.flip(engine.quote(request))
          assert.strictEqual(refused._tag, "NotExecuted")
          assert.include(JSON.stringify(refused), "executed on the state before it")
        }).pipe(Effect.provide(quotesOver(node)))
      }).pipe(Effect.scoped),
    120_000
  )
})

const swap: SeenSwap = {
  slot: 1,
  blockTime: null,
  programId: PROGRAM,
  accounts: [at(1), at(2), at(3), at(4)],
  data: Uint8Array.of(7, 100, 0, 0, 0, 0, 0, 0, 0),
  trader: at(4),
  from: at(2),
  to: at(3),
  mintIn: at(5),
  mintOut: at(6),
  vaultIn: at(7),
  vaultOut: at(8),
  amountIn: 100n,
  amountOut: 90n,
  calls: []
}
const other: SeenSwap = {
  ...swap,
  accounts: [at(1), at(12), at(13), at(14)],
  trader: at(14),
  from: at(12),
  to: at(13),
  data: Uint8Array.of(7, 200, 0, 0, 0, 0, 0, 0, 0),
  amountIn: 200n
}

describe("learning a swap", () => {
  it("finds the trader's accounts, the constants and the place of the amount", () => {
    const learned = learnDirection(swap, other)
    assert.isObject(learned)
    assert.deepInclude(learned, { amountAt: 1, minimumAt: null })
    assert.deepStrictEqual(typeof learned === "string" ? [] : learned.slots, [
      { constant: at(1), isWritable: true },
      { role: "from" },
      { role: "to" },
      { role: "trader" }
    ])
  })

  it("says what it does not understand", () => {
    assert.strictEqual(
      learnDirection(swap, { ...other, accounts: other.accounts.slice(1) }),
      "its swaps differ in length"
    )
    assert.strictEqual(learnDirection(swap, { ...other, amountIn: 100n }), "its swaps have the same amount")
    const moved = { ...other, accounts: [at(99), ...other.accounts.slice(1)] }
    assert.strictEqual(learnDirection(swap, moved), "account 0 changes from swap to swap")
    const hidden = { ...other, data: Uint8Array.of(7, 1, 2, 3, 4, 5, 6, 7, 8) }
    assert.strictEqual(learnDirection(swap, hidden), "no place of its data holds the amount")
    const changing = { ...other, data: Uint8Array.of(8, 200, 0, 0, 0, 0, 0, 0, 0) }
    assert.strictEqual(learnDirection(swap, changing), "its data has a part that changes and is not understood")
  })
})
