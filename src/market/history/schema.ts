import { readViews, walletsWithCounterparty } from "./readViews.ts"

/** The tables of trades and candles in ClickHouse, as migrations. Append only: a released migration is never edited. */

/** How many inserts a table remembers by their tokens. */
const REMEMBERED = "non_replicated_deduplication_window = 1000"

const TRADE = `
  slot UInt32 CODEC(Delta, ZSTD(1)), place UInt32 CODEC(ZSTD(1)), at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  role Enum8('pool' = 0, 'wallet' = 1, 'both' = 2, 'transfer' = 3), signature String CODEC(NONE),
  wallet String CODEC(ZSTD(1)), mint String CODEC(ZSTD(1)), is_buy Bool, amount UInt64 CODEC(ZSTD(1)),
  decimals Nullable(UInt8), lamports Nullable(UInt64) CODEC(ZSTD(1)), price_usd Nullable(Float64) CODEC(ZSTD(1)),
  volume_usd_nanos Nullable(UInt64) CODEC(ZSTD(1)), pool String CODEC(ZSTD(1)), dex LowCardinality(Nullable(String)),
  launchpad LowCardinality(Nullable(String)), sol_usd_nanos Nullable(UInt64) CODEC(ZSTD(1)),
  fee_usd_nanos Nullable(UInt64) CODEC(ZSTD(1)), fee_unknown Bool, held_before Nullable(UInt64) CODEC(ZSTD(1)),
  held_after Nullable(UInt64) CODEC(ZSTD(1)), fee_lamports Nullable(UInt64) CODEC(ZSTD(1)),
  priority_lamports Nullable(UInt64) CODEC(ZSTD(1)), tip_lamports Nullable(UInt64) CODEC(ZSTD(1)),
  other_mint String CODEC(ZSTD(1)), other_amount UInt64 CODEC(ZSTD(1)), other_decimals Nullable(UInt8)`

/**
 * Trades by token. Their prices in SOL are computed before they are inserted, so that candles have the same digits as
 * memory.
 */
const TRADES = `
  CREATE TABLE trades (
    chain LowCardinality(String), ${TRADE},
    price_sol Nullable(Float64) CODEC(ZSTD(1)), worth Nullable(UInt64) CODEC(ZSTD(1)), version UInt64 CODEC(ZSTD(1))
  ) ENGINE = ReplacingMergeTree(version) PARTITION BY (chain, toMonday(at))
  ORDER BY (chain, mint, slot, place) SETTINGS ${REMEMBERED}`

/** Net trades and transfers by wallet. */
const WALLET_TRADES = `
  CREATE TABLE wallet_trades (chain LowCardinality(String), ${TRADE}, version UInt64 CODEC(ZSTD(1)))
  ENGINE = ReplacingMergeTree(version) PARTITION BY (chain, toMonday(at))
  ORDER BY (chain, wallet, slot, place) SETTINGS index_granularity = 1024, ${REMEMBERED}`

/** The columns, table and condition of the trades of wallets. */
export const ofWallets = "* EXCEPT (price_sol, worth) FROM trades WHERE role != 'pool'"

const WALLET_VIEW = `
  CREATE MATERIALIZED VIEW wallet_trades_view TO wallet_trades AS
  SELECT ${ofWallets}`

