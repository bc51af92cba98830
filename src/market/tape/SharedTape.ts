/**
 * The market of a process that shares the work with others: one process reads the chain, all of them follow the bus.
 */
import type { PgClient } from "@effect/sql-pg"
import { type Config, Deferred, Effect, Exit, type Layer, Schedule } from "effect"
import { AccountRelay } from "../../chain/accounts/AccountRelay.ts"
import { Readings } from "../../operations/Readings.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { BlockBus } from "../../storage/bus/BlockBus.ts"
import { type LeaderLock, whileLeading } from "../../storage/LeaderLock.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import type { MarketStorePorts } from "../model/MarketStores.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import { decodeBlock, encodeBlock } from "./blockMessage.ts"
import { forEachChain, replaced } from "./driveTape.ts"
import { followStored, type StoreUse } from "./followStored.ts"
import { followChain } from "./followTape.ts"
import { leadChain } from "./leadTape.ts"
import {
  type BlockLine,
  makeHalves,
  resumeStored,
  storableBy,
  type TapeHalves,
  type TapeParts,
  type TapeSettings
} from "./tapeParts.ts"
import type { TradeFeed } from "./TradeFeed.ts"
import { Market } from "./Market.ts"
import { watchBus } from "./watchBus.ts"
import { WatchedWallets } from "./WatchedWallets.ts"

/** The lock of the process that reads the chain. A silent holder loses it soon: nobody gets new blocks meanwhile. */
const LEADER_LOCK: LeaderLock = { key: 7_426_199, silenceMs: 1500 }
const ELECTION_EVERY = "500 millis"

/**
 * Stands for election again and again. A process that loses the lock, or that another one has overtaken, goes on as a
 * follower.
 */
const standForElection = <A, E, R>(lead: Effect.Effect<A, E, R>) =>
  Effect.exit(whileLeading(LEADER_LOCK, lead)).pipe(
    Effect.flatMap((exit) =>
      Exit.isFailure(exit) ? Effect.logDebug("This process does not lead", exit.cause) : Effect.void
    ),
    Effect.repeat(Schedule.spaced(ELECTION_EVERY))
  )

const drive = (mayLead: boolean) =>
  Effect.fnUntraced(function* (parts: TapeParts, limits: MarketLimits, settings: TapeSettings) {
    const { bus, failed, state } = yield* watchBus(yield* BlockBus)
    const relay = yield* AccountRelay
    const monitor = yield* SourceMonitor
    yield* (yield* Readings).report(
      {
        name: "fathom_bus_failed_appends_total",
        help: "Blocks that the bus did not take, because Valkey was full or away. Each is tried again.",
        kind: "counter"
      },
      failed
    )
    const storable = storableBy(parts.tape, yield* WatchedWallets)
    const line: BlockLine<Uint8Array> = { bus, encode: encodeBlock, decode: decodeBlock, isShared: true }

    const lead = Effect.fnUntraced(function* (chain: ChainIdentity, halves: TapeHalves, use: StoreUse) {
      use.isLeading = true
      use.isReading = false
      yield* Effect.addFinalizer(() => Effect.sync(() => (use.isLeading = false)))
      const after = (yield* parts.stores.blocks.open(chain, "sole"))?.slot ?? 0
      yield* Effect.logInfo("This process reads the chain", { after })
      yield* Effect.addFinalizer(() => Effect.logInfo("This process does not read the chain any more"))
      yield* leadChain(parts, line, chain, limits, settings, halves, after)
    }, Effect.scoped)

    const follow = Effect.fnUntraced(function* (chain: ChainIdentity, halves: TapeHalves, use: StoreUse) {
      const begun = yield* resumeStored(parts, chain, limits, "read")
      use.isReading = true
      halves.durable = () => begun?.slot ?? 0
      yield* monitor.report("bus", state)
      const note = yield* followStored(parts, chain, limits, halves, use)
      return yield* followChain(parts, line, { name: chain.genesis, begun }, limits, halves, (batch, nowMs) =>
        note(storable(batch, nowMs))
      )
    })

    yield* forEachChain(
      parts,
      Effect.fnUntraced(function* (chain) {
        if (chain === null) {
          yield* Effect.logError("The node does not report its genesis hash: its blocks cannot be shared")
          return yield* Effect.never
        }
        const halves = yield* makeHalves
        const use: StoreUse = { isLeading: false, isReading: false }
        if (mayLead) {
          const blocks = lead(chain, halves, use)
          const all = relay === null ? blocks : Effect.raceFirst(blocks, relay.lead(chain.genesis))
          // The follower opens the store for reading first, then the leader opens it for writing.
          yield* Effect.forkScoped(Effect.andThen(Deferred.await(halves.restored), standForElection(all)))
        }
        return yield* Effect.raceFirst(follow(chain, halves, use), replaced(parts.feed, chain))
      })
    )
  })

/**
 * A market that restores stored trades and then follows the bus. With `mayLead` the process stands for election. The
 * leader reads the chain, appends its blocks to the bus and stores them, and passes on the account writes that its feed
 * receives.
 */
export const layer = (
  mayLead: boolean
): Layer.Layer<Market, Config.ConfigError, TradeFeed | MarketStorePorts | PriceBook | BlockBus | PgClient.PgClient> =>
  Market.layerDriven(drive(mayLead))
