/** The queue in front of the thread of executions, with threads that misbehave. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, References } from "effect"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { key, pack, u32, u64, u8 } from "../../../src/programs/layout/pack.ts"
import { closedAmms } from "../../../src/programs/executed/closedAmms.ts"
import { Executor, type ExecutionRefused, layerOf } from "../../../src/quotes/execution/Executor.ts"
import { ExecutionBudget } from "../../../src/quotes/execution/ExecutionBudget.ts"
import { derive } from "../../../src/quotes/execution/decodeFixture.ts"
import { programDataAddress } from "../../../src/quotes/execution/deployment.ts"
import { curveOf, estimate, mostFor, sampledAmounts } from "../../../src/quotes/execution/priceCurve.ts"
import type { HeldPool } from "../../../src/quotes/pools/PoolCache.ts"
import { Address } from "../../../src/domain/Address.ts"
import { at } from "../toyChain.ts"

const program = closedAmms[0] ?? assert.fail("no program")
const LOADER = Address.make("BPFLoaderUpgradeab1e11111111111111111111111")
const dataAddress = programDataAddress(program.programId, derive)
const account = (address: Address, data: Uint8Array) => ({ address, owner: LOADER, lamports: 1n, data, slot: 1 })
const deployed = new Map([
  [program.programId, account(program.programId, pack(u32(2), key(dataAddress)))],
  [dataAddress, account(dataAddress, pack(u32(3), u64(5n), u8(0), new Uint8Array(32), Uint8Array.of(1)))]
])

const clock = { slot: 9, epoch: 0, unixTimestamp: 0 }

const feed = Layer.mock(ChainFeed, {
  freshness: () => ({ slot: 1, heardAtMs: 0, state: "live" }),
  clock: () => clock,
  commitment: "confirmed",
  read: () => Effect.succeed({ slot: 1, accounts: deployed })
})

const pool = (missing: Address | null = null): HeldPool => ({
  program,
  address: at(1),
  foundBy: undefined,
  mints: [at(2), at(3)],
  version: 1,
  accounts: new Map(),
  missing
})

const order = (amount: bigint) => ({ aToB: true, exactOut: false, amount })

/** A thread with this way to answer. */
const thread = (body: string, ready = "null") =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads"
    parentPort.on("message", ({ jobs }) => { ${body} })
    parentPort.postMessage({ unavailable: ${ready} })
  `)}`
  )

const paying = `parentPort.postMessage({
  results: jobs.map(({ orders }) => orders.map(({ amount }) => ({ amountIn: amount, amountOut: amount * 2n, units: 7 }))),
  cpuMs: 1
})`

const opened = Effect.fnUntraced(function* (entry: URL) {
  const executor = Context.get(
    yield* Layer.build(
      layerOf(entry).pipe(
        Layer.provide(feed),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { EXECUTE_BUDGET: "100 millis" } }))),
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
      )
    ),
    Executor
  )
  // The first request has the program's bytes read.
  const refused = yield* Effect.flip(executor.execute(pool(), [order(1n)], clock))
  assert.include(refused.detail, "are being read")
  yield* Effect.sleep("10 millis")
  return executor
})

const detailOf = (refused: ExecutionRefused) => refused.detail

