import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Figure, Units } from "../parts/Figure.tsx"
import { WalletLink } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ageWords, because } from "../parts/words.ts"

type Holders = Answer<"GET /api/v1/tokens/:chain/:address/holders">["data"]
type Holder = NonNullable<Holders["top"]>[number]

const EVERY_MS = 30_000
/** How often to read while the service still reads the accounts, which takes seconds. */
const SOON_MS = 5000
const ROWS = 20

const kinds = { owner: "Owner", pool: "Pool", curve: "Curve", burn: "Burnt" } as const

const columnsOf = (decimals: number | null): ReadonlyArray<Column<Holder>> => [
  { name: "Owner", cell: ({ owner }) => <WalletLink wallet={owner} /> },
  { name: "Kind", cell: ({ kind }) => kinds[kind] },
  { name: "Holds", isNumber: true, cell: ({ amount }) => <Units amount={amount} decimals={decimals} /> },
  {
    name: "Share",
    isNumber: true,
    cell: ({ sharePct }) => <Amount of={sharePct} unit="percent" why="too small to show" short />
  }
]

const everyOf = (answer: { readonly data: Holders } | null): number =>
  answer?.data.state === "backfill_running" ? SOON_MS : EVERY_MS

/** Why the owners are not known. */
const absence = ({ holders, retryAfterMs, state }: Holders): string => {
  if (state === "backfill_running") {
    const wait = retryAfterMs === null ? "" : `, for about ${ageWords(retryAfterMs)} more`
    return `The accounts of this token are being read${wait}.`
  }
  return `The owners are unknown${because(holders.coverage)}.`
}

/** The owners of a token. The service follows the holders of a token from the first read on. */
export const useHolders = (mint: string) =>
  useRead(
    "GET /api/v1/tokens/:chain/:address/holders",
    { path: { chain: "solana", address: mint }, query: { limit: ROWS } },
    everyOf
  )

/** How many owners there are, how much the largest hold, and the largest themselves. */
export const HoldersOf = ({ read }: { readonly read: ReturnType<typeof useHolders> }) => {
  return (
    <Panel title="Holders" read={read} everyMs={everyOf(read.answer)} rows={ROWS}>
      {({ data }) => (
        <>
          <Facts
            of={[
              ["Owners", <Figure of={data.holders} />],
              ["Ten largest hold", <Figure of={data.top10Pct} short />],
              ["Fifty largest hold", <Figure of={data.top50Pct} short />],
              ["Pools, curves, burnt", <Figure of={data.excludedPct} short />]
            ]}
          />
          {data.top === null ? (
            <Empty>{absence(data)}</Empty>
          ) : (
            <Table
              caption="The largest owners. The shares of the ten and the fifty largest leave out pools, curves and burn addresses."
              columns={columnsOf(data.token.decimals)}
              rows={data.top}
              keyOf={({ owner }) => owner}
              empty="No account holds this token."
            />
          )}
        </>
      )}
    </Panel>
  )
}
