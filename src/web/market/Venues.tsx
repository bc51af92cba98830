import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ageWords, because } from "../parts/words.ts"
import { EVERY_MS, type Span } from "./windows.ts"

type Lighthouse = Answer<"GET /api/v1/market/lighthouse">
type Market = Lighthouse["data"]["markets"][number]

const kinds = { all: "", dex: "venue", launchpad: "launchpad" } as const

const WHY = "not counted in this window"

const columnsOf = (span: Span): ReadonlyArray<Column<Market>> => [
  {
    name: "Market",
    cell: ({ kind, label }) => (
      <>
        {label} <span class="soft">{kinds[kind]}</span>
      </>
    )
  },
  {
    name: "Volume",
    isNumber: true,
    cell: ({ stats }) => <Amount of={stats[span].volumeUsd.total} unit="usd" why={WHY} short />
  },
  {
    name: "Change",
    isNumber: true,
    cell: ({ stats }) => (
      <Amount
        of={stats[span].volumeUsd.changePct}
        unit="percent"
        why="the window before was not fully covered"
        signed
        short
      />
    )
  },
  {
    name: "Trades",
    isNumber: true,
    cell: ({ stats }) => <Amount of={stats[span].trades.total} unit="plain" why={WHY} />
  },
  {
    name: "Traders",
    isNumber: true,
    cell: ({
      stats: {
        [span]: { traders }
      }
    }) => (
      <>
        {traders.approximate && traders.total !== null && <span title="Approximate">≈ </span>}
        <Amount of={traders.total} unit="plain" why={WHY} />
      </>
    )
  },
  {
    name: "Launches",
    isNumber: true,
    cell: ({ stats }) => <Amount of={stats[span].tokensCreated.total} unit="plain" why={WHY} />
  },
  {
    name: "Graduations",
    isNumber: true,
    cell: ({ stats }) => <Amount of={stats[span].migrations.total} unit="plain" why={WHY} />
  }
]

/** Age and coverage of the totals in words. */
const captionOf = ({ observedAtMs, windowCoverage }: Lighthouse["meta"], span: Span): string => {
  const coverage = windowCoverage[span]
  const age = observedAtMs === null ? "" : `Observed ${ageWords(Date.now() - observedAtMs)} ago. `
  return `${age}${coverage.complete ? "The whole window is covered." : `The totals are incomplete${because(coverage)}.`}`
}

/** Totals of each venue and launchpad in one window. */
export const Venues = ({ span }: { readonly span: Span }) => {
  const read = useRead("GET /api/v1/market/lighthouse", {}, EVERY_MS)
  return (
    <Panel title="Venues and launchpads" read={read} everyMs={EVERY_MS} rows={8} isWide>
      {({ data: { markets }, meta }) => (
        <Table
          caption={captionOf(meta, span)}
          columns={columnsOf(span)}
          rows={markets}
          keyOf={({ key }) => key}
          empty="No venue has traded yet."
        />
      )}
    </Panel>
  )
}