describe("the executor", () => {
  it.live("answers from a thread, and keeps the answer until the state or the slot changes", () =>
    Effect.gen(function* () {
      const executor = yield* opened(thread(paying))
      const held = pool()
      const results = yield* executor.execute(held, [order(5n), order(6n)], clock)
      assert.deepStrictEqual(
        results.map((one) => ("error" in one ? null : one.amountOut)),
        [10n, 12n]
      )
      assert.strictEqual(yield* executor.execute(held, [order(5n), order(6n)], clock), results)
      const later = yield* executor.execute(held, [order(5n), order(6n)], { ...clock, slot: 10 })
      assert.notStrictEqual(later, results)
      assert.deepInclude(executor.state(), { unavailable: null, restarts: 0, fill: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("refuses the venue whose execution ended the thread, and starts it again for others", () =>
    Effect.gen(function* () {
      const executor = yield* opened(thread(`if (jobs[0].orders[0].amount === 13n) process.exit(7); ${paying}`))
      const first = yield* Effect.flip(executor.execute(pool(), [order(13n)], clock))
      assert.include(first.detail, "the thread ended with 7")
      const second = yield* Effect.flip(executor.execute(pool(), [order(1n)], clock))
      assert.strictEqual(second.detail, "it stopped the runtime: the thread ended with 7")
      assert.isAbove(second.retryInMs ?? 0, 50_000)
      assert.strictEqual(executor.state().restarts, 1)
      assert.deepStrictEqual([...executor.state().stopped.keys()], [program.programId])
      const other = { ...pool(), program: { ...program, programId: at(50) } }
      const absent = yield* Effect.flip(executor.execute(other, [order(1n)], clock))
      assert.include(absent.detail, "are being read")
    }).pipe(Effect.scoped)
  )

  it.live("answers those who wait for a batch that cannot be sent, and goes on", () =>
    Effect.gen(function* () {
      const executor = yield* opened(thread(paying))
      // No thread can be sent a proxy.
      const data = new Proxy(new Uint8Array(1), {})
      const broken = { ...pool(), accounts: new Map([[at(1), account(at(1), data)]]) }
      const past = yield* Effect.forkChild(Effect.flip(executor.executePast(broken, order(3n), clock)))
      assert.strictEqual((yield* Fiber.join(past)).detail, "the execution ended early")
      const again = yield* Effect.eventually(executor.execute(pool(), [order(4n)], clock))
      assert.lengthOf(again, 1)
    }).pipe(Effect.scoped)
  )

  it.live("refuses all venues by name where the runtime is missing", () =>
    Effect.gen(function* () {
      const executor = yield* opened(thread("", `"no litesvm here"`))
      assert.strictEqual(detailOf(yield* Effect.flip(executor.execute(pool(), [order(1n)], clock))), "no litesvm here")
      assert.strictEqual(executor.state().unavailable, "no litesvm here")
    }).pipe(Effect.scoped)
  )

  it.live("refuses what does not fit its queue, and a pool with an account that was not read", () =>
    Effect.gen(function* () {
      const executor = yield* opened(thread("setTimeout(() => {}, 1000)"))
      const waiting = yield* Effect.forEach(Array.from({ length: 400 }), (_, index) =>
        Effect.forkChild(Effect.flip(executor.execute(pool(), [order(BigInt(index + 1))], clock)), {
          startImmediately: true
        })
      )
      yield* Effect.sleep("20 millis")
      const full = yield* Fiber.join(waiting.at(-1) ?? assert.fail("nothing waits"))
      assert.strictEqual(full.detail, "the queue of executions is full")
      const missing = yield* Effect.flip(executor.execute(pool(at(44)), [order(1n)], clock))
      assert.strictEqual(missing.detail, `account ${at(44)} has not been read yet`)
      yield* Fiber.interruptAll(waiting)
    }).pipe(Effect.scoped)
  )

  it.effect("waits while the time of a second is used up", () =>
    Effect.sync(() => {
      const budget = new ExecutionBudget(100, 0)
      assert.strictEqual(budget.waitMs(0), 0)
      budget.spend(250)
      assert.strictEqual(budget.waitMs(0), 1501)
      assert.isAbove(budget.waitMs(1400), 0)
      assert.strictEqual(budget.waitMs(1510), 0)
      assert.strictEqual(budget.totalMs, 250)
    })
  )
})

describe("a price curve", () => {
  it("samples eight amounts, and as many as there are below a small balance", () => {
    assert.strictEqual(sampledAmounts(10n ** 12n).length, 8)
    assert.deepStrictEqual(sampledAmounts(40n), [2n, 20n])
    assert.strictEqual(sampledAmounts(0n).length, 8)
  })

  it("estimates between samples and bounds what may be paid", () => {
    const orders = [100n, 200n, 400n].map(order)
    const curve = curveOf(orders, [
      { amountIn: 100n, amountOut: 90n, units: 1 },
      { error: "too much", units: 1 },
      { amountIn: 400n, amountOut: 300n, units: 1 }
    ])
    assert.strictEqual(estimate(curve, 50n), 45n)
    assert.strictEqual(estimate(curve, 250n), 195n)
    assert.strictEqual(estimate(curve, 900n), 300n)
    assert.isAtLeast(Number(mostFor(curve, 250n)), 225)
    assert.isNull(curve.error)
    assert.strictEqual(curveOf(orders, [{ error: "NotMyCaller", units: 1 }]).error, "NotMyCaller")
  })
})
