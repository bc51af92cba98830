/** Firings of alerts, newest first. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useTracker } from "../data/useLive.ts"
import { usePages } from "../data/usePages.ts"
import { TokenLink, WalletLink, When } from "../parts/Links.tsx"
import { PagedTable } from "../parts/More.tsx"
import type { Column } from "../parts/Table.tsx"
import { conditionWords, valueWords } from "../parts/conditions.ts"

type Firing = Answer<"GET /api/v1/alerts/events">["data"][number]

/** Milliseconds between two reads without and with the tracker's socket, which reports firings. */
const READ_MS = 5000
const LIVE_MS = 60_000

const columns: ReadonlyArray<Column<Firing>> = [
  { name: "Fired", cell: ({ firedAtMs }) => <When atMs={firedAtMs} /> },
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  {
    name: "Condition",
    isWords: true,
    cell: ({ condition, trade }) => (
      <>
        {conditionWords(condition)}
        {trade !== null && (
          <div class="soft">
            {trade.side} of <WalletLink wallet={trade.wallet} />
            {trade.leftOut > 0 && `, ${trade.leftOut} earlier trades did not fire`}
          </div>
        )}
      </>
    )
  },
  { name: "Value", isNumber: true, cell: ({ condition, value }) => valueWords(condition.metric, value) },
  { name: "Seen on chain", cell: ({ observedAtMs }) => <When atMs={observedAtMs} /> }
]

/** The firings of the last 30 days, read when one is reported. Screen readers announce the newest. */
export const Firings = () => {
  const [isLive, setLive] = useState(false)
  const pages = usePages(
    "firings",
    (cursor, signal) => call("GET /api/v1/alerts/events", { query: { cursor, limit: 50 }, signal }),
    ({ eventId }) => eventId,
    () => (isLive ? LIVE_MS : READ_MS)
  )
  useTracker(null, (event) => {
    if (event.type === "state") {
      setLive(event.state === "live")
    } else if (event.type === "alert_fired") {
      pages.read.again()
    }
  })
  const [newest] = pages.items
  return (
    <section class="card" aria-labelledby="firings">
      <h2 id="firings">Firings</h2>
      <p class="hidden" role="status">
        {newest === undefined ? "" : `Last firing: ${conditionWords(newest.condition)}`}
      </p>
      <PagedTable
        pages={pages}
        what="firings"
        height={3}
        caption="Firings of the last 30 days, newest first"
        columns={columns}
        keyOf={({ eventId }) => eventId}
        empty="No alert has fired in the last 30 days."
      />
    </section>
  )
}
