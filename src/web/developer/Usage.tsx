import { useState } from "preact/hooks"
import { useReading } from "../data/useRead.ts"
import { tidyDecimal } from "../parts/numbers.ts"
import { Empty, Shown } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
import { isolated } from "../parts/words.ts"
import type { ManagedKey } from "./keys.ts"
import { byDay, byOperation, bytesText, rangeOf, readUsage, type UsageRow, type UsageSum } from "./usage.ts"

const DAYS = 30
const EVERY_MS = 15_000
const WIDTH = 600
const HEIGHT = 90
const GAP = 4

const countText = (count: number): string => tidyDecimal(String(count))

/** Requests of each day as bars, errors in another colour. The tables below have the numbers. */
const Bars = ({ days }: { readonly days: ReturnType<typeof byDay> }) => {
  const most = Math.max(1, ...days.map(({ requests }) => requests))
  const step = WIDTH / days.length
  const label = `Requests per day, at most ${countText(most)}`
  return (
    <svg class="usage-bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
      {days.map(({ day, errors, requests }, place) => {
        const height = (HEIGHT * requests) / most
        const failed = (HEIGHT * errors) / most
        return (
          <g key={day}>
            <title>{`${day}: ${countText(requests)} requests, ${countText(errors)} errors`}</title>
            <rect class="slot" x={place * step} y={0} width={step - GAP} height={HEIGHT} />
            <rect class="asked" x={place * step} y={HEIGHT - height} width={step - GAP} height={height} />
            <rect class="refused" x={place * step} y={HEIGHT - failed} width={step - GAP} height={failed} />
          </g>
        )
      })}
    </svg>
  )
}

const numberColumns = [
  { name: "Requests", isNumber: true, cell: ({ requests }: UsageSum) => countText(requests) },
  { name: "Units", isNumber: true, cell: ({ units }: UsageSum) => countText(units) },
  { name: "Errors", isNumber: true, cell: ({ errors }: UsageSum) => countText(errors) },
  { name: "Sent", isNumber: true, cell: ({ bytes }: UsageSum) => bytesText(bytes) },
  {
    name: "Stream minutes",
    isNumber: true,
    cell: ({ streamMinutes }: UsageSum) => tidyDecimal(streamMinutes.toFixed(2))
  }
]

/** Operations that another operation's page describes. */
const described: Readonly<Record<string, string>> = { "tracker.realtime": "tracker.session" }

/** Value of the choice for the pages of the app, which have no key. */
const APP = "app"

const Report = ({ rows }: { readonly rows: ReadonlyArray<UsageRow> }) => {
  const days = byDay(rows, DAYS, Date.now())
  const used = days.filter(({ requests, units }) => requests > 0 || units > 0)
  if (rows.length === 0) {
    return <Empty>No requests in the last {DAYS} days. New requests are counted within seconds.</Empty>
  }
  return (
    <>
      <Bars days={days} />
      <div class="row spread soft">
        <span>{days[0]?.day}</span>
        <span>today (UTC)</span>
      </div>
      <div class="grid">
        <Table
          caption="By operation"
          keyOf={({ operation }) => operation}
          rows={byOperation(rows)}
          columns={[
            {
              name: "Operation",
              cell: ({ operation }) => (
                <a href={`/docs/${encodeURIComponent(described[operation] ?? operation)}`}>{operation}</a>
              )
            },
            ...numberColumns
          ]}
        />
        <Table
          caption="By day"
          keyOf={({ day }) => day}
          rows={used.toReversed()}
          columns={[{ name: "Day", cell: ({ day }) => day }, ...numberColumns]}
        />
      </div>
    </>
  )
}

/** Usage of the last days by day and by operation, for all keys or one. */
export const Usage = ({ keys }: { readonly keys: ReadonlyArray<ManagedKey> }) => {
  const read = useReading("usage", readUsage(DAYS), EVERY_MS)
  const [keyId, setKeyId] = useState("")
  const isShown = (row: UsageRow) => keyId === "" || (row.keyId ?? APP) === keyId
  return (
    <section class="stack" aria-labelledby="usage">
      <div class="row spread">
        <h2 id="usage">Usage of the last {DAYS} days</h2>
        <a
          href={`/api/v1/account/usage?${new URLSearchParams({ ...rangeOf(DAYS, Date.now()), format: "csv" })}`}
          download
        >
          As CSV
        </a>
      </div>
      <label class="narrow">
        Key
        <select value={keyId} onChange={({ currentTarget }) => setKeyId(currentTarget.value)}>
          <option value="">All keys and the app</option>
          <option value={APP}>The app</option>
          {keys.map(({ id, lastFour, name }) => (
            <option key={id} value={id}>
              {isolated(name)} (…{lastFour})
            </option>
          ))}
        </select>
      </label>
      <Shown read={read} what="the usage" rows={5}>
        {({ isWhole, rows }) => (
          <>
            {!isWhole && <p class="soft">Only the newest days are shown. The CSV has all of them.</p>}
            <Report rows={rows.filter(isShown)} />
          </>
        )}
      </Shown>
    </section>
  )
}
