/** Profit and loss of copying in a window. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { SelectField } from "../parts/Field.tsx"
import { TokenLink } from "../parts/Links.tsx"
import { Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { because } from "../parts/words.ts"

type Report = Answer<"GET /api/v1/copy/pnl">["data"]
type Pnl = Report["total"]
type Group = Report["groups"][number]

const READ_MS = 15_000

const windows = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["all", "All time"]
] as const

const groupings = [
  ["none", "Nothing"],
  ["follow", "Leader"],
  ["mint", "Token"]
] as const

const UNKNOWN = "a cost or a price is unknown"

const Usd = ({ of: amount, signed = false }: { readonly of: string | null; readonly signed?: boolean }) => (
  <Amount of={amount} unit="usd" signed={signed} short why={UNKNOWN} />
)

const totalFacts = (pnl: Pnl) =>
  [
    ["Total", <Usd of={pnl.total} signed />],
    ["Realized", <Usd of={pnl.realized} signed />],
    ["Unrealized", <Usd of={pnl.unrealized} signed />],
    ["Return", <Amount of={pnl.roiPct} unit="percent" signed short why={UNKNOWN} />],
    ["Spent on purchases", <Usd of={pnl.costUsd} />],
    ["Cost of tokens sold", <Usd of={pnl.soldCostUsd} />],
    ["Proceeds", <Usd of={pnl.proceedsUsd} />],
    ["Fees, included above", <Usd of={pnl.feesUsd} />],
    ["Fills", pnl.fills],
    ["Sales", `${pnl.wins} won, ${pnl.losses} lost`],
    ["Sales with unknown cost", pnl.unknownBasis],
    ["Open positions", pnl.openPositions]
  ] as const

const columnsOf = (grouping: string, names: ReadonlyMap<string, string>): ReadonlyArray<Column<Group>> => [
  {
    name: grouping === "mint" ? "Token" : "Leader",
    cell: ({ key, label }) =>
      grouping === "mint" ? <TokenLink mint={key} symbol={label} /> : <bdi>{label ?? names.get(key) ?? key}</bdi>
  },
  { name: "Total", isNumber: true, cell: ({ pnl }) => <Usd of={pnl.total} signed /> },
  { name: "Realized", isNumber: true, cell: ({ pnl }) => <Usd of={pnl.realized} signed /> },
  { name: "Unrealized", isNumber: true, cell: ({ pnl }) => <Usd of={pnl.unrealized} signed /> },
  { name: "Fills", isNumber: true, cell: ({ pnl }) => pnl.fills }
]

/** Profit and loss of the copies of one follow, or of all follows when `followId` is empty. */
export const Profit = ({
  followId,
  names
}: {
  readonly followId: string
  readonly names: ReadonlyMap<string, string>
}) => {
  const [window, setWindow] = useState<Report["window"]>("30d")
  const [groupBy, setGroupBy] = useState<"none" | "follow" | "mint">("none")
  const read = useRead("GET /api/v1/copy/pnl", { query: { window, groupBy, followId } }, READ_MS)
  return (
    <section class="card profit">
      <div class="head">
        <h1>Copy trading</h1>
        <div class="row">
          <SelectField label="Window" name="window" options={windows} value={window} onChoose={setWindow} />
          <SelectField label="Grouped by" name="groupBy" options={groupings} value={groupBy} onChoose={setGroupBy} />
        </div>
      </div>
      {followId !== "" && (
        <p>
          Only copies of <bdi>{names.get(followId) ?? followId}</bdi>, as chosen below.
        </p>
      )}
      <Shown read={read} what="profit and loss" rows={5}>
        {({ data: { groups, total } }) => (
          <div class="stack">
            {!total.coverage.complete && <p class="warn">These figures are incomplete{because(total.coverage)}.</p>}
            <Facts of={totalFacts(total)} />
            {groups.length > 0 && (
              <Table
                caption={groupBy === "mint" ? "Profit by token" : "Profit by leader"}
                columns={columnsOf(groupBy, names)}
                rows={groups}
                keyOf={({ key }) => key}
              />
            )}
          </div>
        )}
      </Shown>
    </section>
  )
}
