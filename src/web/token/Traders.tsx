import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Choice } from "../parts/Choice.tsx"
import { WalletLink, When } from "../parts/Links.tsx"
import { Amount } from "../parts/Amount.tsx"
import { states } from "../parts/Figure.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { reasonWords } from "../parts/words.ts"

type Traders = Answer<"GET /api/v1/tokens/:chain/:address/top-traders">
type Trader = Traders["data"][number]
type Span = Traders["meta"]["window"]

const EVERY_MS = 30_000
const ROWS = 10

const spans: ReadonlyArray<readonly [Span, string]> = [
  ["1h", "1 h"],
  ["24h", "24 h"],
  ["all", "All recorded"]
]

const columns: ReadonlyArray<Column<Trader>> = [
  { name: "Wallet", cell: ({ wallet }) => <WalletLink wallet={wallet} /> },
  {
    name: "Bought",
    isNumber: true,
    cell: ({ boughtUsd, buys }) => (
      <>
        <Amount of={boughtUsd} unit="usd" why="the value of a purchase is unknown" short />{" "}
        <span class="soft">in {buys}</span>
      </>
    )
  },
  {
    name: "Sold",
    isNumber: true,
    cell: ({ sells, soldUsd }) => (
      <>
        <Amount of={soldUsd} unit="usd" why="the value of a sale is unknown" short />{" "}
        <span class="soft">in {sells}</span>
      </>
    )
  },
  {
    name: "Realized profit",
    isNumber: true,
    cell: ({ realizedPnl: { reason, value } }) => (
      <Amount of={value.usd} unit="usd" why={reasonWords(reason)} signed short />
    )
  },
  { name: "Last trade", isNumber: true, cell: ({ lastTradeAtMs }) => <When atMs={lastTradeAtMs} /> }
]

const captionOf = ({ coverage, status }: Traders["meta"]): string =>
  `By observed volume (${states[status]}). Transfers are not counted.${coverage.historyComplete ? "" : " Some history is missing."}`

/** The wallets that trade one token most. */
export const TopTraders = ({ mint }: { readonly mint: string }) => {
  const [span, setSpan] = useState<Span>("24h")
  const read = useRead(
    "GET /api/v1/tokens/:chain/:address/top-traders",
    { path: { chain: "solana", address: mint }, query: { window: span, limit: ROWS } },
    EVERY_MS
  )
  return (
    <Panel
      title="Top traders"
      read={read}
      everyMs={EVERY_MS}
      rows={ROWS}
      controls={<Choice label="Window of traders" options={spans} value={span} onChange={setSpan} />}
    >
      {({ data, meta }) => (
        <Table
          caption={captionOf(meta)}
          columns={columns}
          rows={data}
          keyOf={({ wallet }) => wallet}
          empty="No wallet has traded this token in this window."
        />
      )}
    </Panel>
  )
}
