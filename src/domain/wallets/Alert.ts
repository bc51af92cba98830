import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"
import { Decimal } from "../Scalar.ts"

/** Most active or paused alerts of one account. */
export const MAX_LIVE_ALERTS = 100

/** Retention of events: 30 days in milliseconds. */
export const EVENT_LIFE_MS = 30 * 86_400_000

/** Longest lifetime of an alert: 90 days in milliseconds. */
export const MAX_EXPIRY_MS = 90 * 86_400_000

/** Seconds between two firings when a repeating alert does not say. */
export const DEFAULT_COOLDOWN_SECONDS = 300

/** An alert's id: `al_` and letters of the URL-safe alphabet, at most 64 characters in all. */
export const AlertId = Schema.String.check(Schema.isPattern(/^al_[\w-]{1,61}$/u, { expected: "an alert id" }))

/** True for a well-formed alert id. */
export const isAlertId = Schema.is(AlertId)

/** True for a well-formed event id. */
export const isEventId = (text: string): boolean => /^evt_[\w-]{1,60}$/u.test(text)

/** Metrics beside the price, which are looked at every few seconds. */
const activityMetrics = [
  "volume_usd",
  "liquidity_usd",
  "liquidity_drop_pct",
  "authority_changes",
  "top10_pct",
  "curve_progress_pct",
  "silent_seconds"
] as const
export type ActivityMetric = (typeof activityMetrics)[number]

/** Metrics of each trade of a wallet: what its other side was worth. */
const tradeMetrics = ["wallet_trade_usd", "wallet_trade_sol"] as const
export type TradeMetric = (typeof tradeMetrics)[number]

/** Watched metric: price of the last trade, market value at that price, change of the price over a window, activity, or each trade of a wallet. */
export const AlertMetric = Schema.Literals([
  "price_usd",
  "price_sol",
  "market_cap_usd",
  "change_pct",
  ...activityMetrics,
  ...tradeMetrics
]).annotate({
  description:
    "Value that is watched. `volume_usd`: dollars traded in the window. `liquidity_usd`: dollars in the pools. " +
    "`liquidity_drop_pct`: how far these are below their highest value that was seen in the window. " +
    "`authority_changes`: times that the mint or the freeze authority was set, changed or removed in the window. `top10_pct`: part held by the ten largest " +
    "owners that are no pool, curve or burn address. `curve_progress_pct`: way to the end of the curve, 100 after the graduation. " +
    "`silent_seconds`: seconds since the last trade that was seen, also while blocks are missing. `wallet_trade_usd`, `wallet_trade_sol`: " +
    "dollars, or SOL, that one trade of the tracked `wallet` was worth; it fires for each such trade."
})
export type AlertMetric = typeof AlertMetric.Type

const activity: ReadonlySet<string> = new Set(activityMetrics)

/** True for a metric beside the price. */
export const isActivity = (metric: AlertMetric): metric is ActivityMetric => activity.has(metric)

const ofWallet: ReadonlySet<string> = new Set(tradeMetrics)

/** True for a metric of each trade of a wallet, which has neither a level nor a way back from it. */
export const isOfWallet = (metric: AlertMetric): metric is TradeMetric => ofWallet.has(metric)

const ofPools: ReadonlySet<AlertMetric> = new Set([
  "liquidity_usd",
  "liquidity_drop_pct",
  "top10_pct",
  "curve_progress_pct"
])

/** True for a metric that the pools of the token have to be loaded for. */
export const isOfPools = (metric: AlertMetric): boolean => ofPools.has(metric)

/** True for a metric that is measured over a window. */
export const hasWindow = (metric: AlertMetric): boolean =>
  metric === "change_pct" ||
  metric === "volume_usd" ||
  metric === "liquidity_drop_pct" ||
  metric === "authority_changes"

/** Which way it has to move: levels are crossed, a change rises or falls by so much, a trade is worth at least so much. */
export const AlertOperator = Schema.Literals(["crosses_above", "crosses_below", "rises_by", "falls_by", "at_least"])
export type AlertOperator = typeof AlertOperator.Type

