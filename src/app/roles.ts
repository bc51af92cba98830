/** One table: which role gets which layer. `App.ts` uses a column wherever roles differ. */
import { Effect, Layer, Option } from "effect"
import { CallerLimits } from "../access/CallerLimits.ts"
import { RateLimiter } from "../access/RateLimiter.ts"
import { Evaluator } from "../alerts/Evaluator.ts"
import * as ChainFeedGeyser from "../chain/geyser/ChainFeedGeyser.ts"
import { countBuffersWithHeap } from "../chain/geyser/countBuffersWithHeap.ts"
import { geyserEndpoints } from "../chain/geyser/geyserSettings.ts"
import { ProgramWrites } from "../chain/geyser/ProgramWrites.ts"
import * as ProgramWritesGeyser from "../chain/geyser/ProgramWritesGeyser.ts"
import * as ChainFeedRpc from "../chain/accounts/ChainFeedRpc.ts"
import type { RpcOptions } from "../chain/rpc/rpcSettings.ts"
import { MarketTickets } from "../live/market/MarketTickets.ts"
import * as MarketStoresPg from "../market/history/MarketStoresPg.ts"
import { Market } from "../market/tape/Market.ts"
import { isExecuting } from "../quotes/execution/executionSettings.ts"
import { isProving } from "../quotes/execution/proofSettings.ts"
import * as KeepPoolIndex from "../quotes/pools/keepPoolIndex.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { isIndexing } from "../quotes/pools/PoolIndex.ts"
import * as PoolIndexStorePg from "../quotes/pools/PoolIndexStorePg.ts"
import * as StoredPoolIndex from "../quotes/pools/storedPoolIndex.ts"
import { clickHouseUrl } from "../storage/clickhouse/ClickHouse.ts"
import * as Database from "../storage/Database.ts"
import { CleansUp } from "../storage/purge.ts"
import { valkeyUrl } from "../storage/valkey/Valkey.ts"
import { Tickets } from "../wallets/tracker/Tickets.ts"
import * as KeepActivity from "../wallets/tracker/keepActivity.ts"
import { type Role, role } from "./role.ts"
import type * as OverValkey from "./OverValkey.ts"

/**
 * A layer over the server at `VALKEY_URL`, or `alone` without that setting. Nothing else loads the modules of the
 * former.
 */
const overValkey = <A, E, R, E2, R2>(
  choose: (layers: typeof OverValkey, url: string) => Layer.Layer<A, E, R>,
  alone: Layer.Layer<A, E2, R2>
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* valkeyUrl
      const layer: Layer.Layer<A, E | E2, R | R2> = Option.isNone(url)
        ? alone
        : choose(yield* Effect.promise(() => import("./OverValkey.ts")), url.value)
      return layer
    })
  )

/** Budgets, limits of callers, tickets of sockets, and what has ended. Any role shares them when it has a Valkey. */
export const sharedState = overValkey(
  (layers, url) => layers.sharedState(url),
  Layer.mergeAll(RateLimiter.layerMemory, CallerLimits.layerMemory, Tickets.layerMemory, MarketTickets.layerMemory)
)

/** The layer if the condition holds, otherwise nothing. */
const where = <A, E, R, E2, R2>(condition: Effect.Effect<boolean, E2, R2>, layer: Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.map(condition, (holds): Layer.Layer<A, E, R> | Layer.Layer<never> => (holds ? layer : Layer.empty))
  )

/**
 * Account writes from the node. With `GEYSER_URL` they come from the Geyser, and so do the writes of whole programs;
 * otherwise from the WebSockets of the nodes.
 */
const nodeAccounts = (options: RpcOptions = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { length } = yield* geyserEndpoints()
      if (length === 0) {
        return ChainFeedRpc.layer(options)
      }
      yield* countBuffersWithHeap
      return Layer.merge(ChainFeedGeyser.layer(options), ProgramWritesGeyser.layer(options))
    })
  )

