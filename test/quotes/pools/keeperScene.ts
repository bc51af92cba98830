/** Processes that keep the index of a chain. The test controls the stream and the snapshots. */
import { Clock, Context, Effect, Layer, Queue, References } from "effect"
import type { Address, Mint } from "../../../src/domain/Address.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { layerPrograms } from "../../../src/quotes/pools/keepPoolIndex.ts"
import { PoolIndexStore } from "../../../src/quotes/pools/PoolIndexStore.ts"
import * as PoolIndexStorePg from "../../../src/quotes/pools/PoolIndexStorePg.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { at, toyProgram } from "../toyChain.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { programId, type StreamedChain } from "./indexScene.ts"

/** Tokens of the chain. */
export const [TOKEN, TOKEN_2] = [at(10), at(11)]
/** The end of a stream that can be opened again. */
export const lost = new ChainUnavailable({ reason: "unreachable", detail: "the stream ended" })
/** The end of a stream that the Geyser refuses. */
export const refused = new ChainUnavailable({
  reason: "unreachable",
  detail: "PERMISSION_DENIED: by the plan",
  isRefused: true
})

/** A process that keeps the index of the chain in this database, until the scope ends. */
export const keeper = Effect.fnUntraced(function* (chain: StreamedChain, address: TestDatabase.TestAddress) {
  const context = yield* Layer.build(
    layerPrograms([toyProgram]).pipe(
      Layer.provideMerge(PoolIndexStorePg.layer),
      Layer.provide(TestDatabase.connect(address)),
      Layer.provide(chain.layer),
      Layer.provideMerge(SourceMonitor.layer),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
    )
  )
  const store = Context.get(context, PoolIndexStore)
  const monitor = Context.get(context, SourceMonitor.SourceMonitor)
  return {
    claim: store.claim,
    state: () => monitor.stateOf("pool_index", 0),
    pools: (mint: Mint, through = 0) =>
      Effect.map(store.poolsOf(mint, { through, most: 100 }), ({ pools, whole }) =>
        whole.has(programId) ? pools.map((pool) => pool.address).toSorted() : null
      ).pipe(Effect.orDie)
  }
})

/** A process that keeps the index. */
export type Keeper = Effect.Success<ReturnType<typeof keeper>>

/** Waits until the index has these pools. Null expects a program that is not whole. */
export const shows = ({ pools }: Keeper, mint: Mint, wanted: ReadonlyArray<Address> | null, through = 0) =>
  Effect.gen(function* () {
    const text = JSON.stringify(wanted?.toSorted() ?? null)
    yield* pools(mint, through).pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: (found) => JSON.stringify(found) === text })
    )
  })

/** The next stream that is opened. */
export const stream = (chain: StreamedChain) => Queue.take(chain.opened)

/** A monotonic clock that a test moves forward. No wait ends sooner. */
export const makeLaterClock = Effect.map(Clock.Clock, (live) => {
  const later = { byMs: 0 }
  const monotonicNanos = () => live.monotonicTimeNanosUnsafe() + BigInt(later.byMs) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => live.currentTimeMillisUnsafe(),
    currentTimeMillis: live.currentTimeMillis,
    currentTimeNanosUnsafe: () => live.currentTimeNanosUnsafe(),
    currentTimeNanos: live.currentTimeNanos,
    monotonicTimeNanosUnsafe: monotonicNanos,
    monotonicTimeNanos: Effect.sync(monotonicNanos),
    sleep: (duration) => live.sleep(duration)
  }
  return { later, clock }
})