/** Seconds of the windows over which a change, a volume or a drop is measured. */
export const AlertWindowSeconds = Schema.Literals([300, 600, 3600, 21_600, 86_400])
export type AlertWindowSeconds = typeof AlertWindowSeconds.Type

/** The longest window of a drop of liquidity, in seconds. */
export const LONGEST_DROP_SECONDS = 3600

/** The windows of a metric that has one: the value of a token's liquidity is remembered for an hour, its trades by windows. */
export const windowsOf = (metric: AlertMetric): ReadonlyArray<AlertWindowSeconds> =>
  AlertWindowSeconds.literals.filter((seconds) =>
    metric === "liquidity_drop_pct" ? seconds <= LONGEST_DROP_SECONDS : seconds !== 600
  )

/** Threshold: above zero, at most 30 digits before the point and 30 after it. */
export const Threshold = Decimal.check(
  Schema.isMaxLength(61, { expected: "a decimal above 0 of at most 61 characters" }),
  Schema.isPattern(/^(?:[1-9][0-9]{0,29}|(?:0|[1-9][0-9]{0,29})\.[0-9]{1,30})$/u, {
    expected: "a decimal above 0 with at most 30 digits on either side of the point"
  })
)

/** Source of the watched price: every pool swap, or the median over the pools, which one swap in a thin pool does not move. */
export const AlertSource = Schema.Literals(["swap", "median"])
export type AlertSource = typeof AlertSource.Type

/** When an alert fires. */
export const AlertCondition = Schema.Struct({
  metric: AlertMetric,
  operator: AlertOperator,
  threshold: Threshold.annotate({ description: "Dollars, SOL, percent points, seconds, or changes. Above 0." }),
  windowSeconds: Schema.NullOr(AlertWindowSeconds).annotate({
    description:
      "Over which changes, a volume or a drop are measured; null for levels. 600 for a drop of liquidity alone, of which none is longer than 3600."
  }),
  source: AlertSource.annotate({
    description:
      "swap: every pool swap counts, or the median where no swap gives the metric. median: the depth-weighted median over " +
      "pools, as in /prices, looked at every few seconds."
  })
}).annotate({ identifier: "AlertCondition", description: "When an alert fires." })
export type AlertCondition = typeof AlertCondition.Type

/** Side of the trades of a wallet that are watched. */
export const AlertSide = Schema.Literals(["buy", "sell", "either"])
export type AlertSide = typeof AlertSide.Type

/** Most firings of one alert on the trades of a wallet in any hour. */
export const MOST_TRADE_FIRINGS = 60

/** The time in which there are at most so many, in milliseconds. */
export const TRADE_FIRINGS_MS = 3_600_000

/**
 * True when the operator fits the metric: `rises_by` and `falls_by` for changes, `at_least` for trades of a wallet, the others
 * for levels.
 */
export const fits = (metric: AlertMetric, operator: AlertOperator): boolean =>
  (metric === "change_pct") === (operator === "rises_by" || operator === "falls_by") &&
  isOfWallet(metric) === (operator === "at_least")

/** Once: the first firing is the last. */
export const AlertRecurrence = Schema.Literals(["once", "repeat"])
export type AlertRecurrence = typeof AlertRecurrence.Type

/** Triggered and expired are final. An active alert on a wallet that the account does not track any more is inactive. */
export const AlertStatus = Schema.Literals(["active", "paused", "inactive", "triggered", "expired"])
export type AlertStatus = typeof AlertStatus.Type

/** True when an alert of that status is not final. */
export const isLive = (status: AlertStatus): boolean => status !== "triggered" && status !== "expired"

/** Milliseconds since the Unix epoch, before the year 10000. */
export const TimeMs = Schema.Int.check(
  Schema.isBetween(
    { minimum: 0, maximum: 253_402_300_799_999 },
    { expected: "milliseconds since the Unix epoch, before the year 10000" }
  )
)

