/** Past funding of the market at one venue. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { SelectField } from "../parts/Field.tsx"
import { When } from "../parts/Links.tsx"
import { Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { nameOf } from "./venues.ts"

type Funding = Answer<"GET /api/v1/perps/funding">
type Rate = Funding["data"][number]
type Venue = Funding["meta"]["venue"]

const READ_MS = 60_000
const ROWS = "24"
const PERCENT = 100

const columns: ReadonlyArray<Column<Rate>> = [
  { name: "Time", cell: ({ atMs }) => <When atMs={atMs} /> },
  { name: "Longs pay", isNumber: true, cell: ({ rate }) => <Amount of={Number(rate) * PERCENT} unit="percent" /> },
  { name: "Hours", isNumber: true, cell: ({ hours }) => <Amount of={hours} unit="plain" why="not known" /> },
  { name: "A year", isNumber: true, cell: ({ aprPct }) => <Amount of={aprPct} unit="percent" why="not known" /> }
]

const reasons = {
  no_market: "does not trade this symbol.",
  not_published: "publishes no past funding."
} as const

const Rates = ({ of: { data, meta, nextCursor } }: { readonly of: Funding }) =>
  meta.reason !== null ? (
    <p class="soft">
      {nameOf(meta.venue)} {reasons[meta.reason]}
    </p>
  ) : data.length === 0 ? (
    <p class="soft">
      {nextCursor === null && meta.coverage.complete
        ? "No funding in the last week."
        : `No funding of the last days is known from ${nameOf(meta.venue)}.`}
    </p>
  ) : (
    <>
      {meta.kind === "hourly" && (
        <p class="soft">Funding accrues all the time here: these are the rates at each full hour, not payments.</p>
      )}
      <Table
        caption="Funding rates, newest first. A negative rate is paid by shorts."
        columns={columns}
        rows={data}
        keyOf={({ atMs }) => String(atMs)}
      />
    </>
  )

/** The last rates of the symbol at a venue that the reader chooses. */
export const FundingHistory = ({
  first,
  symbol,
  venues
}: {
  readonly symbol: string
  readonly venues: ReadonlyArray<Venue>
  /** The venue that is shown before the reader chooses. */
  readonly first: Venue
}) => {
  const [chosen, setChosen] = useState<Venue | null>(null)
  const venue = chosen ?? first
  const read = useRead("GET /api/v1/perps/funding", { query: { venue, symbol, limit: ROWS } }, READ_MS)
  return (
    <section class="card" aria-labelledby="funding">
      <h2 id="funding">Past funding</h2>
      <SelectField
        label="Venue"
        name="venue"
        options={venues.map((key) => [key, nameOf(key)] as const)}
        value={venue}
        onChoose={setChosen}
      />
      <Shown read={read} what="past funding" rows={6}>
        {(answer) => <Rates of={answer} />}
      </Shown>
    </section>
  )
}
