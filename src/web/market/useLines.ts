/** Tokens of the market with their figures: ranked by the service, or chosen by ranges of any statistic. */
import { useRef, useState } from "preact/hooks"
import type { Answer, BodyOf } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useMarket } from "../data/useLive.ts"
import { type Read, useRead, useReading } from "../data/useRead.ts"
import type { ScalarJson } from "../parts/numbers.ts"
import type { Sorting } from "../parts/sorting.ts"
import { afterChange, type LiveScreen } from "./liveScreen.ts"
import { type Line, type Movement, rankOf, reaches, type Row, statisticOf } from "./ranking.ts"
import { EVERY_MS, LIVE_MS, OTHERS_MS, type Span, spans } from "./windows.ts"

/** Most rows that one read returns. */
const MOST = 100

type Screen = Answer<"POST /api/v1/tokens/screen">
type Body = BodyOf<"POST /api/v1/tokens/screen">
type Statistic = NonNullable<Body["show"]>[number]

/** Figures of tokens by mint and statistic. */
type Figures = (mint: string, statistic: string) => ScalarJson | null

/** Reads a screen again and again; nothing for null. */
const useScreen = (body: Body | null, every: number | (() => number)): Read<Screen> =>
  useReading(
    JSON.stringify(body),
    body === null ? null : (signal) => call("POST /api/v1/tokens/screen", { body, signal }),
    every
  )

/**
 * The rows of a screen that many visitors share. `live` are the rows while the socket keeps them current; otherwise the
 * screen is read every `everyMs`. A process follows few different screens, so none with a list of mints may come here:
 * every visitor has another one.
 */
const useLiveScreen = (body: Omit<Body, "mints"> | null, everyMs: number) => {
  const key = JSON.stringify(body)
  const [last, setLast] = useState<{ readonly key: string; readonly screen: LiveScreen } | null>(null)
  const isConnected = useMarket(body === null ? null : { channel: "screen", ...body }, (event) => {
    if (event.type === "snapshot" && event.channel === "screen") {
      setLast({ key, screen: event.data })
    } else if (event.type === "screen") {
      setLast((before) => (before === null ? null : { ...before, screen: afterChange(before.screen, event.data) }))
    }
  })
  const read = useScreen(body, () => (isConnected ? LIVE_MS : everyMs))
  return { read, live: isConnected && last?.key === key ? last.screen : null }
}

/** A list of at least these tokens, sorted. It stays the same while it has all of them, so that nothing is read again. */
const useHeldMints = (mints: ReadonlyArray<string>): ReadonlyArray<string> => {
  const held = useRef<ReadonlyArray<string>>([])
  if (!mints.every((mint) => held.current.includes(mint))) {
    held.current = mints.toSorted()
  }
  return held.current
}

/** The statistics of columns, each once, without those that are known already. */
const statisticsOf = (
  columns: ReadonlySet<string>,
  span: Span,
  isKnown: (key: string) => boolean
): ReadonlyArray<Statistic> => Array.from(columns).flatMap((key) => (isKnown(key) ? [] : [statisticOf(key, span)]))

/** Figures of these tokens in columns that their rows lack. A token that was not traded in a day has none. */
export const useFigures = (
  mints: ReadonlyArray<string>,
  columns: ReadonlySet<string>,
  span: Span,
  isKnown: (key: string) => boolean
): Figures => {
  const show = statisticsOf(columns, span, isKnown)
  const held = useHeldMints(mints.slice(0, MOST))
  const body: Body = { mints: held, show, limit: MOST }
  const { answer } = useScreen(mints.length === 0 || show.length === 0 ? null : body, OTHERS_MS)
  const last = useRef<Screen["data"]>([])
  // Another list of tokens is another read. Tokens that stay keep their figures until its answer.
  last.current = answer?.data ?? last.current
  const known = new Map(last.current.map(({ token, values }) => [token.address, values]))
  return (mint, statistic) => known.get(mint)?.[statistic] ?? null
}

export interface Terms {
  readonly span: Span
  readonly sorting: Sorting
  readonly minLiquidityUsd: string
  readonly minVolumeUsd: string
  /** Least number of holders, and most age in milliseconds; "0" for any. */
  readonly minHolders: string
  readonly maxAgeMs: string
  /** Keys of the columns that are shown. */
  readonly columns: ReadonlySet<string>
}

/** What the list of tokens says about itself. */
interface Known {
  readonly coverage: Movement["meta"]["coverage"]
  /** Tokens that are left out because a value that decides is unknown. */
  readonly leftOut: number
}

export interface Lines {
  readonly read: Read<Known>
  readonly isLive: boolean
  readonly lines: ReadonlyArray<Line>
}

const readAs = <A>(read: Read<A>, knownOf: (answer: A) => Known): Read<Known> => ({
  ...read,
  answer: read.answer === null ? null : knownOf(read.answer)
})