/** Seconds that a repeating alert stays silent after it fired. */
export const CooldownSeconds = Schema.Int.check(
  Schema.isBetween({ minimum: 60, maximum: 86_400 }, { expected: "a whole number from 60 to 86400" })
)

/** Note of an owner: 1 to 200 characters of any text that a database can hold. */
export const AlertNote = Schema.String.check(
  Schema.isMinLength(1, { expected: "1 to 200 characters" }),
  Schema.isMaxLength(200, { expected: "1 to 200 characters" }),
  Schema.makeFilter((text) => (text.isWellFormed() && !text.includes("\u0000")) || "must be well-formed text", {
    toJsonSchema: () => ({})
  })
)

/** Progress of an alert between two firings. */
export interface Watch {
  /** True when the next value past the threshold fires it. */
  readonly armed: boolean
  /** True once the value, since the last firing, was far enough on the other side to arm it again. */
  readonly cleared: boolean
  /** Chain position of the last trade that changed it; earlier trades are ignored. */
  readonly mark: number
}

/** Counts of an alert on the trades of a wallet. */
export const TradeTally = Schema.Struct({
  /** Chain position up to which trades are in the counts below. */
  countedTo: Schema.Int,
  /** Trades that did not fire because of the cooldown or the most firings of an hour. */
  leftOut: Schema.Int,
  /** The part of those that a firing has stated. */
  leftOutStated: Schema.Int,
  /** Trades whose value is unknown, which did not fire. */
  unvalued: Schema.Int
})
export type TradeTally = typeof TradeTally.Type

/** The counts of a new alert. */
export const NO_TRADES: TradeTally = { countedTo: 0, leftOut: 0, leftOutStated: 0, unvalued: 0 }

/** Fields of an alert that its owner sets. */
export const alertTerms = {
  /** Null for trades of a wallet in any token. */
  mint: Schema.NullOr(Address),
  /** The wallet whose trades are watched; null for other metrics. */
  wallet: Schema.NullOr(Address),
  /** Null without a wallet. */
  side: Schema.NullOr(AlertSide),
  condition: AlertCondition,
  recurrence: AlertRecurrence,
  /** Null unless it repeats. */
  cooldownSeconds: Schema.NullOr(CooldownSeconds),
  expiresAtMs: Schema.NullOr(TimeMs),
  note: Schema.NullOr(AlertNote)
}

/** An alert as it is kept. Times are milliseconds since the Unix epoch. */
export const Alert = Schema.Struct({
  ...alertTerms,
  id: AlertId,
  accountId: Schema.String,
  /** Status at the moment of the read: an alert past its expiry is expired. */
  status: AlertStatus,
  armed: Schema.Boolean,
  cleared: Schema.Boolean,
  mark: Schema.Int,
  tally: TradeTally,
  createdAtMs: TimeMs,
  updatedAtMs: TimeMs,
  lastTriggeredAtMs: Schema.NullOr(TimeMs),
  triggerCount: Schema.Int,
  /** Increases with every change: an update names the version it has read. */
  version: Schema.Int
})
export type Alert = typeof Alert.Type

/** An alert as it is created. */
export type NewAlert = Omit<
  Alert,
  "status" | "updatedAtMs" | "lastTriggeredAtMs" | "triggerCount" | "tally" | "version"
>

/** The status as of a moment. At the moment it expires it is expired. */
export const statusAt = (
  { expiresAtMs, status }: { readonly status: AlertStatus; readonly expiresAtMs: number | null },
  nowMs: number
): AlertStatus => (isLive(status) && expiresAtMs !== null && expiresAtMs <= nowMs ? "expired" : status)

/** The trade of a firing on the trades of a wallet. */
export const FiringTrade = Schema.Struct({
  signature: Schema.String,
  slot: Schema.Int,
  index: Schema.Int.annotate({ description: "Place among the trades of its slot." }),
  wallet: Address,
  side: Schema.Literals(["buy", "sell"]),
  amount: Schema.String.check(Schema.isPattern(/^(?:0|[1-9][0-9]*)$/u)).annotate({
    description: "Smallest units of the token that changed hands, as decimal digits."
  }),
  leftOut: Schema.Int.annotate({
    description:
      "Trades since the firing before that would have fired, had there not been the cooldown and the most firings of an hour."
  })
}).annotate({ identifier: "FiringTrade", description: "The trade of a wallet that fired." })
export type FiringTrade = typeof FiringTrade.Type

