/** The layers of a process that shares a Valkey with other processes. Loaded where `VALKEY_URL` is set. */
import { Config, Effect, Layer } from "effect"
import * as CallerLimitsValkey from "../access/CallerLimitsValkey.ts"
import * as EndedValkey from "../access/EndedValkey.ts"
import * as RateLimiterValkey from "../access/RateLimiterValkey.ts"
import * as ChainFeedBus from "../chain/bus/ChainFeedBus.ts"
import * as PublishAccounts from "../chain/bus/publishAccounts.ts"
import { blockCommitment, Commitment } from "../chain/Commitment.ts"
import type { RpcOptions } from "../chain/rpc/rpcSettings.ts"
import * as MarketTicketsValkey from "../live/market/MarketTicketsValkey.ts"
import * as SharedTape from "../market/tape/SharedTape.ts"
import * as Database from "../storage/Database.ts"
import * as AccountBusValkey from "../storage/valkey/AccountBusValkey.ts"
import * as BlockBusValkey from "../storage/valkey/BlockBusValkey.ts"
import * as ValkeyRedis from "../storage/valkey/ValkeyRedis.ts"
import * as TicketsValkey from "../wallets/tracker/TicketsValkey.ts"

/** Budgets, limits of callers, tickets of sockets, and what has ended. */
export const sharedState = (url: string) =>
  Layer.merge(TicketsValkey.layer, MarketTicketsValkey.layer).pipe(
    Layer.provideMerge([RateLimiterValkey.layer, CallerLimitsValkey.layer, EndedValkey.layer]),
    Layer.provide(ValkeyRedis.layer(url))
  )

const marketOf = (mayLead: boolean) => (url: string) =>
  SharedTape.layer(mayLead).pipe(Layer.provide([BlockBusValkey.layerSettings(url), Database.layer]))

/** A market that follows the bus. One of the processes with this layer reads the chain and fills the bus. */
export const leadingMarket = marketOf(true)

export const followingMarket = marketOf(false)

/** `SOLANA_COMMITMENT`. The bus never carries writes that may be rolled back. */
const sharedCommitment = Config.schema(Commitment, "SOLANA_COMMITMENT").pipe(
  Config.withDefault("confirmed" as const),
  Config.map(blockCommitment)
)

/** Account writes from the node. The process that reads the chain also appends them to the bus. */
export const relayedAccounts = <A, E, R>(url: string, nodeAccounts: (options: RpcOptions) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.map(sharedCommitment, (commitment) =>
      nodeAccounts({ commitment }).pipe(
        Layer.provideMerge(PublishAccounts.layer(commitment).pipe(Layer.provide(AccountBusValkey.layer(url))))
      )
    )
  )

/** Account writes from the bus, for the accounts on which this process has a lease. */
export const leasedAccounts = (url: string) =>
  Layer.unwrap(
    Effect.map(sharedCommitment, (commitment) => ChainFeedBus.layer(new URL(url).host, { commitment }))
  ).pipe(Layer.provide(AccountBusValkey.layer(url)))
