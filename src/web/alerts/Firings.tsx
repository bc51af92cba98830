/** Firings of alerts, the newest first. */
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { usePages } from "../data/usePages.ts"
import { TokenLink, WalletLink, When } from "../parts/Links.tsx"
import { More } from "../parts/More.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { conditionWords, valueWords } from "./words.ts"

type Firing = Answer<"GET /api/v1/alerts/events">["data"][number]

const READ_MS = 5000

const columns: ReadonlyArray<Column<Firing>> = [
  { name: "Fired", cell: ({ firedAtMs }) => <When atMs={firedAtMs} /> },
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  {
    name: "Condition",
    cell: ({ condition, trade }) => (
      <>
        {conditionWords(condition)}
        {trade !== null && (
          <div class="soft">
            {trade.side} of <WalletLink wallet={trade.wallet} />
            {trade.leftOut > 0 && `, ${trade.leftOut} trades before it left out`}
          </div>
        )}
      </>
    )
  },
  { name: "Value", isNumber: true, cell: ({ condition, value }) => valueWords(condition.metric, value) },
  { name: "Seen on chain", cell: ({ observedAtMs }) => <When atMs={observedAtMs} /> }
]

/** The firings of the last 30 days, read again every few seconds; the newest one is announced. */
export const Firings = () => {
  const pages = usePages(
    "firings",
    async (cursor, signal) => {
      const { data, nextCursor } = await call("GET /api/v1/alerts/events", {
        query: { cursor, limit: 50 },
        ...(signal === undefined ? {} : { signal })
      })
      return { items: data, nextCursor }
    },
    ({ eventId }) => eventId,
    READ_MS
  )
  const [newest] = pages.items
  return (
    <section class="card" aria-labelledby="firings">
      <h2 id="firings">Firings</h2>
      <p class="hidden" role="status">
        {newest === undefined ? "" : `Last firing: ${conditionWords(newest.condition)}`}
      </p>
      <Shown read={pages.read} what="firings">
        {() =>
          pages.items.length === 0 ? (
            <Empty>No alert has fired in the last 30 days.</Empty>
          ) : (
            <>
              <Table
                caption="Firings of the last 30 days, the newest first"
                columns={columns}
                rows={pages.items}
                keyOf={({ eventId }) => eventId}
              />
              <More of={pages} />
            </>
          )
        }
      </Shown>
    </section>
  )
}