/**
 * Trades in PostgreSQL, or in ClickHouse when `CLICKHOUSE_URL` is set. Nothing else loads the modules of ClickHouse.
 */
const storesThat = (cleansUp: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* clickHouseUrl
      if (Option.isNone(url)) {
        const layer = cleansUp ? MarketStoresPg.layer : MarketStoresPg.layerWithoutCleanup
        return layer.pipe(Layer.provide(Database.layer))
      }
      const history = yield* Effect.promise(() => import("./ClickHouseTrades.ts"))
      return history.layer(url.value, cleansUp)
    })
  )

const indexStore = PoolIndexStorePg.layer.pipe(Layer.provideMerge(Database.layer))
const hasGeyser = Effect.map(ProgramWrites, (writes) => writes !== null)
const storedIndex = where(isIndexing, StoredPoolIndex.layer.pipe(Layer.provide(indexStore)))
const keptIndex = where(isIndexing, KeepPoolIndex.layer.pipe(Layer.provide(indexStore)))

/** Proofs of the quoted programs when `PROVE` is `on`. Nothing else loads their modules. */
const provesWhereAsked = where(
  isProving,
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Proofs.ts")),
      ({ layer }) => layer
    )
  )
)

/** Quotes by execution where `EXECUTE_BUDGET` is above zero. Nothing else loads their modules. */
export const executions = where(
  isExecuting,
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./Executions.ts")),
      ({ layer }) => layer
    )
  )
)

/** The pools of every followed program, and of the executed ones where programs are executed. */
export const poolBook = Layer.unwrap(
  Effect.map(isExecuting, (isOn) => (isOn ? PoolBook.layerExecuted : PoolBook.layer))
)

/** A process that evaluates alerts, proves quotes and deletes what is too old. */
const keeps = {
  alerts: Evaluator.layer,
  activity: KeepActivity.layer,
  stores: storesThat(true),
  cleansUp: Layer.succeed(CleansUp, true),
  proofs: provesWhereAsked
}

/** A process that leaves this to another one. */
const serves = {
  alerts: Evaluator.layerReads,
  activity: Layer.empty,
  stores: storesThat(false),
  cleansUp: Layer.succeed(CleansUp, false),
  proofs: Layer.empty
}

/** A process that gets blocks and account writes over the bus, and reads the pool index that another process keeps. */
const follows = {
  market: overValkey(({ followingMarket }, url) => followingMarket(url), Market.layer),
  accounts: overValkey(({ leasedAccounts }, url) => leasedAccounts(url), nodeAccounts()),
  poolIndex: storedIndex,
  poolIndexKeeper: Layer.empty
}

const table = {
  all: {
    market: Market.layer,
    accounts: nodeAccounts(),
    poolIndex: where(hasGeyser, storedIndex),
    poolIndexKeeper: where(hasGeyser, keptIndex),
    ...keeps
  },
  ingest: {
    market: overValkey(({ leadingMarket }, url) => leadingMarket(url), Market.layer),
    accounts: overValkey(({ relayedAccounts }, url) => relayedAccounts(url, nodeAccounts), nodeAccounts()),
    poolIndex: storedIndex,
    poolIndexKeeper: where(hasGeyser, keptIndex),
    ...serves
  },
  api: { ...follows, ...serves },
  live: { ...follows, ...serves },
  keeper: { ...follows, ...keeps }
} satisfies Record<Role, object>

const column = <A, E, R>(choose: (row: (typeof table)[Role]) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(Effect.map(role, (own) => choose(table[own])))

/** The layers of this process, by its `ROLE`. */
export const market = column((row) => row.market)
export const accounts = column((row) => row.accounts)
export const stores = column((row) => row.stores)
export const alerts = column((row) => row.alerts)
export const activity = column((row) => row.activity)
export const poolIndex = column((row) => row.poolIndex)
export const poolIndexKeeper = column((row) => row.poolIndexKeeper)
export const proofs = column((row) => row.proofs)
export const cleansUp = column((row) => row.cleansUp)
