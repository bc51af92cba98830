/** The market of a process that shares nothing: it leads and follows, over a bus of its own. */
import { Effect, Schedule } from "effect"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { type Blocks, makeMemoryBlocks } from "../../storage/bus/BlockBus.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"
import { followChain } from "./followTape.ts"
import { leadChain, relayBlocks } from "./leadTape.ts"
import { keepTrying } from "../../operations/keepRunning.ts"
import { makeBlockPricing } from "./priceBlocks.ts"
import { type BlockLine, makeHalves, resumeStored, type TapeParts, type TapeSettings } from "./tapeParts.ts"

const CHAIN_EVERY = "10 seconds"
/** Only the newest block stays on the bus. */
const NOTHING_OLDER = { keptMs: -1 }

/** Waits until the node serves another chain, and returns that chain. */
export const replaced = (feed: TapeParts["feed"], chain: ChainIdentity | null) =>
  feed.chain.pipe(
    Effect.repeat({
      until: (next) => next !== null && next.genesis !== chain?.genesis,
      schedule: Schedule.spaced(CHAIN_EVERY)
    })
  )

/** Runs the effect for one chain after the other. The effect returns the next chain once the node serves it. */
export const forEachChain = Effect.fnUntraced(function* <E, R>(
  { feed, tape }: Pick<TapeParts, "feed" | "tape">,
  run: (chain: ChainIdentity | null) => Effect.Effect<ChainIdentity | null, E, R>
) {
  let chain = yield* feed.chain
  while (true) {
    chain = yield* Effect.scoped(run(chain))
    yield* Effect.logWarning("The market begins anew with another chain", { genesis: chain?.genesis })
    tape.startAnew()
  }
})

/** Runs for as long as its scope. A chain that the node cannot name is kept in memory only. */
export const driveTape = (
  parts: TapeParts,
  limits: MarketLimits,
  settings: TapeSettings,
  makeBus: () => Blocks<PricedBatch> = () => makeMemoryBlocks(NOTHING_OLDER)
) => {
  const { feed, prices } = parts
  return forEachChain(
    parts,
    Effect.fnUntraced(function* (chain) {
      // A chain that comes back begins with an empty bus, so that its stored blocks decide where it goes on.
      const bus = makeBus()
      const line: BlockLine<PricedBatch> = { bus, encode: (batch) => batch, decode: (batch) => batch, isShared: false }
      const halves = yield* makeHalves
      yield* (yield* SourceMonitor).report("trades", (nowMs) => halves.health(nowMs))
      if (chain === null) {
        yield* Effect.logWarning("The node does not report its genesis hash: trades are kept in memory only")
      }
      const begun = chain === null ? null : yield* resumeStored(parts, chain, limits, "shared")
      halves.durable = () => begun?.slot ?? 0
      const name = chain?.genesis ?? ""
      const lead =
        chain === null
          ? bus.newest(name).pipe(
              Effect.flatMap((newest) =>
                relayBlocks(
                  feed,
                  line,
                  { name, after: newest ?? 0, forks: halves.forks },
                  makeBlockPricing(prices),
                  halves.applied.reached
                )
              ),
              keepTrying("Filling the bus of blocks")
            )
          : leadChain(parts, line, chain, limits, settings, halves, begun?.slot ?? 0)
      return yield* Effect.raceFirst(
        followChain(parts, line, { name, begun }, limits, halves),
        Effect.andThen(lead, replaced(feed, chain))
      )
    })
  )
}
