import { useEffect, useRef, useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { useRead } from "../data/useRead.ts"
import { Choice } from "../parts/Choice.tsx"
import { Amount, textOf } from "../parts/Amount.tsx"
import type { Alert } from "../parts/conditions.ts"
import { SelectField } from "../parts/Field.tsx"
import { states } from "../parts/Figure.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty, Failed } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { because, shortAddress, timeText } from "../parts/words.ts"
import { type Bar, type ChartChoice, continuous } from "./bars.ts"
import { type Drawing, draw, type Level, type Mark } from "./drawing.ts"
import type { Pool } from "./usePools.ts"
import { type Bars, useBars } from "./useBars.ts"

const resolutions: ReadonlyArray<readonly [ChartChoice["resolution"], string]> = [
  ["1s", "1 s"],
  ["15s", "15 s"],
  ["1m", "1 min"],
  ["5m", "5 min"],
  ["15m", "15 min"],
  ["1h", "1 h"],
  ["4h", "4 h"],
  ["1d", "1 d"]
]
const denoms = [
  ["usd", "USD"],
  ["sol", "SOL"]
] as const
const modes = [
  ["price", "Price"],
  ["mcap", "Market cap"]
] as const

const FILLS_MS = 30_000

/** Bars in the table below the drawing. */
const LISTED = 20

const columnsOf = (denom: ChartChoice["denom"]): ReadonlyArray<Column<Bar>> => [
  { name: "From", cell: ({ t }) => timeText(t) },
  { name: "Open", isNumber: true, cell: ({ o }) => <Amount of={o} unit={denom} /> },
  { name: "High", isNumber: true, cell: ({ h }) => <Amount of={h} unit={denom} /> },
  { name: "Low", isNumber: true, cell: ({ l }) => <Amount of={l} unit={denom} /> },
  { name: "Close", isNumber: true, cell: ({ c }) => <Amount of={c} unit={denom} /> },
  { name: "Volume", isNumber: true, cell: ({ v }) => <Amount of={v} unit={denom} short /> },
  { name: "Trades", isNumber: true, cell: ({ n }) => <Amount of={n} unit="plain" /> }
]

/** The drawing in words. */
const wordsOf = (bars: ReadonlyArray<Bar>, { denom, mode, resolution }: ChartChoice): string => {
  const last = bars.at(-1)
  if (last === undefined) {
    return "No bars."
  }
  const low = textOf(Math.min(...bars.map(({ l }) => l)))
  const high = textOf(Math.max(...bars.map(({ h }) => h)))
  const what = mode === "price" ? "price" : "market value"
  return `${bars.length} candles of ${resolution}: ${what} in ${denom.toUpperCase()} between ${low} and ${high}, now ${textOf(last.c)}.`
}

/** Coverage of the bars in words. */
const noteOf = ({ meta: { coverage, openBarMs, status } }: Bars): string => {
  const open = openBarMs === null ? "The last bar is closed." : "The last bar is still open."
  return `The bars are ${states[status]}${because(coverage)}. ${open} A grey line is a bar without a trade, at the close before it. Times are yours.`
}

/** The metric of alerts that are levels of a chart; null for a chart in SOL of market values. */
const metricOf = ({ denom, mode }: ChartChoice): Alert["condition"]["metric"] | null =>
  mode === "mcap" ? (denom === "usd" ? "market_cap_usd" : null) : denom === "usd" ? "price_usd" : "price_sol"

const levelsOf = (alerts: ReadonlyArray<Alert>, choice: ChartChoice): ReadonlyArray<Level> =>
  alerts.flatMap(({ condition: { metric, operator, threshold }, id }) =>
    metric === metricOf(choice)
      ? [{ id, value: Number(threshold), title: operator === "crosses_above" ? "alert above" : "alert below" }]
      : []
  )

/** Fills of the reader's own copies of trades of this token. */
const useFills = (mint: string): ReadonlyArray<Mark> => {
  const { answer } = useRead("GET /api/v1/copy/fills", { query: { mint, status: "filled", limit: 200 } }, FILLS_MS)
  return (answer?.data ?? [])
    .map(({ execution, leader, side }) => ({
      atMs: execution?.atMs ?? leader.atMs,
      side,
      text: side === "buy" ? "B" : "S"
    }))
    .toSorted((one, other) => one.atMs - other.atMs)
}

const Canvas = ({
  alerts,
  choice,
  fills,
  onMove,
  of: {
    bars,
    meta: {
      coverage: { coveredToMs },
      openBarMs
    },
    stepMs
  }
}: {
  readonly of: Bars
  readonly choice: ChartChoice
  readonly alerts: ReadonlyArray<Alert>
  readonly fills: ReadonlyArray<Mark>
  /** Called when a level was dragged. */
  readonly onMove: (alert: string, value: number) => void
}) => {
  const untilMs = openBarMs ?? coveredToMs ?? 0
  const element = useRef<HTMLDivElement>(null)
  const drawing = useRef<Drawing | null>(null)
  const shown = useRef("")
  useEffect(() => {
    if (element.current === null) {
      return undefined
    }
    const begun = draw(element.current)
    drawing.current = begun
    return () => begun.remove()
  }, [])
  const key = JSON.stringify(choice)
  useEffect(() => {
    drawing.current?.show(continuous(bars, stepMs, untilMs), shown.current !== key)
    shown.current = key
  }, [bars, key, stepMs, untilMs])
  useEffect(() => drawing.current?.levels(levelsOf(alerts, choice), onMove), [alerts, key])
  useEffect(() => drawing.current?.marks(fills), [fills])
  return <div class="chart" role="img" aria-label={wordsOf(bars, choice)} ref={element} />
}

/** Live candles of one token, over all its pools or in one pool. */
export const Candles = ({
  mint,
  alerts,
  onAlerts,
  onPool,
  pool,
  pools
}: {
  readonly mint: string
  /** Alerts of the token that can still fire. */
  readonly alerts: ReadonlyArray<Alert>
  /** Called after an alert was changed. */
  readonly onAlerts: () => void
  readonly pools: ReadonlyArray<Pool>
  /** Address of the chosen pool; empty for all pools. */
  readonly pool: string
  readonly onPool: (pool: string) => void
}) => {
  const [resolution, setResolution] = useState<ChartChoice["resolution"]>("1m")
  const [denom, setDenom] = useState<ChartChoice["denom"]>("usd")
  const [mode, setMode] = useState<ChartChoice["mode"]>("price")
  const choice = { mint, resolution, denom, mode, pool }
  const { everyMs, isLive, read } = useBars(choice)
  const fills = useFills(mint)
  const moving = useAction()
  const move = (id: string, value: number) =>
    moving.run(
      () => call("PATCH /api/v1/alerts/:id", { path: { id }, body: { condition: { threshold: textOf(value, 5) } } }),
      onAlerts
    )
  return (
    <Panel
      title="Chart"
      read={read}
      everyMs={everyMs}
      isLive={isLive}
      rows={12}
      controls={
        <div class="row controls chart-controls">
          <Choice label="Length of a bar" options={resolutions} value={resolution} onChange={setResolution} />
          <Choice label="Unit" options={denoms} value={denom} onChange={setDenom} />
          <Choice label="Price or market cap" options={modes} value={mode} onChange={setMode} />
          <SelectField
            label="Pool"
            name="pool"
            options={[
              ["", "All pools"],
              ...pools.map(({ dex, pool: address }) => [address, `${dex}, ${shortAddress(address)}`] as const)
            ]}
            value={pool}
            onChoose={onPool}
          />
        </div>
      }
    >
      {(answer) =>
        answer.bars.length === 0 ? (
          <Empty>No bars of this length are kept for this {pool === "" ? "token" : "pool"}.</Empty>
        ) : (
          <>
            <Canvas of={answer} choice={choice} alerts={alerts} fills={fills} onMove={move} />
            {moving.failure !== null && <Failed failure={moving.failure} />}
            <p class="note">{noteOf(answer)}</p>
            <details>
              <summary>The last bars as a table</summary>
              <Table
                caption={`The last ${Math.min(LISTED, answer.bars.length)} bars, newest first`}
                columns={columnsOf(denom)}
                rows={answer.bars.slice(-LISTED).toReversed()}
                keyOf={({ t }) => String(t)}
              />
            </details>
          </>
        )
      }
    </Panel>
  )
}
