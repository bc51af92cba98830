/** Positions of a wallet: what it holds, and the profit of each. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Choice } from "../parts/Choice.tsx"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, When } from "../parts/Links.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { type Sorting, sortedBy } from "../parts/sorting.ts"
import { usePaged } from "../parts/usePaged.tsx"
import { knownPart } from "./knownPart.ts"

export type PositionsAnswer = Answer<"GET /api/v1/wallets/:wallet/positions">
type Position = PositionsAnswer["data"]["positions"][number]

const UNKNOWN = "the cost of something bought or held is unknown"

const lots = [
  ["known", "bought at a known price"],
  ["inherited", "held before the first trade seen"],
  ["received", "received without a trade"],
  ["unpriced", "bought at an unknown price"]
] as const

/** Held units by their origin. */
const Lots = ({ of: { decimals, known, quantities } }: { readonly of: Position }) => {
  const held = lots.filter(([key]) => quantities[key] !== "0")
  return held.length === 0 ? null : (
    <details>
      <summary>Origin</summary>
      <ul class="plain-list soft">
        {held.map(([key, words]) => (
          <li key={key}>
            <Units amount={quantities[key]} decimals={decimals} /> {words}
            {key === "known" && known.avgCostUsd !== null && (
              <>
                , <Amount of={known.avgCostUsd} unit="usd" /> on average
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

const Holding = ({ position }: { readonly position: Position }) => (
  <>
    <Units amount={position.holding} decimals={position.decimals} />
    <Lots of={position} />
  </>
)

/** A strict figure; its known part in grey while it is not wholly known. */
const Pair = ({ known, strict }: { readonly strict: string | null; readonly known: string | null }) => {
  const part = knownPart(known)
  return strict === null && part !== null ? (
    <span class="known-part" title={`The known part; ${UNKNOWN}`}>
      <Amount of={part} unit="usd" signed short />
      <span class="hidden">, the known part</span>
    </span>
  ) : (
    <Amount of={strict} unit="usd" signed short why={UNKNOWN} />
  )
}

/** The figure that a column is sorted by: the strict one, or its known part. */
const figures: Readonly<Record<string, (position: Position) => string | null>> = {
  value: ({ valueUsd }) => valueUsd,
  total: ({ known, total }) => total ?? knownPart(known.total),
  realized: ({ known, realized }) => realized ?? knownPart(known.realized),
  unrealized: ({ known, unrealized }) => unrealized ?? knownPart(known.unrealized),
  return: ({ roiPct }) => roiPct,
  buys: ({ buys }) => String(buys),
  sells: ({ sells }) => String(sells),
  last: ({ lastAtMs }) => (lastAtMs === null ? null : String(lastAtMs))
}

const columns: ReadonlyArray<Column<Position>> = [
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  { name: "Holds", isNumber: true, cell: (position) => <Holding position={position} /> },
  {
    name: "Value",
    isNumber: true,
    sort: "value",
    cell: ({ valueUsd }) => <Amount of={valueUsd} unit="usd" why="a price or the balance is unknown" short />
  },
  {
    name: "Total",
    isNumber: true,
    sort: "total",
    cell: ({ known, total }) => <Pair strict={total} known={known.total} />
  },
  {
    name: "Realized",
    isNumber: true,
    sort: "realized",
    cell: ({ known, realized }) => <Pair strict={realized} known={known.realized} />
  },
  {
    name: "Unrealized",
    isNumber: true,
    sort: "unrealized",
    cell: ({ known, unrealized }) => <Pair strict={unrealized} known={known.unrealized} />
  },
  {
    name: "Return",
    isNumber: true,
    sort: "return",
    cell: ({ roiPct }) => <Amount of={roiPct} unit="percent" signed short why={UNKNOWN} />
  },
  { name: "Buys", isNumber: true, sort: "buys", cell: ({ buys }) => buys },
  { name: "Sells", isNumber: true, sort: "sells", cell: ({ sells }) => sells },
  { name: "Last trade", isNumber: true, sort: "last", cell: ({ lastAtMs }) => <When atMs={lastAtMs} /> }
]

const ROWS = 25

type Kind = "open" | "closed"

const List = ({ of: { data } }: { readonly of: PositionsAnswer }) => {
  const open = data.positions.filter((position) => position.open)
  const closed = data.positions.filter((position) => !position.open)
  const [kind, setKind] = useState<Kind>(open.length === 0 && closed.length > 0 ? "closed" : "open")
  const [sorting, setSorting] = useState<Sorting>({ key: "value", isDown: true })
  const rows = sortedBy(kind === "open" ? open : closed, figures[sorting.key] ?? (() => null), sorting.isDown)
  const { shown, turn } = usePaged(rows, ROWS, "Pages of positions")
  if (data.status === "unavailable") {
    return <Empty>No trade of this wallet is stored, so there are no positions to show.</Empty>
  }
  return (
    <>
      <Choice
        label="Positions"
        options={[
          ["open", `Open ${open.length}`],
          ["closed", `Closed ${closed.length}`]
        ]}
        value={kind}
        onChange={setKind}
      />
      <Table
        isDense
        caption="Grey: the known part of a figure. A dash: what the wallet paid, or the price now, is not known."
        columns={columns}
        rows={shown}
        keyOf={({ mint }) => mint}
        sorting={sorting}
        onSort={setSorting}
        empty={`No ${kind} positions.`}
      />
      {turn}
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
