/** Venues side by side. */
import { Amount } from "../parts/Amount.tsx"
import { When } from "../parts/Links.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { type Comparison, type Entry, fillPrice, nameOf, paidBps, partsOf, reasonWords } from "./venues.ts"

const PERCENT = 100

const Bar = ({ entry, longest }: { readonly entry: Entry; readonly longest: number }) => (
  <div class="bar" aria-hidden="true">
    {partsOf(entry).map(([name, bps], at) => (
      <span
        key={name}
        class={`part-${at}`}
        style={{ width: `${longest === 0 ? 0 : (Math.max(0, bps ?? 0) / longest) * PERCENT}%` }}
      />
    ))}
  </div>
)

const market = ({ coinsPerUnit, symbol, venueSymbol }: Entry): string | null =>
  venueSymbol === symbol && coinsPerUnit === 1 ? null : `${venueSymbol}, ${coinsPerUnit} coins a unit`

const Venue = ({ entry }: { readonly entry: Entry }) => {
  const listed = market(entry)
  return (
    <>
      {nameOf(entry.venue)}
      {listed !== null && <div class="soft">{listed}</div>}
    </>
  )
}

const columnsOf = (side: "buy" | "sell", longest: number): ReadonlyArray<Column<Entry>> => [
  { name: "Venue", cell: (entry) => <Venue entry={entry} /> },
  { name: "Cost", cell: (entry) => <Bar entry={entry} longest={longest} /> },
  { name: "Total", isNumber: true, cell: ({ allInBps }) => <Amount of={allInBps} unit="bps" /> },
  { name: "Fee", isNumber: true, cell: ({ takerBps }) => <Amount of={takerBps} unit="bps" /> },
  { name: "Impact", isNumber: true, cell: ({ impactBps }) => <Amount of={impactBps} unit="bps" /> },
  { name: "Funding", isNumber: true, cell: ({ fundingBps }) => <Amount of={fundingBps} unit="bps" /> },
  { name: "Funding a year", isNumber: true, cell: ({ fundingAprPct }) => <Amount of={fundingAprPct} unit="percent" /> },
  {
    name: side === "buy" ? "Best ask" : "Best bid",
    isNumber: true,
    cell: ({ ask, bid }) => <Amount of={side === "buy" ? ask : bid} unit="usd" />
  },
  { name: "Fill price, about", isNumber: true, cell: (entry) => <Amount of={fillPrice(entry, side)} unit="usd" /> },
  {
    name: "Fresh reads",
    isNumber: true,
    cell: ({ reliability }) => <Amount of={reliability === null ? null : reliability * PERCENT} unit="percent" />
  },
  { name: "Book seen", cell: ({ asOfMs }) => <When atMs={asOfMs} /> }
]

/** Venues that can fill the order, cheapest first. */
export const Venues = ({
  entries,
  side
}: {
  readonly entries: ReadonlyArray<Entry>
  readonly side: Comparison["query"]["side"]
}) => {
  const [first] = entries
  if (first === undefined) {
    return null
  }
  return (
    <section class="card" aria-labelledby="venues">
      <div class="head">
        <h2 id="venues">Venues</h2>
        <div class="row soft">
          {partsOf(first).map(([name], at) => (
            <span key={name}>
              <span class={`key part-${at}`} aria-hidden="true" />
              {name}
            </span>
          ))}
        </div>
      </div>
      <Table
        caption="Costs in basis points of the order, cheapest venue first. Negative funding is paid to you."
        columns={columnsOf(side, Math.max(...entries.map(paidBps)))}
        rows={entries}
        keyOf={({ venue }) => venue}
      />
    </section>
  )
}

const excludedColumns: ReadonlyArray<Column<Entry>> = [
  { name: "Venue", cell: (entry) => <Venue entry={entry} /> },
  { name: "Why", cell: ({ reason }) => reasonWords(reason) },
  { name: "Size filled", isNumber: true, cell: ({ filledPct }) => <Amount of={filledPct} unit="percent" /> },
  { name: "Book seen", cell: ({ asOfMs }) => <When atMs={asOfMs} /> }
]

/** Venues that cannot fill the order, with the reasons. */
export const Excluded = ({ entries }: { readonly entries: ReadonlyArray<Entry> }) =>
  entries.length === 0 ? null : (
    <section class="card" aria-labelledby="excluded">
      <h2 id="excluded">Left out</h2>
      <Table
        caption="Venues that cannot take the order"
        columns={excludedColumns}
        rows={entries}
        keyOf={({ venue }) => venue}
      />
    </section>
  )
