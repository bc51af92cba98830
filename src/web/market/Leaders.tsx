/** Wallets by what is known of their trading over all tokens. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Choice } from "../parts/Choice.tsx"
import { WalletLink, When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { because } from "../parts/words.ts"

type Leaders = Answer<"GET /api/v1/wallets/leaders">
type Leader = Leaders["data"][number]
type Sort = Leaders["meta"]["sort"]
type Window = Leaders["meta"]["window"]

const EVERY_MS = 30_000
const ROWS = 50

const windows: ReadonlyArray<readonly [Window, string]> = [
  ["1h", "1 h"],
  ["24h", "24 h"],
  ["all", "All recorded"]
]

const sorts: ReadonlyArray<readonly [Sort, string]> = [
  ["realized", "Profit"],
  ["volume", "Volume"],
  ["trades", "Trades"]
]

const columns: ReadonlyArray<Column<Leader>> = [
  {
    name: "Wallet",
    cell: ({ rank, wallet }) => (
      <>
        <span class="soft">{rank}</span> <WalletLink wallet={wallet} />
      </>
    )
  },
  {
    name: "Known profit",
    isNumber: true,
    cell: ({ realized: { knownUsd } }) => (
      <Amount of={knownUsd} unit="usd" why="no token has only sales of known cost" signed short />
    )
  },
  {
    name: "Won",
    isNumber: true,
    cell: ({ realized: { knownTokens, wins } }) => (
      <>
        {wins} <span class="soft">of {knownTokens}</span>
      </>
    )
  },
  {
    name: "Known share",
    isNumber: true,
    cell: ({ realized: { knownSharePct } }) => (
      <Amount of={knownSharePct} unit="percent" why="nothing was sold, or a price is unknown" short />
    )
  },
  {
    name: "Volume",
    isNumber: true,
    cell: ({ knownVolumeUsd }) => <Amount of={knownVolumeUsd} unit="usd" why="unknown" short />
  },
  {
    name: "Trades",
    isNumber: true,
    cell: ({ tokens, trades }) => (
      <>
        {trades} <span class="soft">in {tokens}</span>
      </>
    )
  },
  { name: "Last trade", isNumber: true, cell: ({ lastTradeAtMs }) => <When atMs={lastTradeAtMs} /> }
]

const captionOf = ({ coverage, excluded, minKnownPct, ranked, sort, wallets }: Leaders["meta"]): string => {
  const left = excluded.nothingKnown + excluded.belowMinimum
  const asked = sort === "realized" ? ` whose profit is known for ${minKnownPct} % of their sales` : ""
  const missing = coverage.complete ? "" : ` The window is incomplete${because(coverage)}.`
  return `${ranked} of ${wallets} wallets in memory${asked}; ${left} are left out. Transfers are not counted.${missing}`
}

/** The wallets that lead a window. */
export const Leaders = () => {
  const [window, setWindow] = useState<Window>("24h")
  const [sort, setSort] = useState<Sort>("realized")
  const read = useRead("GET /api/v1/wallets/leaders", { query: { window, sort, limit: ROWS } }, EVERY_MS)
  return (
    <Panel
      title="Leading wallets"
      read={read}
      everyMs={EVERY_MS}
      rows={12}
      isWide
      controls={
        <div class="row">
          <Choice label="Order of wallets" options={sorts} value={sort} onChange={setSort} />
          <Choice label="Window of wallets" options={windows} value={window} onChange={setWindow} />
        </div>
      }
    >
      {({ data, meta }) => (
        <Table
          caption={captionOf(meta)}
          columns={columns}
          rows={data}
          keyOf={({ wallet }) => wallet}
          empty="No wallet of this window is known well enough."
        />
      )}
    </Panel>
  )
}
