/** Trades in ClickHouse under test: each once, in its table and in those that its views make, and reads while it is away. */
import { Effect, Schedule } from "effect"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { SIGNATURE_BYTES, unpackText } from "../../../src/market/history/tradeRows.ts"
import { ask as askEngine, type TestEngine } from "../../../test/support/clickhouse/engineProcess.ts"
import { ask, at, sourceState } from "../repair/answers.ts"
import { lineOf, type TradeLine } from "./blockHashes.ts"
import type { Scene } from "./scene.ts"

const ADDRESS_BYTES = 32
/** Times to look for what is being written, a second apart. */
const LOOKS = 60

interface StoredTrade {
  readonly slot: number
  readonly place: number
  readonly version: bigint
  readonly line: TradeLine
}

const bytesOf = (hex: unknown): Uint8Array => Buffer.from(String(hex), "hex")

const addressOf = (hex: unknown): string => unpackText(bytesOf(hex), ADDRESS_BYTES)

const tradeOf = ([slot, place, version, isBuy, amount, mint, wallet, pool, signature]: ReadonlyArray<unknown>) => {
  const [index, text] = [Number(place), String(pool)]
  const stored: StoredTrade = {
    slot: Number(slot),
    place: index,
    version: BigInt(String(version)),
    line: lineOf({
      slot: Number(slot),
      index,
      side: Number(isBuy) === 1 ? "buy" : "sell",
      amount: String(amount),
      mint: addressOf(mint) as TapeTrade["mint"],
      wallet: addressOf(wallet),
      pool: text === "" ? null : (addressOf(text) as TapeTrade["pool"]),
      signature: unpackText(bytesOf(signature), SIGNATURE_BYTES)
    })
  }
  return stored
}

/** The rows with the latest version of each place. A row that is there twice stays twice. */
export const latestLines = (rows: ReadonlyArray<StoredTrade>): ReadonlyArray<TradeLine> =>
  Array.from(Map.groupBy(rows, ({ place, slot }) => `${slot}.${place}`).values(), (of) => {
    const latest = of.reduce((most, { version }) => (version > most ? version : most), 0n)
    return of.filter(({ version }) => version === latest).map(({ line }) => line)
  }).flat()

/** The stored trades of the blocks between two slots, both included. */
export const readClickHouse = (engine: TestEngine, from: number, to: number) =>
  Effect.map(
    askEngine(
      engine,
      `SELECT slot, place, toString(version), toUInt8(is_buy), toString(amount), hex(mint), hex(wallet), hex(pool), hex(signature)
       FROM trades WHERE slot >= ${from} AND slot <= ${to} AND role != 'transfer'`
    ),
    (rows) => latestLines(rows.map(tradeOf))
  )

const SWAPS = "SELECT toUInt32(uniqExact((slot, place))) FROM trades WHERE role IN ('pool', 'both')"

/**
 * The trades that each view has counted, and those that it should have: candles count a trade that was inserted twice as two,
 * and lack one whose view was not reached.
 */
const readViews = Effect.fnUntraced(function* (engine: TestEngine) {
  const one = (query: string) => Effect.map(askEngine(engine, query), ([row]) => Number(row?.[0] ?? 0))
  const bars = yield* Effect.forEach(["minute_bars", "hour_bars", "day_bars"], (table) =>
    one(`SELECT toUInt32(sum(trades)) FROM ${table}`)
  )
  const net = "toUInt32(uniqExact((slot, place)))"
  return {
    swaps: yield* one(SWAPS),
    bars,
    netTrades: yield* one(`SELECT ${net} FROM trades WHERE role != 'pool'`),
    ofWallets: yield* one(`SELECT ${net} FROM wallet_trades`)
  }
})

/** Counts of the views of the engine. */
export type ViewCounts = Effect.Success<ReturnType<typeof readViews>>

/** True when every view has each of its trades once, and there are any. */
export const haveEach = ({ bars, netTrades, ofWallets, swaps }: ViewCounts): boolean =>
  swaps > 0 && bars.every((count) => count === swaps) && ofWallets === netTrades

/** The counts of the views once they are right, or as they are after a minute. */
export const viewsOf = (engine: TestEngine) =>
  Effect.repeat(readViews(engine), { until: haveEach, times: LOOKS, schedule: Schedule.spaced("1 second") })

/** Number of answers by status, and by the code and message of those that are no 200. */
type Statuses = Readonly<Record<string, number>>

/** The status of an answer, with the reason where it is refused: another refusal is another reason. */
export const reasonOf = ({ content, status }: { readonly status: number; readonly content: unknown }): string =>
  status === 200
    ? "200"
    : `${status} ${String(at(content, "error", "code"))}: ${String(at(content, "error", "message"))}`

const statusesOf = (scene: Scene, paths: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const [secret = ""] = scene.keys.free
    const answers = await Promise.all(
      scene.running.flatMap(({ baseUrl }) => paths.map((path) => ask({ baseUrl, secret }, { path })))
    )
    const counts: Record<string, number> = {}
    answers.map(reasonOf).forEach((reason) => (counts[reason] = (counts[reason] ?? 0) + 1))
    return counts
  })

/** Trades that memory no longer holds, so the store has to answer. */
const historyPaths = ({ active }: Scene): ReadonlyArray<string> =>
  active.mints.slice(0, 2).map((mint) => `/api/v1/tokens/solana/${mint}/trades?to=1`)

/** Answers of memory and of PostgreSQL. */
const livePaths = ({ active: { mints } }: Scene): ReadonlyArray<string> => [
  ...["lighthouse", "overview", "movement?rank=trades"].map((name) => `/api/v1/market/${name}`),
  `/api/v1/tokens/solana/${mints[0]}/stats`,
  "/api/v1/tracker/wallets",
  "/api/v1/alerts?limit=1"
]

/** The processes whose blocks wait on disk; those that do not answer count too. */
const spoolsOf = (scene: Scene) =>
  Effect.promise(async () => {
    const states = await Promise.all(scene.running.map(({ baseUrl }) => sourceState({ baseUrl, secret: "" }, "spool")))
    return states.filter((state) => at(state, "status") !== "known").length
  })

/** Reads of every process: of history and of what is live. */
export interface ReadStatuses {
  readonly history: Statuses
  readonly live: Statuses
  /** Processes whose blocks wait on disk. */
  readonly waiting: number
}

/** Asks every process for history and for what is live. */
export const readsOf = (scene: Scene): Effect.Effect<ReadStatuses> =>
  Effect.all({
    history: statusesOf(scene, historyPaths(scene)),
    live: statusesOf(scene, livePaths(scene)),
    waiting: spoolsOf(scene)
  })

const isOnly = (statuses: Statuses, status: string): boolean => Object.keys(statuses).join() === status

/** True when everything is answered and nothing waits. */
export const areWhole = ({ history, live, waiting }: ReadStatuses): boolean =>
  isOnly(history, "200") && isOnly(live, "200") && waiting === 0

/** The one reason for which history may be refused, at every process: its trades cannot be read. */
export const HISTORY_AWAY = "503 data_unavailable: The stored trades are unavailable right now."

/** True when all of history is refused for its reason, what is live is answered, and blocks wait on disk. */
export const areLiveAlone = ({ history, live, waiting }: ReadStatuses): boolean =>
  isOnly(history, HISTORY_AWAY) && isOnly(live, "200") && waiting > 0

/** The reads once they are answered and nothing waits, or as they are after a minute. */
export const wholeReads = (scene: Scene) =>
  Effect.repeat(readsOf(scene), { until: areWhole, times: LOOKS, schedule: Schedule.spaced("1 second") })
