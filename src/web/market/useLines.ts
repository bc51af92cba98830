/** Tokens of the market with their changes in every window. */
import { useState } from "preact/hooks"
import { useMarket } from "../data/useLive.ts"
import { type Read, useRead } from "../data/useRead.ts"
import { type Line, type Movement, type Rank, reaches, type Row } from "./ranking.ts"
import { EVERY_MS, LIVE_MS, OTHERS_MS, type Span, spans } from "./windows.ts"

/** Most rows that one read returns. */
const MOST = 100

/** Changes by mint in one window. */
type Changes = ReadonlyMap<string, Row["changePct"]>

const changesIn = (rows: ReadonlyArray<Row> | undefined): Changes =>
  new Map(rows?.map(({ changePct, token }) => [token.address, changePct]))

/** Changes of the most traded tokens in every window that is asked for. */
const useChanges = (wanted: (span: Span) => boolean): ((mint: string, span: Span) => Row["changePct"] | null) => {
  const read = (span: Span) =>
    useRead(
      "GET /api/v1/market/movement",
      wanted(span) ? { query: { window: span, rank: "volume", minLiquidityUsd: "0", limit: MOST } } : null,
      OTHERS_MS
    ).answer
  const known: Readonly<Record<Span, Changes>> = {
    "5m": changesIn(read("5m")?.data),
    "1h": changesIn(read("1h")?.data),
    "6h": changesIn(read("6h")?.data),
    "24h": changesIn(read("24h")?.data)
  }
  return (mint, span) => known[span].get(mint) ?? null
}

export interface Terms {
  readonly span: Span
  readonly rank: Rank
  readonly minLiquidityUsd: string
  readonly minVolumeUsd: string
  /** Keys of the columns that are shown. */
  readonly columns: ReadonlySet<string>
}

/** The ranked tokens, kept current by the socket. */
export const useLines = ({
  columns,
  minLiquidityUsd,
  minVolumeUsd,
  rank,
  span
}: Terms): { readonly read: Read<Movement>; readonly isLive: boolean; readonly lines: ReadonlyArray<Line> } => {
  const key = `${span} ${rank}`
  const [live, setLive] = useState<{ readonly key: string; readonly rows: ReadonlyArray<Row> } | null>(null)
  const isConnected = useMarket({ channel: "movers", window: span, rank }, (event) => {
    if (event.type === "movers" || (event.type === "snapshot" && event.channel === "movers")) {
      setLive({ key, rows: event.data.rows })
    }
  })
  const query = { window: span, rank, minLiquidityUsd, minVolumeUsd, limit: MOST }
  const read = useRead("GET /api/v1/market/movement", { query }, () => (isConnected ? LIVE_MS : EVERY_MS))
  const changeOf = useChanges((each) => each !== span && columns.has(each))
  const rows = isConnected && live?.key === key ? live.rows : null
  const shown = rows?.filter((row) => reaches(row, minLiquidityUsd, minVolumeUsd)) ?? read.answer?.data ?? []
  const lines = shown.map((row): Line => {
    const changes = spans.map(([each]) => [each, each === span ? row.changePct : changeOf(row.token.address, each)])
    return { ...row, changes: Object.fromEntries(changes) as Line["changes"] }
  })
  return { read, isLive: rows !== null, lines }
}

/** Changes of tokens in every window, for lists that are not ranked. */
export const useChangesOf = useChanges
