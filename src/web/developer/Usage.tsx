import { useState } from "preact/hooks"
import { useReading } from "../data/useRead.ts"
import { tidyDecimal } from "../parts/numbers.ts"
import { Empty, Shown } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
import type { ManagedKey } from "./keys.ts"
import { byDay, byOperation, bytesText, readUsage, type UsageRow } from "./usage.ts"

const DAYS = 30
const EVERY_MS = 15_000
const WIDTH = 600
const HEIGHT = 90
const GAP = 4

const countText = (count: number): string => tidyDecimal(String(count))

/** Requests of each day as bars; errors are the part of another colour. The table beside it has the numbers. */
const Bars = ({ days }: { readonly days: ReturnType<typeof byDay> }) => {
  const most = Math.max(1, ...days.map(({ requests }) => requests))
  const step = WIDTH / days.length
  const label = `Requests a day, at most ${countText(most)}`
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
  { name: "Requests", isNumber: true, cell: ({ requests }: UsageSumRow) => countText(requests) },
  { name: "Units", isNumber: true, cell: ({ units }: UsageSumRow) => countText(units) },
  { name: "Errors", isNumber: true, cell: ({ errors }: UsageSumRow) => countText(errors) },
  { name: "Sent", isNumber: true, cell: ({ bytes }: UsageSumRow) => bytesText(bytes) },
  {
    name: "Stream minutes",
    isNumber: true,
    cell: ({ streamSeconds }: UsageSumRow) => countText(Math.ceil(streamSeconds / 60))
  }
]

type UsageSumRow = Omit<UsageRow, "day" | "keyId" | "operation">

const Report = ({ rows }: { readonly rows: ReadonlyArray<UsageRow> }) => {
  const days = byDay(rows, DAYS, Date.now())
  const used = days.filter(({ requests, units }) => requests > 0 || units > 0)
  if (rows.length === 0) {
    return <Empty>Nothing was asked in the last {DAYS} days. New requests are counted within seconds.</Empty>
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
              cell: ({ operation }) => <a href={`/docs/${encodeURIComponent(operation)}`}>{operation}</a>
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

/** Usage of the last days by day and operation, of all keys or one. */
export const Usage = ({ keys }: { readonly keys: ReadonlyArray<ManagedKey> }) => {
  const read = useReading("usage", readUsage(DAYS), EVERY_MS)
  const [keyId, setKeyId] = useState("")
  return (
    <section class="stack" aria-labelledby="usage">
      <div class="row spread">
        <h2 id="usage">Usage of the last {DAYS} days</h2>
        <a href={`/api/v1/account/usage.csv?days=${DAYS}`} download="usage.csv">
          As CSV
        </a>
      </div>
      <label class="narrow">
        Key
        <select value={keyId} onChange={({ currentTarget }) => setKeyId(currentTarget.value)}>
          <option value="">All keys and the app</option>
          {keys.map(({ id, lastFour, name }) => (
            <option key={id} value={id}>
              {name} (…{lastFour})
            </option>
          ))}
        </select>
      </label>
      <Shown read={read} what="the usage" rows={5}>
        {(rows) => <Report rows={keyId === "" ? rows : rows.filter((row) => row.keyId === keyId)} />}
      </Shown>
    </section>
  )
}