/** One firing. */
export const AlertEvent = Schema.Struct({
  eventId: Schema.String,
  alertId: AlertId,
  /** The token of the alert, or that of the trade. */
  mint: Address,
  /** As it was when it fired. */
  condition: AlertCondition,
  value: Decimal,
  /** When the chain had the value. */
  observedAtMs: TimeMs,
  firedAtMs: TimeMs,
  trade: Schema.NullOr(FiringTrade).annotate({ description: "The trade of the wallet; null for other metrics." })
})
export type AlertEvent = typeof AlertEvent.Type

/** Places where firings are shown. */
const Delivery = Schema.Array(Schema.Literal("app"))

/** Fields of a firing on the wire, in the list of events and in a frame alike. */
export const firingFields = { ...AlertEvent.fields, delivery: Delivery }

/** A firing on the wire. */
export type Firing = AlertEvent & { readonly delivery: typeof Delivery.Type }

/** The firing of an event. */
export const firingOf = (event: AlertEvent): Firing => ({ ...event, delivery: ["app"] })

/** A firing and the account of its alert. */
export interface AlertFired {
  readonly accountId: string
  readonly event: AlertEvent
}

/** One step of an alert that was seen at a version: it arms, is cleared, or fires. */
export interface AlertStep {
  readonly id: string
  /** Of the alert that was looked at. When it has moved since, nothing happens. */
  readonly version: number
  readonly watch: Watch
  /** Value at the firing; null when it does not fire. */
  readonly firing: { readonly value: Decimal; readonly observedAtMs: number } | null
}

/** A net trade of a wallet, as alerts see it. */
export interface WalletTrade {
  readonly signature: string
  readonly slot: number
  readonly index: number
  readonly mint: Mint
  readonly wallet: Address
  readonly side: "buy" | "sell"
  readonly amount: bigint
  /** Worth of its other side; null when unknown. */
  readonly usdNanos: bigint | null
  readonly lamports: bigint | null
  /** Block time, in milliseconds since the Unix epoch. */
  readonly observedAtMs: number
}

/** Trades of the wallet of an alert, in the order of the chain. */
export interface SeenTrades {
  readonly id: string
  readonly trades: ReadonlyArray<WalletTrade>
}

/** Changes of an alert. Fields left out stay. */
export type AlertChange = Partial<
  Pick<Alert, "condition" | "recurrence" | "cooldownSeconds" | "expiresAtMs" | "note" | "status" | keyof Watch>
>

/** Position in a list: the sort time, and the id as tie-break. */
export interface AlertPlace {
  readonly timeMs: number
  readonly id: string
}

/** Which alerts of an account are wanted, newest first. */
export interface AlertSelection {
  /** Null for every status. */
  readonly status: AlertStatus | null
  /** Null for every token. */
  readonly mint: Mint | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: AlertPlace | null
}

/** Which firings of an account are wanted, newest first. */
export interface EventSelection {
  /** Null for every alert. */
  readonly alertId: string | null
  /** Null for all that are kept. */
  readonly sinceMs: number | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: AlertPlace | null
}

/** One page, and the place to go on from; null at the end. */
export interface Slice<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: AlertPlace | null
}

/** The store did not answer in time, or failed. */
export class AlertStoreUnavailable extends Schema.TaggedError<AlertStoreUnavailable>()("AlertStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the alert store does not answer"
  }
}

/** The account does not track the wallet of the alert. */
export class WalletNotTracked extends Schema.TaggedError<WalletNotTracked>()("WalletNotTracked", {}) {}

/** The account holds `MAX_LIVE_ALERTS` already. */
export class TooManyAlerts extends Schema.TaggedError<TooManyAlerts>()("TooManyAlerts", {}) {}