/** The other wallet of a transfer; no bytes stand for none. The view copies by name, the rebuild of `wallet_trades` by place. */
const COUNTERPARTIES = [
  ...["trades", "wallet_trades"].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS counterparty String CODEC(ZSTD(1)) AFTER other_decimals`
  ),
  `ALTER TABLE wallet_trades_view MODIFY QUERY SELECT ${ofWallets}`
]

const PRICES = ["usd", "sol"] as const

/** The columns of a candle without its key. `isCounted` adds the wallets. */
const barColumns = (isCounted: boolean): string =>
  [
    ...PRICES.flatMap((money) => [
      `open_${money} AggregateFunction(argMin, Nullable(Float64), UInt64)`,
      `high_${money} SimpleAggregateFunction(max, Nullable(Float64))`,
      `low_${money} SimpleAggregateFunction(min, Nullable(Float64))`,
      `close_${money} AggregateFunction(argMax, Nullable(Float64), UInt64)`,
      `volume_${money} SimpleAggregateFunction(sum, UInt128)`,
      `bought_${money} SimpleAggregateFunction(sum, UInt128)`
    ]),
    "trades SimpleAggregateFunction(sum, UInt64)",
    "buys SimpleAggregateFunction(sum, UInt64)",
    ...(isCounted ? ["traders AggregateFunction(uniqExact, String)"] : [])
  ].join(", ")

/** The order of trades on the chain, as one number. */
const KEY = "bitOr(bitShiftLeft(toUInt64(slot), 24), toUInt64(place))"

const PRICE_OF = { usd: "price_usd", sol: "price_sol" } as const
const VOLUME_OF = { usd: "volume_usd_nanos", sol: "worth" } as const

/** The columns of a candle, made of the trades of a group. */
export const barOfTrades = (isCounted: boolean): string =>
  [
    ...PRICES.flatMap((money) => {
      const volume = `toUInt128(ifNull(${VOLUME_OF[money]}, 0))`
      return [
        `argMinState(${PRICE_OF[money]}, ${KEY}) AS open_${money}`,
        `max(${PRICE_OF[money]}) AS high_${money}`,
        `min(${PRICE_OF[money]}) AS low_${money}`,
        `argMaxState(${PRICE_OF[money]}, ${KEY}) AS close_${money}`,
        `sum(${volume}) AS volume_${money}`,
        `sumIf(${volume}, is_buy) AS bought_${money}`
      ]
    }),
    "count() AS trades",
    "countIf(is_buy) AS buys",
    ...(isCounted ? ["uniqExactState(wallet) AS traders"] : [])
  ].join(", ")

/** The columns of a candle, made of the finer candles of a group. */
export const barOfBars: string = [
  ...PRICES.flatMap((money) => [
    `argMinMergeState(open_${money}) AS open_${money}`,
    `max(high_${money}) AS high_${money}`,
    `min(low_${money}) AS low_${money}`,
    `argMaxMergeState(close_${money}) AS close_${money}`,
    `sum(volume_${money}) AS volume_${money}`,
    `sum(bought_${money}) AS bought_${money}`
  ]),
  "sum(trades) AS trades",
  "sum(buys) AS buys"
].join(", ")

/** Names of the columns of a candle, without its key. */
export const barNames = (isCounted: boolean): string =>
  [
    ...PRICES.flatMap((money) =>
      ["open", "high", "low", "close", "volume", "bought"].map((name) => `${name}_${money}`)
    ),
    "trades",
    "buys",
    ...(isCounted ? ["traders"] : [])
  ].join(", ")

/** The condition of trades that candles are made of. */
export const IN_POOLS = "role IN ('pool', 'both')"

/** The tables of candles by width in seconds. Candles of a minute know their wallets. */
export const barTables = [
  { width: 60, name: "minute_bars", isCounted: true, partition: "toMonday(at)" },
  { width: 3600, name: "hour_bars", isCounted: false, partition: "toStartOfYear(at)" },
  { width: 86_400, name: "day_bars", isCounted: false, partition: "toStartOfYear(at)" }
] as const

/** The start of the bucket of a column `at`, for buckets of so many seconds. */
const startOf = (width: number): string => `toStartOfInterval(at, INTERVAL ${width} SECOND, 'UTC')`

/** Candles made of trades. Later versions of a trade are left out: the candles that they change are rebuilt. */
const barStatements = barTables.flatMap(({ isCounted, name, partition, width }) => [
  `CREATE TABLE ${name} (
    chain LowCardinality(String), mint String CODEC(ZSTD(1)), at DateTime('UTC') CODEC(Delta, ZSTD(1)),
    ${barColumns(isCounted)}
  ) ENGINE = AggregatingMergeTree PARTITION BY (chain, ${partition}) ORDER BY (chain, mint, at) SETTINGS ${REMEMBERED}`,
  `CREATE MATERIALIZED VIEW ${name}_view TO ${name} AS
  SELECT chain, mint, bucket AS at, ${barNames(isCounted)} FROM (
    SELECT chain, mint, ${startOf(width)} AS bucket, ${barOfTrades(isCounted)}
    FROM trades WHERE ${IN_POOLS} AND version = 0 GROUP BY chain, mint, bucket
  )`
])

/** Trades that closed candles have gained. */
const REVISIONS = `
  CREATE TABLE bar_revisions (
    chain LowCardinality(String), mint String, width UInt32, at DateTime('UTC'), revision UInt64
  ) ENGINE = SummingMergeTree ORDER BY (chain, mint, width, at) SETTINGS ${REMEMBERED}`

/**
 * Every change of the schema, in order. Each is a list of statements that may be run again, because an earlier attempt
 * may have carried out some of them.
 */
export const migrations: ReadonlyArray<{ readonly name: string; readonly statements: ReadonlyArray<string> }> = [
  { name: "0001_trades", statements: [TRADES, WALLET_TRADES, WALLET_VIEW, ...barStatements, REVISIONS] },
  { name: "0002_read_views", statements: readViews },
  { name: "0003_counterparties", statements: COUNTERPARTIES },
  { name: "0004_counterparty_in_views", statements: [walletsWithCounterparty] }
]