const ofRanked = ({ meta: { coverage, excluded } }: Movement): Known => ({ coverage, leftOut: excluded.unknownRank })
const ofScreen = ({ coverage, excluded }: Pick<LiveScreen, "coverage" | "excluded">): Known => ({
  coverage,
  leftOut: excluded.unknownFilter
})
const ofScreened = ({ meta }: Screen): Known => ofScreen(meta)

/** Columns that a ranked row has by itself. */
const isRanked = (key: string, span: Span): boolean =>
  key === span || ["price", "volume", "trades", "traders", "liquidity", "cap"].includes(key)

/** The ranked tokens, kept current by the socket. */
const useRanked = (terms: Terms | null, usual: Terms): Lines => {
  const { columns, minLiquidityUsd, minVolumeUsd, sorting, span } = terms ?? usual
  const rank = rankOf(sorting, span) ?? "volume"
  const key = `${span} ${rank}`
  const [live, setLive] = useState<{ readonly key: string; readonly rows: ReadonlyArray<Row> } | null>(null)
  const isConnected = useMarket(terms === null ? null : { channel: "movers", window: span, rank }, (event) => {
    if (event.type === "movers" || (event.type === "snapshot" && event.channel === "movers")) {
      setLive({ key, rows: event.data.rows })
    }
  })
  const query = { window: span, rank, minLiquidityUsd, minVolumeUsd, limit: MOST }
  const read = useRead("GET /api/v1/market/movement", terms === null ? null : { query }, () =>
    isConnected ? LIVE_MS : EVERY_MS
  )
  const rows = isConnected && live?.key === key ? live.rows : null
  const shown = rows?.filter((row) => reaches(row, minLiquidityUsd, minVolumeUsd)) ?? read.answer?.data ?? []
  const figures = useFigures(
    shown.map(({ token }) => token.address),
    columns,
    span,
    (column) => isRanked(column, span)
  )
  const figureOf = (mint: string, column: string) => figures(mint, statisticOf(column, span))
  const lines = shown.map((row): Line => {
    const changes = spans.map(([each]) => [each, each === span ? row.changePct : figureOf(row.token.address, each)])
    const more = Array.from(columns, (column) => [
      column,
      isRanked(column, span) ? null : figureOf(row.token.address, column)
    ])
    return { ...row, changes: Object.fromEntries(changes) as Line["changes"], more: Object.fromEntries(more) }
  })
  return { read: readAs(read, ofRanked), isLive: rows !== null, lines }
}

/** The ranges that the limits of the page stand for. Only tokens that were traded in the window are listed. */
const rangesOf = ({
  maxAgeMs,
  minHolders,
  minLiquidityUsd,
  minVolumeUsd,
  span
}: Terms): NonNullable<Body["ranges"]> => [
  { statistic: `trades.${span}`, min: "1" },
  ...(minLiquidityUsd === "0" ? [] : [{ statistic: "liquidityUsd" as const, min: minLiquidityUsd }]),
  ...(minVolumeUsd === "0" ? [] : [{ statistic: `volumeUsd.${span}` as const, min: minVolumeUsd }]),
  ...(minHolders === "0" ? [] : [{ statistic: "holders" as const, min: minHolders }]),
  ...(maxAgeMs === "0" ? [] : [{ statistic: "ageMs" as const, max: maxAgeMs }])
]

/** Tokens in ranges, in the order of any column: what no ranking of the service lists. The socket keeps them current. */
const useScreened = (terms: Terms | null, usual: Terms): Lines => {
  const { columns, sorting, span } = terms ?? usual
  const body: Omit<Body, "mints"> = {
    ranges: rangesOf(terms ?? usual),
    sort: { statistic: statisticOf(sorting.key, span), direction: sorting.isDown ? "desc" : "asc" },
    show: statisticsOf(columns, span, () => false),
    limit: MOST
  }
  const { live: screen, read } = useLiveScreen(terms === null ? null : body, EVERY_MS)
  const lines = (screen?.rows ?? read.answer?.data ?? []).map(({ token, values }): Line => {
    const valueOf = (column: string): ScalarJson | null => values[statisticOf(column, span)] ?? null
    const changes = spans.map(([each]) => [each, valueOf(each)])
    return {
      token,
      priceUsd: valueOf("price"),
      liquidityUsd: valueOf("liquidity"),
      marketCapUsd: valueOf("cap"),
      volumeUsd: valueOf("volume"),
      trades: valueOf("trades"),
      traders: valueOf("traders"),
      changes: Object.fromEntries(changes) as Line["changes"],
      more: Object.fromEntries(Array.from(columns, (column) => [column, valueOf(column)]))
    }
  })
  const known = readAs(read, ofScreened)
  const answer = screen === null ? known.answer : ofScreen(screen)
  return { read: { ...known, answer }, isLive: screen !== null, lines }
}

/** The tokens that these terms choose, in the order of the service. */
export const useLines = (terms: Terms): Lines => {
  const isRankable = rankOf(terms.sorting, terms.span) !== null && terms.minHolders === "0" && terms.maxAgeMs === "0"
  const ranked = useRanked(isRankable ? terms : null, terms)
  const screened = useScreened(isRankable ? null : terms, terms)
  return isRankable ? ranked : screened
}
