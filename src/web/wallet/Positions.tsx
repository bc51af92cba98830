/** Positions of a wallet: what it holds, and the profit of each. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, When } from "../parts/Links.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { Tabs } from "../parts/Tabs.tsx"

export type PositionsAnswer = Answer<"GET /api/v1/wallets/:wallet/positions">
type Position = PositionsAnswer["data"]["positions"][number]

const UNKNOWN = "the cost of something bought or held is unknown"

const origins = [
  ["inherited", "held before the first trade seen"],
  ["received", "received without a trade"],
  ["unpriced", "bought at an unknown price"]
] as const

/** How units with an unknown cost reached the wallet; empty when the cost of all units is known. */
const originWords = ({ quantities }: Position): ReadonlyArray<string> =>
  origins.flatMap(([key, words]) => (quantities[key] === "0" ? [] : [words]))

const Holding = ({ position }: { readonly position: Position }) => {
  const words = originWords(position)
  return (
    <>
      <Units amount={position.holding} decimals={position.decimals} />
      {words.length > 0 && <div class="soft">partly {words.join(", ")}</div>}
    </>
  )
}

/** A strict figure. When it is unknown, the known part of it stands below. */
const Pair = ({ known, strict }: { readonly strict: string | null; readonly known: string | null }) => (
  <>
    <Amount of={strict} unit="usd" signed why={UNKNOWN} />
    {strict === null && known !== null && (
      <div class="soft">
        known: <Amount of={known} unit="usd" signed />
      </div>
    )}
  </>
)

const columns: ReadonlyArray<Column<Position>> = [
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  { name: "Holds", isNumber: true, cell: (position) => <Holding position={position} /> },
  {
    name: "Value",
    isNumber: true,
    cell: ({ valueUsd }) => <Amount of={valueUsd} unit="usd" why="a price or the balance is unknown" />
  },
  { name: "Total", isNumber: true, cell: ({ known, total }) => <Pair strict={total} known={known.total} /> },
  {
    name: "Realized",
    isNumber: true,
    cell: ({ known, realized }) => <Pair strict={realized} known={known.realized} />
  },
  {
    name: "Unrealized",
    isNumber: true,
    cell: ({ known, unrealized }) => <Pair strict={unrealized} known={known.unrealized} />
  },
  { name: "Return", isNumber: true, cell: ({ roiPct }) => <Amount of={roiPct} unit="percent" signed why={UNKNOWN} /> },
  { name: "Buys", isNumber: true, cell: ({ buys }) => buys },
  { name: "Sells", isNumber: true, cell: ({ sells }) => sells },
  { name: "Last trade", cell: ({ lastAtMs }) => <When atMs={lastAtMs} /> }
]

const List = ({ of: { data } }: { readonly of: PositionsAnswer }) => {
  const open = data.positions.filter((position) => position.open)
  const closed = data.positions.filter((position) => !position.open)
  const [kind, setKind] = useState<"open" | "closed">(open.length === 0 && closed.length > 0 ? "closed" : "open")
  const rows = kind === "open" ? open : closed
  if (data.status === "unavailable") {
    return <Empty>No trade of this wallet is stored, so there are no positions to show.</Empty>
  }
  return (
    <>
      <Tabs
        label="Positions"
        tabs={[
          ["open", `Open, ${open.length}`],
          ["closed", `Closed, ${closed.length}`]
        ]}
        chosen={kind}
        onChoose={setKind}
      >
        <Table
          caption="Traded tokens, last traded first"
          columns={columns}
          rows={rows}
          keyOf={({ mint }) => mint}
          empty={`No ${kind} positions.`}
        />
      </Tabs>
      {data.truncated && <p class="soft">Older positions are left out.</p>}
    </>
  )
}

/** Open and closed positions. */
export const Positions = ({ read }: { readonly read: Read<PositionsAnswer> }) => (
  <section class="card" aria-labelledby="positions">
    <h2 id="positions">Positions</h2>
    <Shown read={read} what="its positions" rows={6}>
      {(answer) => <List of={answer} />}
    </Shown>
  </section>
)
