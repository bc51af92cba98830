import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { type SpanStats, spanStats } from "./spanStats.ts"

const EVERY_MS = 30_000
/** A day and one hour: the bar before the longest window gives the price that it began with. */
const BARS = 300

const columns: ReadonlyArray<Column<SpanStats>> = [
  { name: "Window", cell: ({ name }) => name },
  {
    name: "Change",
    isNumber: true,
    cell: ({ changePct }) => (
      <Amount of={changePct} unit="percent" why="no price is known before the window" signed short />
    )
  },
  {
    name: "Volume",
    isNumber: true,
    cell: ({ volume }) => <Amount of={volume} unit="usd" why="the window is not wholly recorded" short />
  },
  {
    name: "Trades",
    isNumber: true,
    cell: ({ trades }) => <Amount of={trades} unit="plain" why="the window is not wholly recorded" />
  }
]

/** Change, volume and trades of trailing windows. */
export const Windows = ({ mint }: { readonly mint: string }) => {
  const read = useRead(
    "GET /api/v1/market/chart/:token",
    { path: { token: mint }, query: { resolution: "5m", limit: BARS } },
    EVERY_MS
  )
  return (
    <Panel title="Windows" read={read} everyMs={EVERY_MS} rows={4}>
      {({ data: { bars }, meta: { coverage, observedAtMs } }) => (
        <Table
          caption="Summed from candles of five minutes; the last one is still open."
          columns={columns}
          rows={spanStats(bars, observedAtMs ?? Date.now(), coverage.coveredFromMs)}
          keyOf={({ name }) => name}
        />
      )}
    </Panel>
  )
}
