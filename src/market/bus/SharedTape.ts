/** Tapes of the processes that divide the roles of a service. */
import type { PgClient } from "@effect/sql-pg"
import { type Config, Deferred, Effect, Exit, type Layer, Schedule } from "effect"
import { AccountRelay } from "../../solana/bus/AccountRelay.ts"
import { BlockBus } from "../../storage/bus/BlockBus.ts"
import { type LeaderLock, whileLeading } from "../../storage/LeaderLock.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import type { TapeParts, TapeSettings } from "../tape/driveTape.ts"
import type { MarketLimits } from "../tape/MarketState.ts"
import type { TradeFeed } from "../tape/TradeFeed.ts"
import { TradeTape } from "../tape/TradeTape.ts"
import { followChain, type FollowerState } from "./followTape.ts"
import { leadChain } from "./leadTape.ts"

/** The lock of the process that reads the chain: without it no process has new blocks, so another one takes over soon. */
const LEADER_LOCK: LeaderLock = { key: 7_426_199, silenceMs: 1500 }
const ELECTION_EVERY = "500 millis"
const CHAIN_EVERY = "10 seconds"

/** Waits until the node serves another chain. */
const replaced = (feed: TradeFeed["Service"], chain: ChainIdentity) =>
  feed.chain.pipe(
    Effect.repeat({
      until: (next) => next !== null && next.genesis !== chain.genesis,
      schedule: Schedule.spaced(CHAIN_EVERY)
    }),
    Effect.asVoid
  )

/** Tries again and again to lead; a process whose lock is lost or that was overtaken follows on. */
const standForElection = <A, E, R>(lead: Effect.Effect<A, E, R>) =>
  Effect.exit(whileLeading(LEADER_LOCK, lead)).pipe(
    Effect.flatMap((exit) =>
      Exit.isFailure(exit) ? Effect.logDebug("This process does not lead", exit.cause) : Effect.void
    ),
    Effect.repeat(Schedule.spaced(ELECTION_EVERY))
  )

const drive = (mayLead: boolean) =>
  Effect.fnUntraced(function* (parts: TapeParts, limits: MarketLimits, settings: TapeSettings) {
    const bus = yield* BlockBus
    const relay = yield* AccountRelay
    while (true) {
      const chain = yield* parts.feed.chain
      if (chain === null) {
        yield* Effect.logError("The node does not report its genesis hash: its blocks cannot be shared")
        return yield* Effect.never
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const following: FollowerState = {
            restored: yield* Deferred.make<void>(),
            isLeading: false,
            isReading: false,
            durable: 0
          }
          const follow = followChain(parts, bus, chain, limits, following)
          if (mayLead) {
            const blocks = leadChain(parts, bus, chain, limits, settings, following)
            const lead = relay === null ? blocks : Effect.raceFirst(blocks, relay.lead(chain.genesis))
            // Its writes begin after the store was opened for reading.
            yield* Effect.forkScoped(Effect.andThen(Deferred.await(following.restored), standForElection(lead)))
          }
          yield* Effect.raceFirst(follow, replaced(parts.feed, chain))
        })
      )
      yield* Effect.logWarning("The market begins anew with another chain")
      parts.tape.startAnew()
    }
  })

/**
 * A tape that restores stored trades and then follows the bus. One of the processes that may lead reads the chain, appends its
 * blocks to the bus and stores them, and passes on the writes of accounts that its feed receives.
 */
export const layer = (
  mayLead: boolean
): Layer.Layer<TradeTape, Config.ConfigError, TradeFeed | TradeStore | PriceBook | BlockBus | PgClient.PgClient> =>
  TradeTape.layerDriven(drive(mayLead))
