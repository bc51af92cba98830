import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { spans } from "../market/windows.ts"
import { Figure } from "../parts/Figure.tsx"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"

export type StatsAnswer = Answer<"GET /api/v1/tokens/:chain/:address/stats">
type Stats = StatsAnswer["data"]
type Span = Stats["windows"][number]

/** Milliseconds between two reads of the windows. */
export const STATS_EVERY_MS = 15_000

const columns: ReadonlyArray<Column<Span>> = [
  { name: "Window", cell: ({ window }) => spans.find(([span]) => span === window)?.[1] ?? window },
  { name: "Change", isNumber: true, cell: ({ changePct }) => <Figure of={changePct} signed short /> },
  { name: "Volume", isNumber: true, cell: ({ volumeUsd }) => <Figure of={volumeUsd} short /> },
  { name: "Bought", isNumber: true, cell: ({ buyVolumeUsd }) => <Figure of={buyVolumeUsd} short /> },
  { name: "Sold", isNumber: true, cell: ({ sellVolumeUsd }) => <Figure of={sellVolumeUsd} short /> },
  { name: "Buys", isNumber: true, cell: ({ buys }) => <Figure of={buys} /> },
  { name: "Sells", isNumber: true, cell: ({ sells }) => <Figure of={sells} /> },
  { name: "Traders", isNumber: true, cell: ({ traders }) => <Figure of={traders} /> }
]

const Extreme = ({ of: { barMs, priceUsd } }: { readonly of: Stats["range"]["high"] }) => (
  <>
    <Figure of={priceUsd} />
    {barMs !== null && (
      <>
        , <When atMs={barMs} />
      </>
    )}
  </>
)

/** Activity of one token in trailing windows, with its highest and lowest recorded price. */
export const Windows = ({ read }: { readonly read: Read<StatsAnswer> }) => {
  return (
    <Panel title="Statistics" read={read} everyMs={STATS_EVERY_MS} rows={7}>
      {({ data: { range, windows } }) => (
        <>
          <Table
            caption="Trailing windows, the last bar still open"
            columns={columns}
            rows={windows}
            keyOf={({ window }) => window}
          />
          <p class="note">
            Highest recorded price <Extreme of={range.high} />; lowest <Extreme of={range.low} />.
          </p>
        </>
      )}
    </Panel>
  )
}
